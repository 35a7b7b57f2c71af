import { readCsvFile, strangeRows } from "../csv_rows.ts";
import { FileProblem } from "../file_problem.ts";
import { textOf } from "../fields.ts";
import { JOINED_BYTES_MAX } from "../importer_limits.ts";
import type { InputFile } from "../input_file.ts";
import type { Members } from "../json_rows.ts";
import type { ReadContext, SourceRow } from "../source.ts";
import { type PlainFile, plainFiles } from "../unpacked.ts";
import { dataValue } from "./map.ts";

type Properties = Map<string, Record<string, unknown>>;

/** Properties in memory are about this many times as large as in their file. */
const MEMORY_FACTOR = 3;

interface Table {
  readonly plain: PlainFile;
  readonly columns: readonly string[];
}

const isEvents = ({ columns }: Table) =>
  columns.includes("event_id") && columns.includes("event_type") && columns.includes("url_path");
const isProperties = ({ columns }: Table) =>
  columns.includes("data_key") &&
  (columns.includes("event_id") || columns.includes("website_event_id"));
const isSessionData = ({ columns }: Table) =>
  columns.includes("data_key") && columns.includes("session_id");
/** A table of the export that a website's page offers: names and how often they occurred. */
const isSums = ({ columns }: Table) => columns.includes("x") && columns.includes("y");

async function isEmpty(plain: PlainFile): Promise<boolean> {
  for await (const chunk of plain.bytes()) if (chunk.length > 0) return false;
  return true;
}

/**
 * Returns the tables of an export. Their headers identify them, not the names of files.
 *
 * @throws FileProblem if they are of the export of sums, in which a table without rows is an empty file
 */
async function tablesOf(files: readonly InputFile[], read: ReadContext["read"]): Promise<Table[]> {
  const tables: Table[] = [];
  let empty: string | null = null;
  for (const file of files) {
    for await (const plain of plainFiles(file, read)) {
      if (await isEmpty(plain)) {
        empty ??= plain.name;
        continue;
      }
      const { columns, rows } = await readCsvFile(plain);
      await rows[Symbol.asyncIterator]().return?.();
      tables.push({ plain, columns });
    }
  }
  const sums = tables.find(isSums);
  if (sums !== undefined) {
    throw new FileProblem(
      sums.plain.name,
      "it has sums, not events: it is of the export that a website's page in Umami offers. Name " +
        "Umami's PostgreSQL (`postgres://…`) instead, or take Umami Cloud's export of all data.",
      1,
    );
  }
  if (empty !== null) throw new FileProblem(empty, "it is empty.");
  return tables;
}

/** Returns the number of the share that an event belongs to. */
function shareOf(id: string, shares: number): number {
  let sum = 0;
  for (let at = 0; at < id.length; at++) sum = (sum * 31 + id.charCodeAt(at)) >>> 0;
  return sum % shares;
}

const idOf = (row: Members) => textOf(row.event_id) ?? textOf(row.website_event_id);

/** Returns into how many shares to divide the events, so that the properties of one share fit into memory. */
async function sharesOf(tables: readonly Table[]): Promise<number> {
  let bytes = 0;
  for (const { plain } of tables) {
    for await (const chunk of plain.bytes()) bytes += chunk.length;
  }
  return Math.max(1, Math.ceil(bytes * MEMORY_FACTOR / JOINED_BYTES_MAX));
}

/** Reads the properties of the events of one share. */
async function propertiesOf(
  tables: readonly Table[],
  share: number,
  shares: number,
): Promise<Properties> {
  const found: Properties = new Map();
  for (const { plain } of tables) {
    for await (const rows of (await readCsvFile(plain)).rows) {
      for (const row of rows) {
        if ("refused" in row) continue;
        const id = idOf(row.value);
        const key = textOf(row.value.data_key);
        if (id === null || key === null || shareOf(id, shares) !== share) continue;
        found.getOrInsertComputed(id, () => Object.create(null))[key] = dataValue(row.value);
      }
    }
  }
  return found;
}

function joined(row: SourceRow, properties: Properties): SourceRow {
  if ("refused" in row) return row;
  const data = properties.get(idOf(row.value) ?? "");
  return data === undefined ? row : { ...row, value: { ...row.value, data } };
}

/**
 * Yields the rows of `website_event.csv` with their properties from `event_data.csv`: files of one export, or a
 * zip of them. Properties are in no order: if they are many, the events are read several times, one share of
 * them each time, so that memory is bounded.
 */
export async function* rows(
  files: readonly InputFile[],
  { read, fileBegins }: ReadContext,
): AsyncGenerator<SourceRow[]> {
  const tables = await tablesOf(files, read);
  const strange = tables.find((table) =>
    !isEvents(table) && !isProperties(table) && !isSessionData(table)
  );
  // An unknown table is read as events, so that the error message says what it looks like.
  const events = tables.filter((table) => isEvents(table) || table === strange);
  if (events.length === 0) {
    throw new FileProblem(
      files[0]?.name ?? "Umami",
      "there is no table of events in it: choose the export's `website_event.csv`, or its zip.",
    );
  }
  const properties = tables.filter((table) => isProperties(table) && !isEvents(table));
  const shares = await sharesOf(properties);
  for (let share = 0; share < shares; share++) {
    const ofShare = await propertiesOf(properties, share, shares);
    for (const table of events) {
      const { plain } = table;
      fileBegins();
      const { rows } = await readCsvFile(plain);
      const checked = table === strange ? strangeRows(plain.name, rows, "Umami") : rows;
      for await (const batch of checked) {
        const own = shares === 1
          ? batch
          : batch.filter((row) =>
            "refused" in row ? share === 0 : shareOf(idOf(row.value) ?? "", shares) === share
          );
        yield own.map((row) => joined({ ...row, file: plain.name }, ofShare));
      }
    }
  }
}

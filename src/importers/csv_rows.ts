import { FileProblem } from "./file_problem.ts";
import { CSV_COLUMNS_MAX, ROW_BYTES_MAX } from "./importer_limits.ts";
import type { ByteSource } from "./input_file.ts";
import type { Row } from "./json_rows.ts";
import { UnfinishedRow, utf8Bytes } from "./text_lines.ts";
import type { PlainFile } from "./unpacked.ts";
import { counted, grouped } from "../number_words.ts";

/** One record: the line on which it begins, its text and cells, or why it cannot be read. */
type CsvRecord =
  | { readonly line: number; readonly text: string; readonly cells: readonly string[] }
  | Extract<Row, { refused: unknown }>;

const QUOTE = 0x22;
const COMMA = 0x2c;
const NEWLINE = 0x0a;

/** What separates cells in place of commas, and how it is called. */
const OTHER_SEPARATORS = [[";", "semicolons"], ["\t", "tabs"]] as const;

/** The state within a cell. A quote is special only at its beginning, and in a quoted cell. */
type CellState = "begin" | "plain" | "quoted" | "closed";

/** Splits one record into cells (RFC 4180); a quote inside of an unquoted cell is an ordinary character. */
function cellsOf(text: string): string[] {
  const cells: string[] = [];
  const ended = text.endsWith("\r") ? text.slice(0, -1) : text;
  for (let at = 0;;) {
    let cell = "";
    if (ended[at] === '"') {
      for (at++;;) {
        const close = ended.indexOf('"', at);
        if (close < 0) {
          cell += ended.slice(at);
          at = ended.length;
          break;
        }
        cell += ended.slice(at, close);
        at = close + 1;
        if (ended[at] !== '"') break;
        cell += '"';
        at++;
      }
    }
    const comma = ended.indexOf(",", at);
    cell += comma < 0 ? ended.slice(at) : ended.slice(at, comma);
    cells.push(cell);
    if (comma < 0) return cells;
    at = comma + 1;
  }
}

/** Splits a stream of bytes into records; line breaks in quoted cells belong to the cells. */
class Records {
  readonly #record: UnfinishedRow;
  #cellState: CellState = "begin";
  #line = 1;
  #beganAt = 1;

  constructor(bytesMax: number) {
    this.#record = new UnfinishedRow(bytesMax);
  }

  get beganAt(): number {
    return this.#beganAt;
  }

  get inQuotes(): boolean {
    return this.#cellState === "quoted";
  }

  get empty(): boolean {
    return this.#record.empty;
  }

  finish(): CsvRecord | null {
    const row = this.#record.finish(this.#beganAt);
    this.#beganAt = this.#line;
    if ("refused" in row) return row;
    return row.text.trim() === "" ? null : { ...row, cells: cellsOf(row.text) };
  }

  /** Returns the records that this chunk completes. */
  take(chunk: Uint8Array): CsvRecord[] {
    const records: CsvRecord[] = [];
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte !== NEWLINE) {
        this.#step(byte!);
        continue;
      }
      this.#line++;
      // A row that is too long is skipped up to the end of the line, even if that is in quotes.
      if (this.inQuotes && !this.#record.overflown) continue;
      this.#cellState = "begin";
      if (at === from && this.#record.empty) {
        from = at + 1;
        this.#beganAt = this.#line;
        continue;
      }
      this.#record.add(chunk.slice(from, at));
      from = at + 1;
      const record = this.finish();
      if (record !== null) records.push(record);
    }
    this.#record.add(chunk.slice(from));
    return records;
  }

  #step(byte: number): void {
    if (this.#cellState === "quoted") {
      if (byte === QUOTE) this.#cellState = "closed";
    } else if (byte === COMMA) this.#cellState = "begin";
    else if (byte !== QUOTE) this.#cellState = "plain";
    // Two quotes in a quoted cell are one character: the second one reopens the quoted part.
    else if (this.#cellState !== "plain") this.#cellState = "quoted";
  }
}

/** A table of CSV: the names of its columns, and its rows with a member for each column. */
interface CsvTable {
  readonly columns: readonly string[];
  readonly rows: AsyncIterable<Row[]>;
}

function rowOf(columns: readonly string[], record: CsvRecord): Row {
  if ("refused" in record) return record;
  const { line, cells } = record;
  if (cells.length !== columns.length) {
    const held = counted(cells.length, "cell");
    const message = `The row has ${held}, the header names ${grouped(columns.length)}.`;
    return { line, refused: { code: "invalid_row", message } };
  }
  // A column may have any name.
  const value = Object.create(null) as Record<string, string>;
  columns.forEach((column, i) => value[column] = cells[i]!);
  return { line, value };
}

async function* recordsOf(
  name: string,
  source: ByteSource,
  bytesMax: number,
): AsyncGenerator<CsvRecord[]> {
  const records = new Records(bytesMax);
  for await (const chunk of source) yield records.take(chunk);
  if (records.empty) return;
  if (records.inQuotes) {
    throw new FileProblem(
      name,
      "the quoted cell does not end: the file is cut off.",
      records.beganAt,
    );
  }
  const last = records.finish();
  if (last !== null) yield [last];
}

/**
 * Tells what separates the cells of a header instead of commas: what is more frequent outside quotes. Spreadsheets
 * save files so where the comma is for decimals.
 */
function otherSeparatorOf(header: string): string | null {
  const unquoted = header.replace(/"[^"]*"/g, "");
  const count = (separator: string) => unquoted.split(separator).length;
  const found = OTHER_SEPARATORS.find(([separator]) => count(separator) > count(","));
  return found?.[1] ?? null;
}

/**
 * Reads the header of a CSV file; the rows are read when they are iterated.
 *
 * @throws FileProblem if there is no header
 */
export async function readCsv(
  name: string,
  source: ByteSource,
  bytesMax: number,
): Promise<CsvTable> {
  const records = recordsOf(name, source, bytesMax);
  let first: CsvRecord[] = [];
  while (first.length === 0) {
    const { value, done } = await records.next();
    if (done) throw new FileProblem(name, "it is empty.");
    first = value;
  }
  const [header, ...others] = first;
  if (header === undefined || "refused" in header || header.cells.length > CSV_COLUMNS_MAX) {
    throw new FileProblem(name, "it does not begin with a header of columns.", 1);
  }
  const columns = header.cells.map((cell) => cell.trim());
  // Otherwise all rows would be part of the header, and an import of nothing would succeed.
  if (columns.some((column) => /\r(?!\n)/.test(column))) {
    throw new FileProblem(name, "its lines end with CR alone; save it with LF or CR LF.", 1);
  }
  const other = otherSeparatorOf(header.text);
  if (other !== null) {
    throw new FileProblem(name, `${other} separate its cells; save it with commas.`, 1);
  }
  async function* rows(): AsyncGenerator<Row[]> {
    yield others.map((record) => rowOf(columns, record));
    for await (const batch of records) yield batch.map((record) => rowOf(columns, record));
  }
  return { columns, rows: rows() };
}

/** Reads a plain file as `readCsv` does. */
export function readCsvFile(plain: PlainFile): Promise<CsvTable> {
  return readCsv(plain.name, utf8Bytes(plain.name, plain.bytes()), ROW_BYTES_MAX);
}

/**
 * Yields the rows of a file whose header is not the product's. If none of them can be read, so that no row
 * reveals whose file it is, throws FileProblem at the end.
 */
export async function* strangeRows(
  name: string,
  rows: AsyncIterable<Row[]>,
  title: string,
): AsyncGenerator<Row[]> {
  let anyRead = false;
  for await (const batch of rows) {
    anyRead ||= batch.some((row) => "value" in row);
    yield batch;
  }
  if (!anyRead) throw new FileProblem(name, `its header is none of ${title}'s.`, 1);
}

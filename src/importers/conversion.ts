import type { ImportedEvent } from "../event_file/exported_event.ts";
import { EventIds } from "./event_ids.ts";
import { FileProblem } from "./file_problem.ts";
import { ROWS_LOOKED_AT } from "./importer_limits.ts";
import type { InputFile } from "./input_file.ts";
import { CUT_OFF, LINE_CUT_OFF, NOT_JSON } from "./json_rows.ts";
import type { ImportSource, MapContext, SourceRow } from "./source.ts";
import { otherSource } from "./sources.ts";
import type { RowRefusal } from "./text_lines.ts";
import type { BytesRead } from "./unpacked.ts";

/** One result of converting a row. */
export interface Converted {
  readonly file: string;
  readonly line: number;
  readonly outcome:
    | { readonly event: ImportedEvent }
    | { readonly refused: RowRefusal; readonly row: unknown }
    | { readonly leftOut: string };
}

/** The input of a conversion. */
export interface Conversion {
  readonly source: ImportSource;
  /** Rows, from files or from a database. */
  readonly rows: AsyncIterable<SourceRow[]>;
  readonly context: MapContext;
}

/** Checks for each file that its rows are of the named product, and that it is not cut off. */
class Recognition {
  #file: string | null = null;
  #looked = 0;
  #known = false;
  /** The file's first row that is not JSON. */
  #noJson: Extract<SourceRow, { refused: unknown }> | null = null;
  #anyJson = false;

  constructor(readonly source: ImportSource) {}

  /** Throws FileProblem. */
  async look(row: SourceRow): Promise<void> {
    if (row.file !== this.#file) {
      this.endFile();
      this.#file = row.file;
      this.#looked = 0;
      this.#known = false;
      this.#noJson = null;
      this.#anyJson = false;
    }
    if ("refused" in row && row.refused.code === CUT_OFF) {
      throw new FileProblem(row.file, "it ends before its array does: it is cut off.", row.line);
    }
    if ("refused" in row && row.refused === LINE_CUT_OFF && this.#anyJson) {
      throw new FileProblem(row.file, "it ends within this row: it is cut off.", row.line);
    }
    if ("refused" in row && row.refused.code === NOT_JSON.code) this.#noJson ??= row;
    else this.#anyJson = true;
    if (this.#known) return;
    if ("value" in row) {
      this.#known = this.source.recognises(row.value);
      if (this.#known) return;
      const hint = row.value.result === "error" && typeof row.value.message === "string"
        ? `It is a reply with an error: ${row.value.message.slice(0, 200)}`
        : await otherSource(row.value);
      throw new FileProblem(
        row.file,
        `this row is none of ${this.source.title}'s. ${
          hint ?? `${this.source.title} takes ${this.source.takes}.`
        }`,
        row.line,
      );
    }
    if (++this.#looked === ROWS_LOOKED_AT) {
      throw this.#unreadable(row, `none of its first ${ROWS_LOOKED_AT} rows`);
    }
  }

  /** Throws FileProblem if the file had rows, and none of them was JSON. */
  endFile(): void {
    if (!this.#anyJson && this.#noJson !== null) {
      throw this.#unreadable(this.#noJson, "none of its rows");
    }
  }

  #unreadable(row: Extract<SourceRow, { refused: unknown }>, which: string): FileProblem {
    return new FileProblem(
      row.file,
      `${which} can be read (${row.refused.message}) ` +
        `${this.source.title} takes ${this.source.takes}.`,
    );
  }
}

function convert(source: ImportSource, row: SourceRow, context: MapContext): Converted[] {
  const { file, line } = row;
  if ("refused" in row) {
    return [{ file, line, outcome: { refused: row.refused, row: null } }];
  }
  return source.map(row.value, context).map((mapped): Converted => ({
    file,
    line,
    outcome: "refused" in mapped ? { ...mapped, row: row.value } : mapped,
  }));
}

/** Returns the context for one pass over a product's rows. */
export function mapContext(
  source: ImportSource,
  project: string,
  timeZone: string | null,
): MapContext {
  return { ids: new EventIds(source.name, project), timeZone };
}

/** Yields the rows of files. */
export function fileRows(
  source: ImportSource,
  files: readonly InputFile[],
  context: MapContext,
  read: BytesRead,
): AsyncGenerator<SourceRow[]> {
  return source.rows(files, { read, fileBegins: () => context.ids.newFile() });
}

/**
 * Converts all rows in their order, in batches.
 *
 * @throws FileProblem for a file that cannot be read, or is another product's
 */
export async function* converted(
  { source, rows, context }: Conversion,
): AsyncGenerator<Converted[]> {
  const recognition = new Recognition(source);
  for await (const batch of rows) {
    for (const row of batch) await recognition.look(row);
    yield batch.flatMap((row) => convert(source, row, context));
  }
  recognition.endFile();
}

import { type Converted, converted, fileRows, mapContext } from "../importers/conversion.ts";
import { type InputFile } from "../importers/input_file.ts";
import type { ImportSource } from "../importers/source.ts";
import type { UmamiDatabase } from "../importers/umami/database.ts";
import { IMPORT_LINE_BYTES_MAX } from "../ingest/import_limits.ts";
import type { ImportLine } from "./import_lines.ts";

/** The input of an import from another product: its files, or a website in its database. */
export interface SourceInput {
  readonly source: ImportSource;
  readonly files: readonly InputFile[];
  readonly database: { readonly open: UmamiDatabase; readonly website: string } | null;
  /** The time zone of times that are written as if they were UTC; null: they are UTC. */
  readonly timeZone: string | null;
}

/** A line to import, and the row that it was converted from. */
export interface SourceLine extends ImportLine {
  readonly made: Converted;
}

const UTF8 = new TextEncoder();

/** One pass over the input, and its progress. */
export interface SourcePass {
  /** Lines with an event, and refused lines. */
  readonly lines: AsyncIterable<SourceLine[]>;
  /** Returns how many bytes of the files have been read. */
  readonly bytesRead: () => number;
}

/** As the server refuses it. A larger event is not sent: one that exceeds a request would end the import. */
const TOO_LARGE = {
  code: "event_too_large",
  message: `One event holds at most ${IMPORT_LINE_BYTES_MAX} bytes.`,
};

function lineOf(made: Converted, number: number): SourceLine | null {
  const { outcome } = made;
  if ("leftOut" in outcome) return null;
  const at = { number, end: number };
  if ("refused" in outcome) {
    const bytes = UTF8.encode(outcome.row === null ? "" : JSON.stringify(outcome.row));
    return { made, ...at, bytes, refused: outcome.refused };
  }
  const { event } = outcome;
  const bytes = UTF8.encode(JSON.stringify(event));
  if (bytes.length <= IMPORT_LINE_BYTES_MAX) return { made, ...at, bytes };
  const refused = { ...made, outcome: { refused: TOO_LARGE, row: event } };
  return { made: refused, ...at, bytes, refused: TOO_LARGE };
}

/**
 * Reads the whole input once, from the beginning.
 *
 * @param leftOut called with each row that is not a visitor's event
 */
export function sourcePass(
  { source, files, database, timeZone }: SourceInput,
  project: string,
  leftOut: (made: Converted) => void,
): SourcePass {
  const context = mapContext(source, project, timeZone);
  let bytes = 0;
  const rows = database === null
    ? fileRows(source, files, context, (read) => void (bytes += read))
    : database.open.rows(database.website);
  async function* lines(): AsyncGenerator<SourceLine[]> {
    let number = 0;
    for await (const batch of converted({ source, rows, context })) {
      const made: SourceLine[] = [];
      for (const one of batch) {
        const line = lineOf(one, number + 1);
        if (line === null) leftOut(one);
        else {
          number++;
          made.push(line);
        }
      }
      yield made;
    }
  }
  return { lines: lines(), bytesRead: () => bytes };
}

import { newlinesIn } from "../event_file/event_lines.ts";
import { FileProblem } from "./file_problem.ts";
import { type ByteSource, joined } from "./input_file.ts";

/** A row of a file before it is parsed: its text, or why there is none. */
export type RowText =
  & {
    readonly line: number;
    /** Whether this is the last line and has no line end. */
    readonly isUnended?: true;
  }
  & ({ readonly text: string } | { readonly refused: RowRefusal });

/** Why a row cannot be taken. */
export interface RowRefusal {
  readonly code: string;
  readonly message: string;
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** Why a row that is not UTF-8 is refused. */
export const WRONG_ENCODING: RowRefusal = {
  code: "invalid_encoding",
  message: "The row is not UTF-8.",
};

function rowTooLong(bytesMax: number): RowRefusal {
  return { code: "row_too_long", message: `A row holds at most ${bytesMax} bytes.` };
}

/**
 * Yields bytes without a byte order mark.
 *
 * @throws FileProblem for UTF-16, and for a file that is not text
 */
export async function* utf8Bytes(name: string, source: ByteSource): ByteSource {
  let looked = false;
  for await (const chunk of source) {
    if (looked || chunk.length === 0) {
      yield chunk;
      continue;
    }
    looked = true;
    const [a, b] = chunk;
    if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) {
      throw new FileProblem(name, "it is UTF-16; save it as UTF-8.");
    }
    if (chunk.subarray(0, 512).includes(0)) {
      throw new FileProblem(name, "it is no text: it begins with bytes that no text has.");
    }
    const marked = BYTE_ORDER_MARK.every((byte, i) => chunk[i] === byte);
    yield marked ? chunk.subarray(BYTE_ORDER_MARK.length) : chunk;
  }
}

/** Collects the pieces of a row whose end has not arrived yet. */
export class UnfinishedRow {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** Whether the row is too long: its further pieces are dropped. */
  overflown = false;

  constructor(readonly bytesMax: number) {}

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > this.bytesMax) {
      this.#pieces = [];
      this.overflown = true;
    } else if (piece.length > 0) this.#pieces.push(piece);
  }

  get empty(): boolean {
    return this.#bytes === 0;
  }

  /** Ends the row: returns its text, or why it cannot be taken. The next piece begins another row. */
  finish(line: number): RowText {
    const pieces = this.#pieces;
    const isTooLong = this.overflown;
    this.#pieces = [];
    this.#bytes = 0;
    this.overflown = false;
    if (isTooLong) return { line, refused: rowTooLong(this.bytesMax) };
    return rowText(line, pieces.length === 1 ? pieces[0]! : joined(pieces));
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function rowText(line: number, bytes: Uint8Array): RowText {
  try {
    return { line, text: UTF8.decode(bytes) };
  } catch {
    return { line, refused: WRONG_ENCODING };
  }
}

/** Splits bytes into whole lines, numbered from `first`; blank lines are left out. */
function wholeLines(bytes: Uint8Array, first: number, bytesMax: number): RowText[] {
  let texts: string[];
  try {
    // All at once: line by line takes five times as long.
    texts = UTF8.decode(bytes).split("\n");
  } catch {
    return singleLines(bytes, first, bytesMax);
  }
  const rows: RowText[] = [];
  for (const [i, text] of texts.entries()) {
    if (text === "") continue;
    const line = first + i;
    rows.push(text.length > bytesMax ? { line, refused: rowTooLong(bytesMax) } : { line, text });
  }
  return rows;
}

/** Splits bytes as `wholeLines` does if one of the lines is not UTF-8. */
function singleLines(bytes: Uint8Array, first: number, bytesMax: number): RowText[] {
  const rows: RowText[] = [];
  for (let from = 0, line = first; from < bytes.length; line++) {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline < 0 ? bytes.length : newline;
    if (end - from > bytesMax) rows.push({ line, refused: rowTooLong(bytesMax) });
    else if (end > from) rows.push(rowText(line, bytes.subarray(from, end)));
    from = end + 1;
  }
  return rows;
}

/**
 * Yields the lines that each chunk completes, without empty ones. A line that is too long is refused, and is
 * not kept in memory.
 */
export async function* textLines(source: ByteSource, bytesMax: number): AsyncGenerator<RowText[]> {
  const rest = new UnfinishedRow(bytesMax);
  let line = 1;
  for await (const chunk of source) {
    const last = chunk.lastIndexOf(NEWLINE);
    if (last < 0) {
      rest.add(chunk.slice());
      continue;
    }
    const rows: RowText[] = [];
    let from = 0;
    if (!rest.empty) {
      from = chunk.indexOf(NEWLINE);
      rest.add(chunk.subarray(0, from));
      rows.push(rest.finish(line++));
      from++;
    }
    if (from <= last) {
      const whole = chunk.subarray(from, last);
      rows.push(...wholeLines(whole, line, bytesMax));
      line += newlinesIn(whole) + 1;
    }
    rest.add(chunk.slice(last + 1));
    yield rows;
  }
  if (!rest.empty) yield [{ ...rest.finish(line), isUnended: true }];
}

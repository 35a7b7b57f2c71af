import { FileProblem } from "./file_problem.ts";
import type { ByteSource } from "./input_file.ts";

/** A row of a file before it is read: its text, or why there is none. */
export type RowText =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly refused: RowRefusal };

/** Why a row cannot be taken. */
export interface RowRefusal {
  readonly code: string;
  readonly message: string;
}

const NEWLINE = 0x0a;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

export const WRONG_ENCODING: RowRefusal = {
  code: "invalid_encoding",
  message: "The row is not UTF-8.",
};

export function rowTooLong(bytesMax: number): RowRefusal {
  return { code: "row_too_long", message: `A row holds at most ${bytesMax} bytes.` };
}

/**
 * Bytes without a byte order mark.
 *
 * @throws FileProblem for UTF-16, and for a file that is no text
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

/** Pieces of a row whose end has not come yet. */
export class UnfinishedRow {
  #pieces: Uint8Array[] = [];
  #bytes = 0;
  /** The row is too long: what follows of it is passed over. */
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

  /** All of the row; forgets it. */
  take(): Uint8Array {
    const [only = new Uint8Array(), ...others] = this.#pieces;
    let whole = only;
    if (others.length > 0) {
      whole = new Uint8Array(this.#bytes);
      let at = 0;
      for (const piece of this.#pieces) {
        whole.set(piece, at);
        at += piece.length;
      }
    }
    this.#pieces = [];
    this.#bytes = 0;
    this.overflown = false;
    return whole;
  }
}

const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text of one row, or that it is none. */
export function rowText(line: number, bytes: Uint8Array): RowText {
  try {
    return { line, text: UTF8.decode(bytes) };
  } catch {
    return { line, refused: WRONG_ENCODING };
  }
}

/** Whole lines in one piece of bytes, the first of them numbered; blank ones are none. */
function wholeLines(bytes: Uint8Array, first: number, bytesMax: number): RowText[] {
  let texts: string[];
  try {
    // At once: line by line it takes five times as long.
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

/** The same where one of them is no UTF-8. */
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

function newlinesIn(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

/**
 * The lines of a file but for blank ones, a chunk's at a time. A line that is too long is refused and
 * takes no memory.
 */
export async function* textLines(source: ByteSource, bytesMax: number): AsyncGenerator<RowText[]> {
  const rest = new UnfinishedRow(bytesMax);
  let line = 1;
  const finish = (): RowText => {
    const { overflown } = rest;
    const bytes = rest.take();
    return overflown ? { line, refused: rowTooLong(bytesMax) } : rowText(line, bytes);
  };
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
      rows.push(finish());
      line++;
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
  if (!rest.empty) yield [finish()];
}

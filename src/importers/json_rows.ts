import { newlinesIn } from "../event_file/event_lines.ts";
import { isMembers, parseJson } from "../json_text.ts";
import { ROW_CONTAINERS_MAX, ROW_LENGTH_UNSCANNED, ROW_LEVELS_MAX } from "./importer_limits.ts";
import { type ByteSource, continued } from "./input_file.ts";
import {
  type RowRefusal,
  type RowText,
  textLines,
  UnfinishedRow,
  WRONG_ENCODING,
} from "./text_lines.ts";

export type Members = Readonly<Record<string, unknown>>;

/** A row of a file, or why it cannot be taken. */
export type Row =
  | { readonly line: number; readonly value: Members }
  | { readonly line: number; readonly refused: RowRefusal };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const NEWLINE = 0x0a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Why a row that is not JSON is refused. */
export const NOT_JSON: RowRefusal = { code: "invalid_json", message: "The row is not valid JSON." };
const NOT_AN_OBJECT: RowRefusal = {
  code: "invalid_row",
  message: "The row must hold one JSON object.",
};
const TOO_MUCH: RowRefusal = {
  code: "too_deep",
  message: `A row nests at most ${ROW_LEVELS_MAX} levels deep and holds at most ` +
    `${ROW_CONTAINERS_MAX} objects and arrays.`,
};

/** Whether a text has too many levels or containers to be parsed; found by a scan. */
function holdsTooMuch(text: string): boolean {
  if (text.length <= ROW_LENGTH_UNSCANNED) return false;
  let levels = 0;
  let containers = 0;
  let inText = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (inText) {
      if (unit === BACKSLASH) at++;
      else if (unit === QUOTE) inText = false;
    } else if (unit === QUOTE) inText = true;
    else if (unit === OPEN_OBJECT || unit === OPEN_ARRAY) {
      containers++;
      if (++levels > ROW_LEVELS_MAX || containers > ROW_CONTAINERS_MAX) return true;
    } else if (unit === CLOSE_OBJECT || unit === CLOSE_ARRAY) levels--;
  }
  return false;
}

/** Why a last line that cannot be read is refused. */
export const LINE_CUT_OFF: RowRefusal = {
  code: NOT_JSON.code,
  message: `${NOT_JSON.message} The file ends in it: it seems to be cut off.`,
};

/** Parses a row's text as an object. */
function parseRow(row: RowText): Row {
  const { line, isUnended } = row;
  const parsed = parsedText(row);
  if (isUnended !== true || !("refused" in parsed)) return parsed;
  const { refused } = parsed;
  return {
    line,
    refused: refused === NOT_JSON || refused === WRONG_ENCODING ? LINE_CUT_OFF : refused,
  };
}

function parsedText(row: RowText): Row {
  if ("refused" in row) return row;
  const { line, text } = row;
  if (holdsTooMuch(text)) return { line, refused: TOO_MUCH };
  try {
    const value = parseJson(text);
    return isMembers(value) ? { line, value } : { line, refused: NOT_AN_OBJECT };
  } catch {
    return { line, refused: NOT_JSON };
  }
}

/**
 * Finds the elements of arrays in a stream of bytes. Bytes between arrays are skipped: a file may contain several
 * replies, one after the other.
 */
class ArrayElements {
  readonly #element: UnfinishedRow;
  #levels = 0;
  #inText = false;
  #escaped = false;
  #line = 1;
  #beganAt = 1;

  constructor(bytesMax: number) {
    this.#element = new UnfinishedRow(bytesMax);
  }

  /** Whether an array is open; if so at the end of the file, it was cut off. */
  get open(): boolean {
    return this.#levels > 0;
  }

  /** Ends an element and returns it; null: there is none, as in `[]`. */
  finish(): RowText | null {
    const row = this.#element.finish(this.#beganAt);
    if ("refused" in row) return row;
    const text = row.text.trimStart();
    const before = row.text.slice(0, row.text.length - text.length);
    return text === "" ? null : { line: row.line + before.split("\n").length - 1, text };
  }

  /** Returns the elements that this chunk completes. */
  take(chunk: Uint8Array): RowText[] {
    const rows: RowText[] = [];
    let from = 0;
    const end = (at: number) => {
      this.#element.add(chunk.slice(from, at));
      const row = this.finish();
      if (row !== null) rows.push(row);
      from = at + 1;
      this.#beganAt = this.#line;
    };
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === NEWLINE) this.#line++;
      if (this.#inText) this.#lookInText(byte!);
      else if (byte === QUOTE) this.#inText = this.#levels > 0;
      else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
        if (++this.#levels === 1) {
          from = at + 1;
          this.#beganAt = this.#line;
        }
      } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
        if (this.#levels === 1) end(at);
        this.#levels = Math.max(0, this.#levels - 1);
      } else if (byte === COMMA && this.#levels === 1) end(at);
    }
    if (this.#levels > 0) this.#element.add(chunk.slice(from));
    return rows;
  }

  #lookInText(byte: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (byte === BACKSLASH) this.#escaped = true;
    else if (byte === QUOTE) this.#inText = false;
  }
}

/** The code of what stands where an array of a file does not end. */
export const CUT_OFF = "cut_off";

const ARRAY_CUT_OFF: RowRefusal = {
  code: CUT_OFF,
  message: "The file ends before its array does: what comes after this row is missing.",
};

async function* elementRows(source: ByteSource, bytesMax: number): AsyncGenerator<RowText[]> {
  const elements = new ArrayElements(bytesMax);
  for await (const chunk of source) yield elements.take(chunk);
  if (!elements.open) return;
  const row = elements.finish();
  yield [{ line: row?.line ?? 1, refused: ARRAY_CUT_OFF }];
}

const BLANK = /^[\t\n\r ]*$/;

/** Returns the first byte that is not white space, the stream from its chunk on, and the line ends before that chunk. */
async function firstByte(
  source: ByteSource,
): Promise<{ byte: number | null; linesBefore: number; bytes: ByteSource }> {
  const iterator = source[Symbol.asyncIterator]();
  let linesBefore = 0;
  for (;;) {
    const { value, done } = await iterator.next();
    if (done) return { byte: null, linesBefore, bytes: continued([], iterator) };
    const byte = value.find((unit: number) => unit > 0x20);
    if (byte !== undefined) return { byte, linesBefore, bytes: continued([value], iterator) };
    linesBefore += newlinesIn(value);
  }
}

/** Yields the rows of a JSON file: one object a line, or the elements of arrays. Blank lines are left out. */
export async function* jsonRows(source: ByteSource, bytesMax: number): AsyncGenerator<Row[]> {
  const { byte, linesBefore, bytes } = await firstByte(source);
  const texts = byte === OPEN_ARRAY ? elementRows(bytes, bytesMax) : textLines(bytes, bytesMax);
  for await (const rows of texts) {
    yield rows.filter((row) => !("text" in row && BLANK.test(row.text)))
      .map((row) => parseRow({ ...row, line: row.line + linesBefore }));
  }
}

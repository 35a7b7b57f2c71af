import { CUT_OFF, unpackedGzip, unpackedZstd } from "../event_file/unpacked_stream.ts";
import { joined, peeked, tallied } from "../importers/input_file.ts";
import { IMPORT_LINE_BYTES_MAX } from "../ingest/import_limits.ts";
import type { ImportLine } from "./import_lines.ts";

/** A file cannot be read, or not to its end. The message is a sentence for the person who named it. */
export class UnreadableFile extends Error {
  override readonly name = "UnreadableFile";
}

/** How much of a file is read at once. */
const READ_BYTES = 256 * 1024;
/** How much of a line that is too long is kept, to show which line it is. */
const KEPT_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** A file that is open. */
export interface OpenFile {
  /** The name as the user typed it. */
  readonly name: string;
  /** The size of the file in bytes; null: it is a stream. */
  readonly size: number | null;
  /** How many bytes have been read so far. */
  bytesRead: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

async function* chunksOf(file: Deno.FsFile) {
  using open = file;
  for (;;) {
    // Each read needs a new buffer, because lines are views into it.
    const chunk = new Uint8Array(READ_BYTES);
    const length = await open.read(chunk);
    if (length === null) return;
    yield chunk.subarray(0, length);
  }
}

/** Opens a file, or standard input for `-`. Throws UnreadableFile. */
export async function openFile(name: string): Promise<OpenFile> {
  const named = name === "-" ? null : await openNamed(name);
  const chunks = named === null ? Deno.stdin.readable : chunksOf(named.file);
  const opened: OpenFile = {
    name: named === null ? "standard input" : name,
    size: named?.size ?? null,
    bytesRead: 0,
    chunks: tallied(chunks, (bytes) => opened.bytesRead += bytes),
  };
  return opened;
}

/** Opens a file. `size` is null if it is not a regular file, such as a pipe. Throws UnreadableFile. */
export async function openNamed(
  name: string,
): Promise<{ readonly file: Deno.FsFile; readonly size: number | null }> {
  try {
    const { isDirectory, isFile, size } = await Deno.stat(name);
    if (isDirectory) throw new UnreadableFile(`${name} is a folder: name one file.`);
    return { file: await Deno.open(name), size: isFile ? size : null };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      throw new UnreadableFile(`There is no file ${name}.`);
    }
    if (error instanceof Deno.errors.PermissionDenied) {
      throw new UnreadableFile(`${name} may not be read by whoever runs this command.`);
    }
    throw error;
  }
}

const PACKINGS = [
  { name: "gzip", begin: [0x1f, 0x8b], contents: unpackedGzip },
  { name: "zstd", begin: [0x28, 0xb5, 0x2f, 0xfd], contents: unpackedZstd },
];

/** Kinds of files that do not hold lines of events, by their first bytes, with advice. */
const OTHER_KINDS: readonly { readonly begin: readonly number[]; readonly advice: string }[] = [
  { begin: [0x50, 0x4b, 0x03, 0x04], advice: "is a zip archive: unpack it first." },
  {
    begin: [0x50, 0x41, 0x52, 0x31],
    advice:
      "is a Parquet file, which holds a table of events: an export as NDJSON holds them whole.",
  },
  { begin: [0xff, 0xfe], advice: "is UTF-16: save it as UTF-8." },
  { begin: [0xfe, 0xff], advice: "is UTF-16: save it as UTF-8." },
];
const BEGIN_BYTES = 4;

const startsWith = (bytes: Uint8Array, begin: readonly number[]): boolean =>
  bytes.length >= begin.length && begin.every((byte, i) => bytes[i] === byte);

/** Yields unpacked bytes. The UnreadableFile that it throws says how far the file can be read. */
async function* unpacked(
  name: string,
  kind: string,
  contents: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of contents) {
      bytes += chunk.length;
      yield chunk;
    }
  } catch (error) {
    if (error instanceof UnreadableFile) throw error;
    const why = CUT_OFF.test(String(error)) ? "is cut off" : "is damaged";
    throw new UnreadableFile(
      `${name} ${why}: its ${kind} can be read up to byte ${bytes} of what is in it, and no further.`,
    );
  }
}

/** Yields the content of the file, unpacked if its first bytes are those of gzip or zstd. */
async function* plainChunks({ name, chunks }: OpenFile): AsyncGenerator<Uint8Array> {
  const { head, bytes } = await peeked(chunks, BEGIN_BYTES);
  for (const { begin, advice } of OTHER_KINDS) {
    if (startsWith(head, begin)) throw new UnreadableFile(`${name} ${advice}`);
  }
  const packing = PACKINGS.find(({ begin }) => startsWith(head, begin));
  if (packing === undefined) yield* bytes;
  else yield* unpacked(name, packing.name, packing.contents(bytes));
}

/** A line whose end has not been read yet. A line that is too long is counted, and only its beginning kept. */
class OpenLine {
  #pieces: Uint8Array[] = [];
  #kept = 0;
  bytes = 0;

  add(piece: Uint8Array): void {
    this.bytes += piece.length;
    const room = (this.bytes > IMPORT_LINE_BYTES_MAX ? KEPT_BYTES : this.bytes) - this.#kept;
    if (room <= 0) return;
    this.#pieces.push(piece.subarray(0, room));
    this.#kept += Math.min(room, piece.length);
  }

  take(): Uint8Array {
    const [first, ...others] = this.#pieces;
    const all = first !== undefined && others.length === 0 ? first : joined(this.#pieces);
    this.#pieces = [];
    this.#kept = 0;
    this.bytes = 0;
    return all;
  }
}

const TOO_LONG = {
  code: "event_too_large",
  message: `A line holds at most ${IMPORT_LINE_BYTES_MAX} bytes.`,
};

/** Cuts bytes into lines, and drops blank ones and a byte order mark at the beginning of the file. */
class LineCutter {
  readonly #open = new OpenLine();
  #number: number;
  #at: number;

  constructor({ number, end }: Pick<ImportLine, "number" | "end">) {
    this.#number = number;
    this.#at = end;
  }

  /** Returns the lines that this chunk completes. */
  cut(chunk: Uint8Array): ImportLine[] {
    const lines: ImportLine[] = [];
    for (let from = 0;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end < 0) {
        this.#open.add(chunk.subarray(from));
        this.#at += chunk.length - from;
        return lines;
      }
      this.#open.add(chunk.subarray(from, end));
      this.#at += end + 1 - from;
      this.#finish(lines);
      from = end + 1;
    }
  }

  /** Returns the last line, if the file does not end with a line end. */
  rest(): ImportLine[] {
    const lines: ImportLine[] = [];
    if (this.#open.bytes > 0) this.#finish(lines);
    return lines.map((line) => ({ ...line, isUnended: true }));
  }

  #finish(lines: ImportLine[]): void {
    const number = ++this.#number;
    const isTooLong = this.#open.bytes > IMPORT_LINE_BYTES_MAX;
    let bytes = this.#open.take();
    if (bytes.at(-1) === CARRIAGE_RETURN) bytes = bytes.subarray(0, -1);
    if (number === 1 && startsWith(bytes, BYTE_ORDER_MARK)) {
      bytes = bytes.subarray(BYTE_ORDER_MARK.length);
    }
    if (isTooLong) lines.push({ number, end: this.#at, bytes, refused: TOO_LONG });
    else if (!bytes.every((byte) => byte <= SPACE)) lines.push({ number, end: this.#at, bytes });
  }
}

/**
 * Yields the lines of a file after a position in its content, in batches. Memory stays bounded however long a
 * line is. Throws UnreadableFile.
 */
export async function* linesAfter(
  file: OpenFile,
  position: Pick<ImportLine, "number" | "end">,
): AsyncGenerator<ImportLine[]> {
  const cutter = new LineCutter(position);
  let left = position.end;
  for await (const chunk of plainChunks(file)) {
    const skipped = Math.min(left, chunk.length);
    left -= skipped;
    if (skipped < chunk.length) yield cutter.cut(chunk.subarray(skipped));
  }
  yield cutter.rest();
}

/**
 * The format of an archive: eleven bytes that identify it, then frames. A frame is one byte for its kind,
 * four with the length of its content, four with the CRC-32 of kind, length and content (whole numbers are
 * big-endian), then the content:
 *
 *     head      JSON: what the archive holds; first
 *     rows      zstd of JSON lines: the table and the project of the rows, then one row a line
 *     events    one byte with the length of the project's id, the id, then a journal block
 *     manifest  JSON: counts and digests of everything, SHA-256 of all bytes before; last
 *     broken    JSON: why the archive ends; in place of the manifest, and in no whole file
 *
 * Content is compressed frame by frame, so that damage can be located to the byte, and writing and reading need
 * the memory of one frame. A typical event with a random id takes 41 bytes in a block, and 67 as NDJSON in zstd
 * (`deno task bench:archive`). Each version of the program reads all earlier formats.
 */
import { constants, crc32, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { concat } from "../http/body.ts";
import { FRAME_BYTES_MAX, FRAME_CONTENT_BYTES_MAX } from "./archive_limits.ts";
import { eventsInBlock } from "../store/journal_block.ts";
import type { DamagedBlock } from "./damaged_blocks.ts";
import type { Figures } from "./figures.ts";

const ARCHIVE_FORMAT = 1;
const MAGIC = "FFARCHIVE\n";
const BEGIN_BYTES = MAGIC.length + 1;
const FRAME_HEAD_BYTES = 9;
const BLOCK_BYTES_MIN = 10;
const ZSTD = { params: { [constants.ZSTD_c_compressionLevel]: 6 } };

/** Append only: files contain the index of a kind. */
const KINDS = ["head", "rows", "events", "manifest", "broken"] as const;
export type FrameKind = typeof KINDS[number];

/** The head: describes the content of an archive. */
export interface ArchiveHead {
  /** Random: identifies the archive in every run that restores it. */
  readonly id: string;
  readonly footfall: string;
  /** The newest migration of the database that it was made from. */
  readonly schema: number;
  readonly madeAt: string;
  /** Null: of the whole server. */
  readonly project: string | null;
  /** Whether it contains credentials: the secret of tokens, sessions, open links. */
  readonly secrets: boolean;
  readonly projects: readonly { readonly id: string; readonly name: string }[];
  /** The most events that it contains: some may expire or be erased while it is written. */
  readonly events: number;
}

/** The manifest, at the end of an archive. */
export interface ArchiveManifest {
  /** By table, then by project; `*`: rows that belong to none. */
  readonly rows: Readonly<Record<string, Readonly<Record<string, Figures>>>>;
  /** By project. */
  readonly events: Readonly<Record<string, Figures>>;
  /** The last journal row whose events it contains. */
  readonly journalId: number;
  /** Blocks that could not be read and are left out; absent: none. */
  readonly damaged?: readonly DamagedBlock[];
  /** Of all bytes before this frame, as hexadecimal digits. */
  readonly sha256: string;
}

export interface Frame {
  readonly kind: FrameKind;
  /** The byte of the file at which it begins. */
  readonly at: number;
  readonly content: Uint8Array<ArrayBuffer>;
  /** All of its bytes; the first frame includes the bytes before it. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

/** Why an archive is incomplete, in a sentence. */
interface ArchiveBroken {
  readonly why: string;
}

/** Thrown for a file that is not a complete archive, or that this version cannot read. The message says where. */
export class ArchiveRefused extends Error {
  override readonly name = "ArchiveRefused";
}

/** Returns the bytes that every archive begins with. */
export function archiveBegin(): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(BEGIN_BYTES);
  new TextEncoder().encodeInto(MAGIC, bytes);
  bytes[MAGIC.length] = ARCHIVE_FORMAT;
  return bytes;
}

function encodeFrame(kind: FrameKind, content: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(FRAME_HEAD_BYTES + content.length);
  const view = new DataView(bytes.buffer);
  view.setUint8(0, KINDS.indexOf(kind));
  view.setUint32(1, content.length);
  bytes.set(content, FRAME_HEAD_BYTES);
  view.setUint32(5, crc32(content, crc32(bytes.subarray(0, 5))));
  return bytes;
}

/** The content of frames that are JSON. */
type Described = ArchiveHead | ArchiveManifest | ArchiveBroken;

export function encodeJson(kind: "head" | "manifest" | "broken", value: Described) {
  return encodeFrame(kind, new TextEncoder().encode(JSON.stringify(value)));
}

/** Rows of one table and one project, or of no project (`*`), each as JSON. */
export interface FrameRows {
  readonly table: string;
  readonly of: string;
  readonly rows: readonly string[];
}

export function encodeRows({ table, of, rows }: FrameRows): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode([JSON.stringify({ table, of }), ...rows].join("\n"));
  return encodeFrame("rows", zstdCompressSync(text, ZSTD));
}

/** Encodes a journal block of one project. */
export function encodeEvents(project: string, block: Uint8Array): Uint8Array<ArrayBuffer> {
  const id = new TextEncoder().encode(project);
  const content = new Uint8Array(1 + id.length + block.length);
  content[0] = id.length;
  content.set(id, 1);
  content.set(block, 1 + id.length);
  return encodeFrame("events", content);
}

/** Decodes a frame of events. */
export function eventsOf({ content, at }: Pick<Frame, "content" | "at">): {
  readonly project: string;
  readonly block: Uint8Array<ArrayBuffer>;
  /** The number of events that the block states. */
  readonly events: number;
} {
  const end = 1 + (content[0] ?? 0);
  if (content.length < end + BLOCK_BYTES_MIN) {
    throw damaged(at, "Its frame of events is too short.");
  }
  const block = content.subarray(end);
  const project = new TextDecoder().decode(content.subarray(1, end));
  return { project, block, events: eventsInBlock(block) };
}

/** Decodes a frame of rows. */
export function rowsOf({ content, at }: Pick<Frame, "content" | "at">): FrameRows {
  try {
    const plain = zstdDecompressSync(content, { maxOutputLength: FRAME_CONTENT_BYTES_MAX });
    const [first, ...rows] = new TextDecoder("utf-8", { fatal: true }).decode(plain).split("\n");
    const { table, of } = JSON.parse(first!);
    return { table: String(table), of: String(of), rows };
  } catch {
    throw damaged(at, "Its rows cannot be read.");
  }
}

export function jsonOf<T extends Described>(
  { content, at }: Pick<Frame, "content" | "at">,
): T {
  try {
    return JSON.parse(new TextDecoder().decode(content)) as T;
  } catch {
    throw damaged(at, "Its description is no JSON.");
  }
}

export function damaged(at: number, what: string): ArchiveRefused {
  return new ArchiveRefused(`The archive is damaged at byte ${at}. ${what}`);
}

/** Reads a stream in pieces of any length. */
class Bytes {
  readonly #source: AsyncIterator<Uint8Array>;
  #chunks: Uint8Array[] = [];
  #held = 0;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source[Symbol.asyncIterator]();
  }

  /** Returns the next bytes; fewer where the stream ends. */
  async take(count: number): Promise<Uint8Array<ArrayBuffer>> {
    while (this.#held < count) {
      const { done, value } = await this.#source.next();
      if (done) break;
      this.#chunks.push(value);
      this.#held += value.length;
    }
    const taken = new Uint8Array(Math.min(count, this.#held));
    for (let at = 0; at < taken.length;) {
      const [chunk] = this.#chunks;
      const part = chunk!.subarray(0, taken.length - at);
      taken.set(part, at);
      at += part.length;
      if (part.length === chunk!.length) this.#chunks.shift();
      else this.#chunks[0] = chunk!.subarray(part.length);
    }
    this.#held -= taken.length;
    return taken;
  }

  async close(): Promise<void> {
    await this.#source.return?.();
  }
}

const CUT_SHORT = "It ends here: the file was cut short, or is still being written.";

function assertBegin(begin: Uint8Array): void {
  const magic = new TextDecoder().decode(begin.subarray(0, MAGIC.length));
  if (magic !== MAGIC) {
    throw new ArchiveRefused(
      "This is no archive of Footfall: its first bytes are others. " +
        "Events that `footfall export` wrote are for `footfall import`.",
    );
  }
  const format = begin[MAGIC.length];
  if (format === undefined) throw damaged(begin.length, CUT_SHORT);
  if (format > ARCHIVE_FORMAT) {
    throw new ArchiveRefused(
      `The archive has format ${format}; this program reads formats up to ${ARCHIVE_FORMAT}. ` +
        "Restore it with the version that made it, or a newer one.",
    );
  }
}

/**
 * Yields the frames of an archive, and checks their checksums and their order. Throws ArchiveRefused. Until the
 * manifest, the last frame, has come, the archive may prove to be cut short.
 */
export async function* readFrames(source: AsyncIterable<Uint8Array>): AsyncGenerator<Frame> {
  const bytes = new Bytes(source);
  try {
    const begin = await bytes.take(BEGIN_BYTES);
    assertBegin(begin);
    let at = BEGIN_BYTES;
    for (let kind: FrameKind | null = null;;) {
      const head = await bytes.take(FRAME_HEAD_BYTES);
      if (head.length === 0 && kind === "manifest") return;
      if (kind === "manifest") throw damaged(at, "Something follows its end.");
      if (head.length < FRAME_HEAD_BYTES) throw damaged(at + head.length, CUT_SHORT);
      const view = new DataView(head.buffer);
      const next: FrameKind | undefined = KINDS[view.getUint8(0)];
      const length = view.getUint32(1);
      if (next === undefined || length > FRAME_BYTES_MAX || (kind === null) !== (next === "head")) {
        throw damaged(at, "No frame begins like this.");
      }
      const content = await bytes.take(length);
      if (content.length < length) {
        throw damaged(at + FRAME_HEAD_BYTES + content.length, CUT_SHORT);
      }
      if (crc32(content, crc32(head.subarray(0, 5))) !== view.getUint32(5)) {
        throw damaged(at, `The checksum of the ${length} bytes after it is wrong.`);
      }
      if (next === "broken") throw new ArchiveRefused(jsonOf<ArchiveBroken>({ content, at }).why);
      const before = kind === null ? [begin] : [];
      kind = next;
      yield { kind, at, content, bytes: concat([...before, head, content]) };
      at += FRAME_HEAD_BYTES + length;
    }
  } finally {
    await bytes.close();
  }
}

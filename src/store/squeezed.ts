import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { ByteReader, ByteWriter } from "./byte_stream.ts";

/** How bytes are stored. Append only. */
const SAME = 0;
const PLAIN = 1;
const ZSTD = 2;

const OPTIONS = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** Below this zstd's own frame takes more than it saves. */
const ZSTD_BYTES_MIN = 32;
/** The smallest piece in which zstd hands out what it made. */
const CHUNK_BYTES_MIN = 64;
/** What zstd must save to be worth undoing: a sixteenth. */
const ZSTD_SHARE_MAX = 15 / 16;

/** Writes bytes: one if they are all the same, else by zstd where that makes them fewer. */
export function squeeze(writer: ByteWriter, bytes: Uint8Array): void {
  const first = bytes[0] ?? 0;
  let same = 0;
  while (same < bytes.length && bytes[same] === first) same++;
  if (same === bytes.length) {
    writer.u8(SAME);
    writer.u8(first);
    return;
  }
  const smaller = bytes.length < ZSTD_BYTES_MIN ? bytes : zstdCompressSync(bytes, OPTIONS);
  const isWorth = smaller.length < bytes.length * ZSTD_SHARE_MAX;
  const stored = isWorth ? smaller : bytes;
  writer.u8(isWorth ? ZSTD : PLAIN);
  writer.varint(stored.length);
  writer.bytes(stored);
}

/** Bytes that `squeeze` wrote, before they are made whole again. */
export interface Squeezed {
  /** What all of them are; null: they differ. */
  readonly same: number | null;
  /** Makes them whole. */
  readonly bytes: () => Uint8Array;
}

/** Reads past what `squeeze` wrote of so many bytes. */
export function readSqueezed(reader: ByteReader, length: number): Squeezed {
  const kind = reader.u8();
  if (kind === SAME) {
    const same = reader.u8();
    return { same, bytes: () => new Uint8Array(length).fill(same) };
  }
  if (kind !== PLAIN && kind !== ZSTD) {
    throw new Error(`Bytes are stored in an unknown way: ${kind}`);
  }
  const { at, whole: known } = reader;
  const stored = reader.bytes(reader.varint());
  // In one piece, and with room behind it: what fills a piece to its end is looked for once more.
  const chunkSize = Math.max(CHUNK_BYTES_MIN, length + 1);
  const whole = { maxOutputLength: Math.max(1, length), chunkSize };
  const bytes = (): Uint8Array => {
    if (kind === PLAIN) return stored;
    const before = known?.get(at);
    if (before !== undefined) return before;
    const made = zstdDecompressSync(stored, whole);
    known?.set(at, made);
    return made;
  };
  return { same: null, bytes };
}

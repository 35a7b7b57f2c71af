import type { ByteReader, ByteWriter } from "./byte_stream.ts";
import { zstdBytes, zstdFrame } from "./zstd_frame.ts";

/** How bytes are stored. Append only. */
const SAME = 0;
const PLAIN = 1;
const ZSTD = 2;

/** For fewer bytes, zstd's frame takes more than it saves. */
const ZSTD_BYTES_MIN = 32;
/** zstd must save at least a sixteenth to be worth the decompression. */
const ZSTD_SHARE_MAX = 15 / 16;

/** Writes bytes: a single one if all are equal, else compressed by zstd if that is worth it. */
export function squeeze(writer: ByteWriter, bytes: Uint8Array): void {
  const first = bytes[0] ?? 0;
  let same = 0;
  while (same < bytes.length && bytes[same] === first) same++;
  if (same === bytes.length) {
    writer.u8(SAME);
    writer.u8(first);
    return;
  }
  const compressed = bytes.length < ZSTD_BYTES_MIN ? bytes : zstdFrame(bytes);
  const isWorthIt = compressed.length < bytes.length * ZSTD_SHARE_MAX;
  const stored = isWorthIt ? compressed : bytes;
  writer.u8(isWorthIt ? ZSTD : PLAIN);
  writer.varint(stored.length);
  writer.bytes(stored);
}

/** Bytes that `squeeze` wrote, not decompressed yet. */
export interface Squeezed {
  /** The value of all bytes; null: they differ. */
  readonly same: number | null;
  /** Decompresses them. */
  readonly bytes: () => Uint8Array;
  /** The same, into the memory of a place, where they stay until it is used again: saves garbage. */
  readonly bytesAtOnce: (place: number) => Uint8Array;
}

/** Memory for decompressed bytes that are used at once, by place. */
const rooms: Uint8Array[] = [];

/** Returns the memory of a place; most blocks have as many bytes as the one before. */
function roomAt(place: number, length: number): Uint8Array {
  const room = rooms[place];
  if (room?.length === length) return room;
  const isLarge = room !== undefined && room.buffer.byteLength >= length;
  return rooms[place] = isLarge ? new Uint8Array(room.buffer, 0, length) : new Uint8Array(length);
}

/** Reads what `squeeze` wrote for `length` bytes; decompresses on demand. */
export function readSqueezed(reader: ByteReader, length: number): Squeezed {
  const kind = reader.u8();
  if (kind === SAME) {
    const same = reader.u8();
    const bytes = () => new Uint8Array(length).fill(same);
    return { same, bytes, bytesAtOnce: bytes };
  }
  if (kind !== PLAIN && kind !== ZSTD) {
    throw new Error(`Unknown encoding of bytes: ${kind}`);
  }
  const stored = reader.bytes(reader.varint());
  if (kind === PLAIN) return { same: null, bytes: () => stored, bytesAtOnce: () => stored };
  const bytes = reader.keeping(() => zstdBytes(stored, length));
  const bytesAtOnce = reader.kept === null
    ? (place: number) => zstdBytes(stored, length, roomAt(place, length))
    : bytes;
  return { same: null, bytes, bytesAtOnce };
}

/** Decompresses bytes and returns those at these places; null: all. */
export function bytesAt({ bytes }: Squeezed, places: Uint32Array | null): Uint8Array {
  const all = bytes();
  if (places === null) return all;
  const some = new Uint8Array(places.length);
  for (let i = 0; i < some.length; i++) some[i] = all[places[i]!]!;
  return some;
}

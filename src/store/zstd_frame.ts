import {
  constants,
  createZstdCompress,
  createZstdDecompress,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";

const LEVEL = 1;
/** The smallest window of zstd, and its default for this level: 512 KiB. */
const WINDOW_LOG_MIN = 10;
const WINDOW_LOG_MAX = 19;
/** Compressors for larger windows are not kept: they take more than a megabyte each, and are used seldom. */
const KEPT_WINDOW_LOG_MAX = 17;
/** The smallest chunk size that zstd accepts for its output. */
const CHUNK_BYTES_MIN = 64;

/** Options by the binary logarithm of the window. */
const OPTIONS = Array.from({ length: WINDOW_LOG_MAX + 1 }, (_, log) => ({
  params: {
    [constants.ZSTD_c_compressionLevel]: LEVEL,
    [constants.ZSTD_c_windowLog]: Math.max(WINDOW_LOG_MIN, log),
  },
}));

/** What `node:zlib` made must come out alike before something kept is trusted. */
const SAMPLE = Uint8Array.from({ length: 600 }, (_, i) => (i * i) % 97);

const areSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

/** Returns `work` if it answers a sample rightly, twice; else null. */
function trusted<T>(work: T, isRight: (work: T) => boolean): T | null {
  try {
    return isRight(work) && isRight(work) ? work : null;
  } catch {
    return null;
  }
}

/** Writes into `output`. Returns how many bytes of it are free, and how many of `bytes` are left. */
type Transform = (bytes: Uint8Array, output: Uint8Array) => readonly [room: number, left: number];

/**
 * Makes a transform that keeps its memory from frame to frame. `node:zlib` has none: its functions make a stream
 * for each call. A stream's own transform is among its internals, which another version of Deno may lack.
 */
function keptTransform(stream: unknown, flush: number): Transform {
  const handle = Reflect.get(stream as object, "_handle");
  const state = Reflect.get(stream as object, "_writeState");
  return (bytes, output) => {
    handle.reset();
    handle.writeSync(flush, bytes, 0, bytes.length, output, 0, output.length);
    return state;
  };
}

/** More than the longest frame of so many bytes, which adds a 256th, 64 bytes and its head. */
const frameBytesMax = (bytes: number): number => bytes + (bytes >> 8) + 128;

/** What compressors write into; a frame is copied out of it. */
let frames: Uint8Array | null = null;

type Compress = (bytes: Uint8Array) => Uint8Array;

function keptCompressor(log: number): Compress | null {
  const transform = keptTransform(createZstdCompress(OPTIONS[log]), constants.ZSTD_e_end);
  const compress: Compress = (bytes) => {
    const output = frames ??= new Uint8Array(frameBytesMax(2 ** KEPT_WINDOW_LOG_MAX));
    const [room, left] = transform(bytes, output);
    // With room left over, the frame has ended.
    if (left !== 0 || room === 0) throw new Error(`zstd left ${left} of ${bytes.length} bytes`);
    return output.slice(0, output.length - room);
  };
  return trusted(compress, () => areSame(compress(SAMPLE), zstdCompressSync(SAMPLE, OPTIONS[log])));
}

/** By the binary logarithm of the window; made when first used. */
const compressors = new Map<number, Compress | null>();

/**
 * Compresses bytes fast, as a frame whose window is hardly larger than they are. The runtime does not tell zstd how
 * many bytes will come, so by default it allocates a full window: for 16 KB this takes 82 µs of processor time
 * instead of 29, and 33 instead of 24 to decompress. A compressor that is kept takes 8 µs for 16 KB where a new one
 * takes 13 to 17, and 2 where it takes 8 to 11 for 500 bytes.
 */
export function zstdFrame(bytes: Uint8Array): Uint8Array {
  const log = Math.max(WINDOW_LOG_MIN, Math.ceil(Math.log2(Math.max(1, bytes.length))));
  const compress = log > KEPT_WINDOW_LOG_MAX
    ? null
    : compressors.getOrInsertComputed(log, () => keptCompressor(log));
  return compress?.(bytes) ?? zstdCompressSync(bytes, OPTIONS[Math.min(log, WINDOW_LOG_MAX)]!);
}

/** Writes into `output`. Returns how many bytes; null: the frame is damaged, or has more than there is room for. */
type Decompress = (frame: Uint8Array, output: Uint8Array) => number | null;

function keptDecompressor(): Decompress | null {
  const transform = keptTransform(createZstdDecompress(), constants.ZSTD_e_continue);
  const decompress: Decompress = (frame, output) => {
    try {
      const [room, left] = transform(frame, output);
      return left === 0 ? output.length - room : null;
    } catch {
      return null;
    }
  };
  const frame = zstdCompressSync(SAMPLE);
  const bytes = new Uint8Array(SAMPLE.length + 1);
  return trusted(
    decompress,
    () => areSame(bytes.fill(0).subarray(0, decompress(frame, bytes)!), SAMPLE),
  );
}

/** Made when first used. */
let decompressor: Decompress | null | undefined;

function decompressInto(frame: Uint8Array, output: Uint8Array): number | null {
  if (decompressor === undefined) decompressor = keptDecompressor();
  return decompressor?.(frame, output) ?? null;
}

/**
 * Decompresses a frame of `length` bytes: a decompressor that is kept takes 2 µs for 500 bytes and 5 for 16 KB, where
 * a new one takes 14.
 * @param room memory of `length` bytes that may be used for them; absent: they get their own
 * @throws Error if it is damaged or longer
 */
export function zstdBytes(
  frame: Uint8Array,
  length: number,
  room: Uint8Array = new Uint8Array(length),
): Uint8Array {
  if (decompressInto(frame, room) === length) return room;
  // All output fits into one chunk with room to spare: a chunk filled to its end costs another call.
  const chunkSize = Math.max(CHUNK_BYTES_MIN, length + 1);
  return zstdDecompressSync(frame, { maxOutputLength: Math.max(1, length), chunkSize });
}

/**
 * Decompresses a frame of unknown length: into `output`, of which a part is returned, or into new memory if there is
 * no room left over. For 140 KB this takes 0.12 ms of the processor; a new decompressor, which allocates memory for
 * each 16 KiB, takes 0.22.
 * @param bytesMax how many bytes may come out
 * @throws Error if it is damaged or longer; of a frame that is cut off, a part may be returned
 */
export function zstdContent(frame: Uint8Array, output: Uint8Array, bytesMax: number): Uint8Array {
  const length = decompressInto(frame, output);
  // Without room left over, more may follow.
  return length !== null && length < output.length
    ? output.subarray(0, length)
    : zstdDecompressSync(frame, { maxOutputLength: bytesMax });
}

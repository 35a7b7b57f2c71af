import { constants, zstdCompressSync } from "node:zlib";

const LEVEL = 1;
/** The smallest window of zstd, and its default for this level: 512 KiB. */
const WINDOW_LOG_MIN = 10;
const WINDOW_LOG_MAX = 19;

/** Options by the binary logarithm of the window. */
const OPTIONS = Array.from({ length: WINDOW_LOG_MAX + 1 }, (_, log) => ({
  params: {
    [constants.ZSTD_c_compressionLevel]: LEVEL,
    [constants.ZSTD_c_windowLog]: Math.max(WINDOW_LOG_MIN, log),
  },
}));

/**
 * Compresses bytes fast, as a frame whose window is hardly larger than they are. The runtime does not tell
 * zstd how many bytes will come, so by default it allocates a full window: for 16 KB this takes 82 µs of
 * processor time instead of 29, and 33 instead of 24 to decompress.
 */
export function zstdFrame(bytes: Uint8Array): Uint8Array {
  const log = Math.ceil(Math.log2(Math.max(1, bytes.length)));
  return zstdCompressSync(bytes, OPTIONS[Math.min(log, WINDOW_LOG_MAX)]!);
}

import assert from "node:assert/strict";
import process from "node:process";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { zstdFrame } from "../../src/store/zstd_frame.ts";

/** The size of a frame's window (RFC 8878, 3.1.1.1.2), of frames without a mantissa. */
const windowBytesOf = (frame: Uint8Array) => 2 ** (10 + (frame[5]! >> 3));

Deno.test("zstd frames: read as they were, with a window hardly larger than they are", () => {
  for (const length of [0, 1, 31, 1_024, 1_025, 16_384, 100_000, 524_288, 600_000]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * i) % 251);
    const frame = zstdFrame(bytes);
    assert.deepEqual(new Uint8Array(zstdDecompressSync(frame)), bytes);
    const windowBytes = windowBytesOf(frame);
    assert.ok(windowBytes >= Math.min(length, 524_288), `${length}: ${windowBytes}`);
    assert.ok(windowBytes < Math.max(2_048, 2 * length), `${length}: ${windowBytes}`);
  }
});

Deno.test("zstd frames: a compressor that is kept writes what a new one does, whatever came before", () => {
  const noise = (length: number) =>
    Uint8Array.from({ length }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 24);
  const text = (length: number) =>
    new TextEncoder().encode("a b c, ".repeat(length)).slice(0, length);
  const all = [0, 1, 40, 1_024, 5_000, 70_000, 131_072, 3, 131_073, 17]
    .flatMap((length) => [noise(length), text(length), new Uint8Array(length)]);
  const frames = all.map(zstdFrame);
  for (const [i, bytes] of all.entries()) {
    const log = Math.max(10, Math.ceil(Math.log2(Math.max(1, bytes.length))));
    const params = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: log };
    const frame = zstdCompressSync(bytes, { params });
    assert.deepEqual(new Uint8Array(frames[i]!), new Uint8Array(frame), `${i}: ${bytes.length}`);
  }
});

Deno.test("zstd frames: a column of 500 bytes takes less than half of a new compressor's time", () => {
  const bytes = Uint8Array.from({ length: 500 }, (_, i) => (i * i) % 7);
  const params = { [constants.ZSTD_c_compressionLevel]: 1, [constants.ZSTD_c_windowLog]: 10 };
  const cpuOf = (compress: () => void) => {
    const startedAt = process.cpuUsage();
    for (let i = 0; i < 1_000; i++) compress();
    const { user, system } = process.cpuUsage(startedAt);
    return user + system;
  };
  const keptIsFaster = () =>
    cpuOf(() => zstdFrame(bytes)) < cpuOf(() => zstdCompressSync(bytes, { params })) / 2;
  assert.ok([1, 2, 3].some(keptIsFaster));
});

import assert from "node:assert/strict";
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { zstdBytes, zstdContent, zstdFrame } from "../../src/store/zstd_frame.ts";

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

Deno.test("zstd frames: a decompressor that is kept reads what a new one does, after damaged frames, too", () => {
  const damaged = zstdFrame(Uint8Array.from({ length: 1_000 }, (_, i) => i));
  damaged.fill(255, 6, 8);
  for (const length of [0, 1, 40, 1_024, 5_000, 70_000, 131_073, 600_000]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * i) % 251);
    const frame = zstdFrame(bytes);
    assert.deepEqual(new Uint8Array(zstdBytes(frame, length)), bytes);
    assert.throws(() => zstdBytes(damaged, 1_000), /corruption/);
    assert.throws(() => zstdBytes(Uint8Array.of(1, 2, 3, 4, 5, 6), 1_000), /Unknown frame/);
    assert.throws(() => length > 1 ? zstdBytes(frame, length - 1) : zstdBytes(damaged, 1), Error);
    // A frame that is cut short has what came before.
    assert.ok(zstdBytes(frame.subarray(0, -1), length + 1).length <= length);
  }
});

Deno.test("zstd frames: content of unknown length is read with and without room for it, up to its limit", () => {
  const room = new Uint8Array(1_000);
  for (const length of [0, 1, 999, 1_000, 1_001, 70_000, 600_000]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * i) % 251);
    const frame = zstdFrame(bytes);
    const content = zstdContent(frame, room, length + 1);
    assert.deepEqual(new Uint8Array(content), bytes);
    assert.equal(content.buffer === room.buffer, length < room.length);
    if (length > room.length) assert.throws(() => zstdContent(frame, room, length - 1), RangeError);
    const damaged = frame.slice();
    damaged[0]! ^= 1;
    assert.throws(() => zstdContent(damaged, room, length + 1), /Unknown frame/);
  }
});

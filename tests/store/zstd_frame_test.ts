import assert from "node:assert/strict";
import { zstdDecompressSync } from "node:zlib";
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

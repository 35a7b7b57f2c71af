import assert from "node:assert/strict";
import {
  LineMemory,
  PackedLines,
  type PackedSizes,
} from "../../../src/reports/events/packed_lines.ts";
import { uuidBytes } from "../../../src/store/id_codec.ts";
import { yielding } from "../../../src/store/yielding.ts";

const KIBIBYTE = 1024;
const SIZES: PackedSizes = {
  chunkRows: 10,
  openRows: 1_000,
  openBytes: 512 * KIBIBYTE,
  bytesMax: 1024 * KIBIBYTE,
  handedBytes: 256 * KIBIBYTE,
};
/** The bytes of a line that cannot be compressed. */
const RANDOM_BYTES = 32 * KIBIBYTE;
const LINES = 600;

const idOf = (i: number) => `00000000-0000-4000-8000-${String(i).padStart(12, "0")}`;

/** A line of 64 KiB of digits. */
function longLine(i: number): string {
  const digits = crypto.getRandomValues(new Uint8Array(RANDOM_BYTES)).toHex();
  return `${JSON.stringify({ eventId: idOf(i), digits })}\n`;
}

Deno.test("packed lines: large ones take no more memory than small ones, and the newest are kept", async () => {
  const memory = new LineMemory(SIZES);
  const packed = new PackedLines(
    memory,
    Float64Array.from({ length: LINES }, (_, i) => i),
    yielding(),
  );
  // In an order that has nothing to do with time.
  for (let step = 0; step < LINES; step++) {
    const i = (271 * step) % LINES;
    assert.ok(await packed.add(i, uuidBytes([idOf(i)]), 0, longLine(i)));
    assert.ok(memory.bytes <= SIZES.openBytes + SIZES.bytesMax);
  }
  assert.ok(await packed.pack());
  const from = packed.droppedBeforeMs;
  assert.ok(from !== null && packed.lineBytes > 2 * RANDOM_BYTES);
  const found: string[] = [];
  for (const { bytes, lines } of packed.handed(Infinity)) {
    assert.ok(lines === 1 || bytes.length <= SIZES.handedBytes);
    const texts = new TextDecoder().decode(bytes).trimEnd().split("\n");
    assert.equal(texts.length, lines);
    found.push(...texts.map((text) => JSON.parse(text).eventId));
  }
  assert.deepEqual(found, Array.from({ length: LINES - from }, (_, i) => idOf(LINES - 1 - i)));
  assert.ok(found.length >= SIZES.chunkRows, "a whole chunk at least");
});

Deno.test("packed lines: those of one moment are sorted by id; what has no room is refused", async () => {
  const lines = async (count: number) => {
    const packed = new PackedLines(new LineMemory(SIZES), new Float64Array(count), yielding());
    let hasRoom = true;
    for (let i = 0; i < count && hasRoom; i++) {
      hasRoom = await packed.add(
        0,
        uuidBytes([idOf((7 * i) % count)]),
        0,
        longLine((7 * i) % count),
      );
    }
    return hasRoom && await packed.pack() ? [...packed.handed(Infinity)] : null;
  };
  const text = new TextDecoder();
  const ids = (await lines(25))!.flatMap(({ bytes }) =>
    text.decode(bytes).trimEnd().split("\n").map((line) => JSON.parse(line).eventId)
  );
  assert.deepEqual(ids, Array.from({ length: 25 }, (_, i) => idOf(24 - i)));
  assert.equal(await lines(60), null);
});

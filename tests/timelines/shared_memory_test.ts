import fc from "fast-check";
import assert from "node:assert/strict";
import { shared, sharedColumn, SharedMemory, zeros } from "../../src/timelines/shared_memory.ts";

const MIB = 1024 * 1024;
const column = (bytes: number) => new Uint8Array(bytes);

Deno.test("shared memory: columns are side by side, each with its values", () => {
  const memory = new SharedMemory(0);
  const lists = fc.record({
    bytes: fc.array(fc.nat({ max: 255 }), { maxLength: 9 }),
    words: fc.array(fc.integer(), { maxLength: 9 }),
    doubles: fc.array(fc.double({ noNaN: true }), { maxLength: 9 }),
  });
  fc.assert(fc.property(lists, ({ bytes, words, doubles }) => {
    const columns = {
      bytes: Uint8Array.from(bytes),
      words: Int32Array.from(words),
      doubles: Float64Array.from(doubles),
    };
    const copies = shared((size) => memory.take(size), columns);
    assert.deepEqual(copies, columns);
    assert.ok(copies.bytes.buffer instanceof SharedArrayBuffer);
    assert.equal(copies.bytes.buffer, copies.doubles.buffer);
  }));
});

Deno.test("shared memory: a buffer that was given back is taken again if it fits", () => {
  const memory = new SharedMemory(10 * MIB);
  const first = memory.take(4 * MIB);
  assert.equal(memory.bytes, 4 * MIB);
  memory.give(first);
  assert.equal(memory.take(3 * MIB), first);
  // Half as large again is too much.
  memory.give(first);
  assert.notEqual(memory.take(2 * MIB), first);
  assert.equal(memory.bytes, 6 * MIB);
});

Deno.test("shared memory: a column of zeros has none of the contents that its buffer had before", () => {
  const memory = new SharedMemory(10 * MIB);
  const take = (bytes: number) => memory.take(bytes);
  const buffer = memory.take(8_000);
  new Uint8Array(buffer).fill(255);
  memory.give(buffer);
  const second = zeros(take, Uint16Array, 3_500);
  assert.equal(second.buffer as unknown, buffer);
  assert.deepEqual(second, new Uint16Array(3_500));
});

Deno.test("shared memory: a bounded amount is kept for later, without the longest unused buffers", () => {
  const memory = new SharedMemory(5 * MIB);
  const buffers = [3, 2, 1].map((size) => memory.take(size * MIB));
  for (const buffer of buffers) memory.give(buffer);
  assert.equal(memory.bytes, 3 * MIB);
  assert.notEqual(memory.take(3 * MIB), buffers[0]);
  assert.equal(memory.take(2 * MIB), buffers[1]);
  assert.equal(memory.take(MIB), buffers[2]);
});

Deno.test("shared memory: lists that grow a little from read to read take one another's buffers", () => {
  const memory = new SharedMemory(100 * MIB);
  const taken = new Set<SharedArrayBuffer>();
  for (let bytes = 2 * MIB; bytes < 2.2 * MIB; bytes += 40) {
    const buffer = memory.take(bytes);
    assert.ok(buffer.byteLength >= bytes && buffer.byteLength <= bytes * (1 + 1 / 32));
    taken.add(buffer);
    memory.give(buffer);
  }
  assert.ok(taken.size <= 8, `${taken.size}`);
});

Deno.test("shared memory: a retired buffer is taken again once all reads that may use it have ended", async () => {
  const memory = new SharedMemory(100 * MIB);
  const kept = sharedColumn((bytes) => memory.take(bytes), column(MIB));
  const [early, other] = [memory.enter(), memory.enter()];
  memory.retire(kept);
  const late = memory.enter();
  await early.end();
  assert.notEqual(memory.take(MIB), kept.buffer);
  await other.end();
  assert.equal(memory.take(MIB), kept.buffer);
  await late.end();
});

Deno.test("shared memory: a read's own buffers are given back when it ends, after the work that uses them", async () => {
  const memory = new SharedMemory(100 * MIB);
  const use = memory.enter();
  const own = use.take(MIB);
  const { promise, resolve } = Promise.withResolvers<void>();
  const working = use.during(promise);
  const ending = use.end();
  await Promise.resolve();
  assert.notEqual(memory.take(MIB), own);
  resolve();
  await working;
  await ending;
  assert.equal(memory.take(MIB), own);
});

Deno.test("shared memory: reads one after the other take no more than one read", async () => {
  const memory = new SharedMemory(64 * MIB);
  // The same sizes each time: the bound below holds for nearly all others, not for those that grow slowly.
  const sampling = { numRuns: 200, seed: 1 };
  const sizes = fc.sample(fc.integer({ min: 3 * MIB, max: 4 * MIB }), sampling);
  const taken = new Set<SharedArrayBuffer>();
  for (const size of sizes) {
    const use = memory.enter();
    for (let i = 0; i < 4; i++) taken.add(use.take(size));
    await use.end();
  }
  // Those of the first read, and some more until all are large enough for the largest.
  assert.ok(taken.size <= 16, `${taken.size}`);
});

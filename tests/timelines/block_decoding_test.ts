import assert from "node:assert/strict";
import { ScanPool } from "../../src/scans/scan_pool.ts";
import { allBlocks, decodeHead, spanOf } from "../../src/store/segment_head.ts";
import { SegmentReader } from "../../src/store/segment_reader.ts";
import { decodeBlocks } from "../../src/timelines/block_decoding.ts";
import { MemoryScope, SharedMemory } from "../../src/timelines/shared_memory.ts";
import { encodedSegment, loadedSegment, segmentOfTold, told } from "./timeline_world.ts";

const EVENTS = 40_000;
const SEGMENT_ID = 7;

/** Of a few people, so that the runs of some are in two blocks or more. */
const SEGMENT = segmentOfTold(
  Array.from({ length: EVENTS }, (_, i) => told(1 + i % 3 ** (1 + i % 4), i % 900, i)),
)!;

const start = () => new Worker(import.meta.resolve("../scans/probe_worker.ts"), { type: "module" });

/** Pools of whose threads each, or some, decode: this one, workers, and both. */
const POOLS: Readonly<Record<string, () => ScanPool>> = {
  "this thread": () => new ScanPool(0, start),
  "a worker": () => new ScanPool(1, start, { inPlaceEventsMax: 0, spareGraceMs: -Infinity }),
  "three workers and this thread": () =>
    new ScanPool(3, start, { inPlaceEventsMax: 0, taskTimelinesMax: 1, spareGraceMs: Infinity }),
};

/** A reader of some blocks of the segment, of whose stored bytes one may be another. */
async function readerOf(first: number, damage: "times" | null = null) {
  const { head: headBytes, body } = await encodedSegment(SEGMENT);
  const head = decodeHead(headBytes);
  const blocks = { first, end: allBlocks(head).end };
  const stored = body.slice();
  if (damage !== null) stored[head.places.get(damage)!.starts[2]! + 20]! ^= 1;
  const bytesOf = (column: Parameters<typeof spanOf>[1]) => {
    const { from, bytes } = spanOf(head, column, blocks);
    return stored.subarray(from, from + bytes);
  };
  const reader = new SegmentReader(head, blocks, bytesOf, SEGMENT_ID);
  return { reader, wanted: { segmentId: SEGMENT_ID, head, blocks } };
}

for (const [threads, poolOf] of Object.entries(POOLS)) {
  Deno.test(`decodeBlocks: by ${threads}, whole segments and a few blocks`, async () => {
    const pool = poolOf();
    const memory = new SharedMemory(0);
    const [whole, few] = [await readerOf(0), await readerOf(1)];
    const [all, last] = await decodeBlocks(
      [whole.wanted, few.wanted],
      [whole.reader, few.reader],
      memory,
      (job) => pool.perform(job),
    );
    const { segmentId: _, ends: __, lazies: ___, filterBits: ____, slice: _____, ...expected } =
      loadedSegment(SEGMENT, SEGMENT_ID);
    assert.deepEqual(all!.columns, expected);
    const { firstPlace, columns } = last!;
    assert.equal(firstPlace, 16_384);
    for (const name of ["times", "names", "paths", "contexts", "traffics"] as const) {
      assert.deepEqual(columns[name], expected[name].subarray(firstPlace));
    }
    const people = columns.identities.length;
    assert.deepEqual(columns.identities, expected.identities.subarray(-people));
    // The first of them has events before.
    assert.deepEqual(columns.runBits.subarray(1), expected.runBits.subarray(1 - people));
    // The bytes that were sent are given back.
    const scope = new MemoryScope(memory);
    for (const decoded of [all!, last!]) scope.own(decoded.columns.times);
    scope.release();
    assert.equal(memory.bytes, 0);
    pool.close();
  });

  Deno.test(`decodeBlocks: by ${threads}, what is damaged is said to be`, async () => {
    const pool = poolOf();
    const memory = new SharedMemory(0);
    const { wanted, reader } = await readerOf(0, "times");
    await assert.rejects(
      decodeBlocks([wanted], [reader], memory, (job) => pool.perform(job)),
      {
        name: "SegmentUnreadable",
        message: "Segment 7 is damaged: block 2 of its times has a wrong checksum",
      },
    );
    assert.equal(memory.bytes, 0, "what it took is given back");
    pool.close();
  });
}

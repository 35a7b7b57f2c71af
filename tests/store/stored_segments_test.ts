import assert from "node:assert/strict";
import { allBlocks, type SegmentHead } from "../../src/store/segment_head.ts";
import { FETCH_BYTES_AIM } from "../../src/store/store_limits.ts";
import { fetchBlocks, fetchHeadsById } from "../../src/store/stored_segments.ts";
import { segmentOf } from "./segment_world.ts";
import { SegmentTable } from "./segment_table.ts";
import { newRow } from "../support/event_rows.ts";
import { fakeSql, int8 } from "../support/fake_sql.ts";

/** Notes how many bytes each statement asks for, and has nothing to give. */
function noting(asked: number[][]) {
  return fakeSql({
    binary(_text, params = []) {
      const sizes = String(params[3]).slice(1, -1).split(",").map(Number);
      asked.push(sizes);
      return Promise.resolve(sizes.map((_, i) => [int8(i + 1), new Uint8Array(0)]));
    },
  });
}

/** Segments of a block whose names take so many bytes each. */
function wantedOf(sizes: readonly number[]) {
  return sizes.map((bytes, i) => {
    const names = { starts: Float64Array.of(0, bytes), checksums: Uint32Array.of(0) };
    const head = { events: 1, blockEvents: 1, places: new Map([["names", names]]) };
    const blocks = { first: 0, end: 1 };
    return { segmentId: i + 1, head: head as unknown as SegmentHead, blocks };
  });
}

Deno.test("fetchBlocks: a statement asks for so many bytes, and one column may be more", async () => {
  const half = FETCH_BYTES_AIM / 2;
  const cases: [sizes: number[], asked: number[][]][] = [
    [[half, half], [[half, half]]],
    [[half, half + 1], [[half], [half + 1]]],
    [[1, 2 * FETCH_BYTES_AIM, 1], [[1], [2 * FETCH_BYTES_AIM], [1]]],
    [[0, 0], []],
    [[], []],
  ];
  for (const [sizes, asked] of cases) {
    const found: number[][] = [];
    const readers = await fetchBlocks(noting(found), 1, wantedOf(sizes), ["names", "paths"]);
    assert.equal(readers.length, sizes.length);
    assert.deepEqual(found, asked);
  }
});

Deno.test("fetchBlocks: a segment that is gone is a failure, and so is a column that was not asked for", async () => {
  const numbers = { identity: 1, name: 1, path: 9, context: 1, traffic: 1, title: 0, referrer: 0 };
  const event = { ...numbers, ms: 1, id: new Uint8Array(16), row: newRow() };
  const sql = new SegmentTable(new Map([[1, segmentOf([event])]]));
  const heads = await fetchHeadsById(sql, 1, [1, 2]);
  assert.deepEqual([...heads.keys()], [1]);
  const stored = heads.get(1)!;
  const wanted = { ...stored, blocks: allBlocks(stored.head) };
  const [reader] = await fetchBlocks(sql, 1, [wanted], ["names"]);
  assert.deepEqual([...reader!.integers("names")], [1]);
  assert.throws(() => reader!.integers("paths"), /paths was not fetched/);
  const gone = fakeSql({ binary: () => Promise.resolve([]) });
  await assert.rejects(fetchBlocks(gone, 1, wantedOf([5]), ["names"]), /replaced or deleted/);
});

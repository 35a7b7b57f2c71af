import assert from "node:assert/strict";
import { firstDepthFrom, pickedDepths, readDepths } from "../../src/timelines/scroll_depths.ts";
import { readerOf, segmentOf } from "../store/segment_world.ts";
import { newRow } from "../support/event_rows.ts";
import { idOf } from "./timeline_world.ts";

const [PAGE_VIEW, SCROLL] = [1, 3];

Deno.test("depths: only of scrolls with a known depth and page height, at most the whole page", async () => {
  const events = [
    { name: SCROLL, depth: 300, height: 1_200 },
    { name: PAGE_VIEW, depth: 300, height: 1_200 },
    { name: SCROLL, depth: null, height: 1_200 },
    { name: SCROLL, depth: 300, height: null },
    { name: SCROLL, depth: 300, height: 0 },
    { name: SCROLL, depth: 1_500, height: 1_200 },
  ];
  const segment = await segmentOf(events.map(({ name, depth, height }, i) => ({
    ...{ identity: 1, ms: 1_000 + i, id: idOf(i), name, path: 0, context: 1, traffic: 1 },
    ...{ title: 0, referrer: 0 },
    row: { ...newRow(), depth_px: depth, document_height: height },
  })));
  assert.deepEqual([...readDepths(readerOf(segment))], [0, 0.25, 5, 1]);
});

Deno.test("depths: the first from an event on, and those of picked events at their new places", () => {
  const depths = Float64Array.of(2, 0.5, 3, 0.75, 9, 1);
  const found = [0, 2, 3, 4, 9, 10].map((start) => firstDepthFrom(depths, start));
  assert.deepEqual(found, [0, 0, 2, 4, 4, 6]);
  assert.equal(firstDepthFrom(new Float64Array(0), 0), 0);
  assert.deepEqual([...pickedDepths(depths, Uint32Array.of(0, 2, 5, 9))], [1, 0.5, 3, 1]);
  assert.deepEqual([...pickedDepths(depths, Uint32Array.of(3))], [0, 0.75]);
  assert.deepEqual([...pickedDepths(depths, Uint32Array.of(1, 4))], []);
});

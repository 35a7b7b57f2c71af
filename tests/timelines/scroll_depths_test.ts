import assert from "node:assert/strict";
import { firstDepthFrom, pickedDepths, readDepths } from "../../src/timelines/scroll_depths.ts";
import { decodeHead } from "../../src/store/segment_head.ts";
import { BLOCK_TEXT_BYTES_AIM } from "../../src/store/store_limits.ts";
import { readerOf, segmentOf } from "../store/segment_world.ts";
import { newRow } from "../support/event_rows.ts";
import { idOf } from "./timeline_world.ts";

const [PAGE_VIEW, SCROLL] = [1, 3];

interface Event {
  readonly name: number;
  readonly depth: number | null;
  readonly height: number | null;
}

const segmentWith = (events: readonly Event[], text = "") =>
  segmentOf(events.map(({ name, depth, height }, i) => ({
    ...{ identity: 1, ms: 1_000 + i, id: idOf(i), name, path: 0, context: 1, traffic: 1 },
    ...{ title: 0, referrer: 0 },
    row: {
      ...newRow(),
      ...{ depth_px: depth, document_height: height, properties: `{"text":"${text}${i}"}` },
    },
  })));

Deno.test("depths: only of scrolls with a known depth and page height, at most the whole page", async () => {
  const events = [
    { name: SCROLL, depth: 300, height: 1_200 },
    { name: PAGE_VIEW, depth: 300, height: 1_200 },
    { name: SCROLL, depth: null, height: 1_200 },
    { name: SCROLL, depth: 300, height: null },
    { name: SCROLL, depth: 300, height: 0 },
    { name: SCROLL, depth: 1_500, height: 1_200 },
  ];
  assert.deepEqual([...readDepths(readerOf(await segmentWith(events)))], [0, 0.25, 5, 1]);
});

Deno.test("depths: of several blocks, also if only some of them are read", async () => {
  const scroll = (depth: number): Event => ({ name: SCROLL, depth, height: 100 });
  const events = [10, 20, 30, 40, 50, 60, 70].map(scroll);
  const segment = await segmentWith(events, "x".repeat(BLOCK_TEXT_BYTES_AIM / 4));
  assert.equal(decodeHead(segment.head).blockEvents, 3);
  const all = [0, 0.1, 1, 0.2, 2, 0.3, 3, 0.4, 4, 0.5, 5, 0.6, 6, 0.7];
  assert.deepEqual([...readDepths(readerOf(segment))], all);
  const some = readerOf(segment, { first: 1, end: 3 });
  assert.deepEqual([...readDepths(some)], [0, 0.4, 1, 0.5, 2, 0.6, 3, 0.7]);
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

import assert from "node:assert/strict";
import type { SegmentEvent } from "../support/segment_events.ts";
import {
  mergeable as allMergeable,
  partsOf,
  type SizedSegment,
} from "../../src/store/segment_tiers.ts";
import {
  MERGES_AT_ONCE_MAX,
  SEGMENT_EVENTS_MAX,
  SEGMENT_SPAN_MS,
  SEGMENT_TEXT_BYTES_MAX,
  SEGMENTS_MERGED,
} from "../../src/store/store_limits.ts";
import { batchOf } from "../support/event_batch.ts";
import { newRow } from "../support/event_rows.ts";

const HALF_EVENTS = SEGMENT_EVENTS_MAX / 2;
const HALF_BYTES = SEGMENT_TEXT_BYTES_MAX / 2;

function sized(...sizes: [events: number, text_bytes?: number, from_ms?: number][]) {
  return sizes.map(([events, text_bytes = 0, from_ms = 0], i): SizedSegment => ({
    ...{ segment_id: i + 1, events, text_bytes, from_ms },
  }));
}

/** The only merge, or null. */
function mergeable(stored: readonly SizedSegment[]): number[] | null {
  const merges = allMergeable(stored);
  assert.ok(merges.length <= 1);
  return merges[0] ?? null;
}

const times = <T>(count: number, one: T): T[] => Array<T>(count).fill(one);

Deno.test("tiers: eight segments of about one size are merged, and all smaller ones, not fewer, nor of other times", () => {
  assert.equal(mergeable(sized(...times(SEGMENTS_MERGED - 1, [1] as [number]))), null);
  assert.deepEqual(mergeable(sized(...times(SEGMENTS_MERGED + 1, [1] as [number]))), [
    ...[1, 2, 3, 4, 5, 6, 7, 8, 9],
  ]);
  assert.equal(mergeable(sized([8], ...times(7, [7] as [number]))), null);
  assert.deepEqual(mergeable(sized([9], [7], ...times(7, [63] as [number])))?.length, 9);
  assert.equal(mergeable(sized([64], ...times(8, [1] as [number])))?.length, 8);
  const other: [number, number, number] = [1, 0, SEGMENT_SPAN_MS];
  assert.equal(mergeable(sized(other, ...times(7, [1] as [number]))), null);
});

Deno.test("tiers: up to so many events, and those that have no room are passed by", () => {
  const eighth = SEGMENT_EVENTS_MAX / 8;
  assert.equal(mergeable(sized(...times(8, [eighth] as [number])))?.length, 8);
  assert.deepEqual(mergeable(sized(...times(8, [eighth + 1] as [number]))), [1, 2, 3, 4, 5, 6, 7]);
  assert.deepEqual(mergeable(sized(...times(8, [HALF_EVENTS] as [number]))), [1, 2]);
  assert.equal(mergeable(sized(...times(8, [HALF_EVENTS + 1] as [number]))), null);
});

Deno.test("tiers: up to so many bytes of texts", () => {
  assert.deepEqual(mergeable(sized(...times(8, [1, HALF_BYTES] as [number, number]))), [1, 2]);
  assert.equal(mergeable(sized(...times(8, [1, HALF_BYTES + 1] as [number, number]))), null);
  const large = Math.floor(SEGMENT_TEXT_BYTES_MAX * 3 / 16);
  const taken = mergeable(sized([1, 2], ...times(6, [1, large] as [number, number]), [1, 2]));
  assert.deepEqual(taken, [1, 2, 3, 4, 5, 6]);
});

function eventOf(ms: number): SegmentEvent {
  const numbers = { identity: 1, name: 1, path: 0, context: 1, traffic: 1, title: 0, referrer: 0 };
  return { ...numbers, ms, id: new Uint8Array(16), row: newRow() };
}

Deno.test("tiers: small segments of many spans of time are merged before all are listed anew", () => {
  const ofSpans = (count: number, events: number) =>
    Array.from({ length: count }, (_, i) => {
      const one: [number, number, number] = [events, 0, i * SEGMENT_SPAN_MS];
      return sized(...times(8, one));
    }).flat().map((segment, i) => ({ ...segment, segment_id: i + 1 }));
  const some = allMergeable(ofSpans(3, 1));
  assert.deepEqual(some, [0, 1, 2].map((span) => times(8, 0).map((_, i) => span * 8 + i + 1)));
  assert.equal(allMergeable(ofSpans(500, 1)).length, MERGES_AT_ONCE_MAX);
  assert.equal(allMergeable(ofSpans(5, SEGMENT_EVENTS_MAX / 16)).length, 2, "one of the largest");
});

Deno.test("parts: of one span of time each, on both sides of its ends", () => {
  const events = [-1, 0, SEGMENT_SPAN_MS - 1, SEGMENT_SPAN_MS].map((ms) => eventOf(ms));
  const parts = partsOf(batchOf(events)).map(({ order }) =>
    Array.from(order, (place) => events[place]!.ms)
  );
  assert.deepEqual(parts, [[-1], [0, SEGMENT_SPAN_MS - 1], [SEGMENT_SPAN_MS]]);
  assert.deepEqual(partsOf(batchOf([])), []);
});

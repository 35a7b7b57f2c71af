import type { Row } from "../db/sql.ts";
import { BatchColumns, type EventBatch } from "./batch_columns.ts";
import { NewEvents } from "./event_source.ts";
import { compareTimes, sortByTime } from "./id_codec.ts";
import {
  MERGES_AT_ONCE_MAX,
  SEGMENT_EVENTS_MAX,
  SEGMENT_SPAN_MS,
  SEGMENT_TEXT_BYTES_MAX,
  SEGMENTS_MERGED,
} from "./store_limits.ts";

/** The row of a segment, with what decides whether it is merged. */
export interface SizedSegment extends Row {
  readonly segment_id: number;
  readonly from_ms: number;
  readonly events: number;
  readonly text_bytes: number;
}

const spanNumber = (ms: number): number => Math.floor(ms / SEGMENT_SPAN_MS);

/** Whether two segments of this size could still be merged. */
function hasRoom({ events, text_bytes }: SizedSegment): boolean {
  return 2 * events <= SEGMENT_EVENTS_MAX && 2 * text_bytes <= SEGMENT_TEXT_BYTES_MAX;
}

/** The size class of a segment: each tier has eight times the events of the one below. */
const tierOf = ({ events }: SizedSegment): number =>
  Math.floor(Math.log(events) / Math.log(SEGMENTS_MERGED));

/** Returns the greatest tier that has enough segments to merge; -1: none. */
function fullTier(segments: readonly SizedSegment[]): number {
  let full = -1;
  for (const [tier, { length }] of Map.groupBy(segments, tierOf)) {
    if (length >= SEGMENTS_MERGED) full = Math.max(full, tier);
  }
  return full;
}

/**
 * Returns the segments of one span of time to merge: those of the highest full tier and of all tiers below,
 * oldest first, as many as fit into one segment. Null: no tier is full.
 */
function mergedInSpan(span: readonly SizedSegment[]): SizedSegment[] | null {
  const tier = fullTier(span);
  if (tier < 0) return null;
  let [events, textBytes] = [0, 0];
  return span.filter((segment) => {
    if (tierOf(segment) > tier) return false;
    events += segment.events;
    textBytes += segment.text_bytes;
    return events <= SEGMENT_EVENTS_MAX && textBytes <= SEGMENT_TEXT_BYTES_MAX;
  });
}

/**
 * Returns the ids of segments to merge, one list per span of time. There are many small merges, so that the
 * project's segments need not be listed again for each; in total they are at most as large as one merge may
 * be.
 */
export function mergeable(stored: readonly SizedSegment[]): number[][] {
  const bySpan = Map.groupBy(stored.filter(hasRoom), ({ from_ms }) => spanNumber(from_ms));
  const merges: number[][] = [];
  let [events, textBytes] = [0, 0];
  for (const span of bySpan.values()) {
    const merged = mergedInSpan(span);
    if (merged === null) continue;
    for (const segment of merged) {
      events += segment.events;
      textBytes += segment.text_bytes;
    }
    const isTooMuch = events > SEGMENT_EVENTS_MAX || textBytes > SEGMENT_TEXT_BYTES_MAX;
    if (isTooMuch && merges.length > 0) break;
    merges.push(merged.map(({ segment_id }) => segment_id));
    if (isTooMuch || merges.length === MERGES_AT_ONCE_MAX) break;
  }
  return merges;
}

/** Returns the places of a batch's events, sorted by identity, then by time and id. */
function sortedPlaces({ identities, moments, ids }: EventBatch): Uint32Array {
  const { length } = identities;
  // Identity and place as one number, as numbers are sorted without a call for each comparison.
  const keys = new Float64Array(length);
  for (let place = 0; place < length; place++) keys[place] = identities[place]! * length + place;
  keys.sort();
  const order = new Uint32Array(length);
  for (let i = 0; i < length; i++) order[i] = keys[i]! % length;
  for (let start = 0, end = 0; start < length; start = end) {
    const identity = identities[order[start]!]!;
    let isSorted = true;
    for (end++; end < length && identities[order[end]!] === identity; end++) {
      isSorted &&= compareTimes(moments, ids, order[end - 1]!, order[end]!) < 0;
    }
    // Mostly they are, as one's events arrive in the order of their times.
    if (!isSorted) sortByTime(order.subarray(start, end), moments, ids);
  }
  return order;
}

function areOfOneSpan(moments: Float64Array): boolean {
  const span = spanNumber(moments[0] ?? NaN);
  for (const ms of moments) if (spanNumber(ms) !== span) return false;
  return moments.length > 0;
}

/**
 * Divides a batch into parts that become one segment each: all events of one span of time. A batch of the
 * projection is far smaller than a segment may be.
 */
export function partsOf(batch: EventBatch): NewEvents[] {
  const { columns, moments } = batch;
  const places = sortedPlaces(batch);
  const batchColumns = new BatchColumns(batch);
  const texts = columns.textCount();
  if (areOfOneSpan(moments)) {
    return [new NewEvents(batchColumns, places, texts.total())];
  }
  const spans = Map.groupBy(places, (place) => spanNumber(moments[place]!));
  return [...spans.values()].map((inSpan) => {
    const order = Uint32Array.from(inSpan);
    texts.clear();
    const textBytes = order.reduce((sum, place) => sum + texts.add(place), 0);
    return new NewEvents(batchColumns, order, textBytes);
  });
}

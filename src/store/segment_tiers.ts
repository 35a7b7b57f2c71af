import type { Row } from "../db/sql.ts";
import type { EventBatch } from "./event_source.ts";
import { compareIds, ID_BYTES } from "./id_codec.ts";
import {
  SEGMENT_EVENTS_MAX,
  SEGMENT_SPAN_MS,
  SEGMENT_TEXT_BYTES_MAX,
  SEGMENTS_MERGED,
} from "./store_limits.ts";

/** What is asked of a segment before it is merged with others. */
export interface SizedSegment extends Row {
  readonly segment_id: number;
  readonly from_ms: number;
  readonly events: number;
  readonly text_bytes: number;
}

const spanNumber = (ms: number): number => Math.floor(ms / SEGMENT_SPAN_MS);

/** Whether two segments like this one could still be merged. */
function hasRoom({ events, text_bytes }: SizedSegment): boolean {
  return 2 * events <= SEGMENT_EVENTS_MAX && 2 * text_bytes <= SEGMENT_TEXT_BYTES_MAX;
}

/** Of about what size a segment is: a tier has eight times the events of the one below. */
const tierOf = ({ events }: SizedSegment): number =>
  Math.floor(Math.log(events) / Math.log(SEGMENTS_MERGED));

/** The greatest tier with enough segments; -1: none. */
function fullTier(segments: readonly SizedSegment[]): number {
  let full = -1;
  for (const [tier, { length }] of Map.groupBy(segments, tierOf)) {
    if (length >= SEGMENTS_MERGED) full = Math.max(full, tier);
  }
  return full;
}

/**
 * The segments of one span of time that are to become one: those of the greatest full tier and all
 * smaller ones, the oldest first, as many as are together small enough. Null where no tier is full.
 */
export function mergeable(stored: readonly SizedSegment[]): number[] | null {
  const bySpan = Map.groupBy(stored.filter(hasRoom), ({ from_ms }) => spanNumber(from_ms));
  for (const span of bySpan.values()) {
    const tier = fullTier(span);
    if (tier < 0) continue;
    let [events, textBytes] = [0, 0];
    const taken = span.filter((segment) => {
      if (tierOf(segment) > tier) return false;
      events += segment.events;
      textBytes += segment.text_bytes;
      return events <= SEGMENT_EVENTS_MAX && textBytes <= SEGMENT_TEXT_BYTES_MAX;
    });
    return taken.map(({ segment_id }) => segment_id);
  }
  return null;
}

/** Places of a batch's events, ascending by identity, then by time and id. */
function inOrder({ identities, moments, ids }: EventBatch): Uint32Array {
  const order = new Uint32Array(identities.length);
  const placesOf = Map.groupBy(identities.keys(), (place) => identities[place]!);
  const byTime = (a: number, b: number): number =>
    moments[a]! - moments[b]! || compareIds(ids, ID_BYTES * a, ids, ID_BYTES * b);
  let at = 0;
  for (const identity of Int32Array.from(placesOf.keys()).sort()) {
    const places = placesOf.get(identity)!;
    order.set(places.length > 1 ? places.sort(byTime) : places, at);
    at += places.length;
  }
  return order;
}

/** Events that a segment may hold. */
export interface BatchPart {
  /** Their places in the batch, in the order of a segment. */
  readonly order: Uint32Array;
  /** About how many bytes of text only they have. */
  readonly textBytes: number;
}

/** A batch in parts that a segment may hold: of one span of time, and not too large. */
export function partsOf(batch: EventBatch): BatchPart[] {
  const parts: BatchPart[] = [];
  const { columns, moments } = batch;
  const order = inOrder(batch);
  const spans = new Set(moments.map(spanNumber));
  for (const span of spans) {
    const own = spans.size === 1
      ? order
      : order.filter((place) => spanNumber(moments[place]!) === span);
    let [start, textBytes] = [0, 0];
    for (let at = 0; at < own.length; at++) {
      const characters = columns.charactersAt(own[at]!);
      const isFull = textBytes + characters > SEGMENT_TEXT_BYTES_MAX ||
        at - start === SEGMENT_EVENTS_MAX;
      if (isFull && at > start) {
        parts.push({ order: own.subarray(start, at), textBytes });
        [start, textBytes] = [at, 0];
      }
      textBytes += characters;
    }
    parts.push({ order: own.subarray(start), textBytes });
  }
  return parts;
}

import type { Row } from "../db/sql.ts";
import { compareEvents } from "./event_source.ts";
import type { SegmentEvent } from "./segment_event.ts";
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

/** About how many bytes of text only this event has. */
function textBytesOf({ row: { properties, extra, url_rest, url } }: SegmentEvent): number {
  return [properties, extra, url_rest, url]
    .reduce((sum, text) => sum + (text?.length ?? 0), 0);
}

/** Events in parts that a segment may hold: of one span of time, and not too large. */
export function partsOf(events: readonly SegmentEvent[]): SegmentEvent[][] {
  const parts: SegmentEvent[][] = [];
  for (const span of Map.groupBy(events, ({ ms }) => spanNumber(ms)).values()) {
    let textBytes = Infinity;
    for (const event of span.sort(compareEvents)) {
      const own = textBytesOf(event);
      textBytes += own;
      if (textBytes > SEGMENT_TEXT_BYTES_MAX || parts.at(-1)!.length === SEGMENT_EVENTS_MAX) {
        parts.push([]);
        textBytes = own;
      }
      parts.at(-1)!.push(event);
    }
  }
  return parts;
}

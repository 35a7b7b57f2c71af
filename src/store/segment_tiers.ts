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

/** The oldest segments of one tier that are together small enough; null where no tier is full. */
export function mergeable(stored: readonly SizedSegment[]): number[] | null {
  const tierOf = ({ from_ms, events }: SizedSegment) =>
    `${spanNumber(from_ms)} ${Math.floor(Math.log(events) / Math.log(SEGMENTS_MERGED))}`;
  for (const tier of Map.groupBy(stored.filter(hasRoom), tierOf).values()) {
    if (tier.length < SEGMENTS_MERGED) continue;
    let [events, textBytes] = [0, 0];
    const taken = tier.slice(0, SEGMENTS_MERGED).filter((segment) => {
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

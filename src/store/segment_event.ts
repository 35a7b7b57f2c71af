import type { EventRow } from "./event_row.ts";
import type { TimedEvent } from "./timed_events.ts";

/** One event of a project, with its dictionary numbers and what it is sorted by. */
export interface SegmentEvent extends Omit<TimedEvent, "eventId" | "isPassive"> {
  /** 16 bytes. */
  readonly id: Uint8Array;
  /** Ids of a term and of a referrer; 0: none. */
  readonly title: number;
  readonly referrer: number;
  readonly row: EventRow;
}

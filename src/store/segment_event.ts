import type { EventRow } from "./event_row.ts";

/** One event of a project, with its dictionary numbers and what it is sorted by. */
export interface SegmentEvent {
  /** An id of the table `identities`. */
  readonly identity: number;
  readonly ms: number;
  /** 16 bytes. */
  readonly id: Uint8Array;
  /** Ids of terms; path 0: none. */
  readonly name: number;
  readonly path: number;
  /** Id of a context; negative: a bot's. */
  readonly context: number;
  /** Id of a traffic row; 0: the event is in no session. */
  readonly traffic: number;
  /** Ids of a term and of a referrer; 0: none. */
  readonly title: number;
  readonly referrer: number;
  readonly row: EventRow;
}

import type { EventRow } from "./event_row.ts";

/** One event of a project, with its place among the others and its words' numbers. */
export interface SegmentEvent {
  /** Whose it is: see the table `identities`. */
  readonly identity: number;
  readonly ms: number;
  /** 16 bytes. */
  readonly id: Uint8Array;
  /** Ids of terms; path 0: none. */
  readonly name: number;
  readonly path: number;
  /** Of contexts: negative ones are bots'. */
  readonly context: number;
  /** 0: belongs to no session. */
  readonly traffic: number;
  /** Ids of terms, and of referrers; 0: none. */
  readonly title: number;
  readonly referrer: number;
  readonly row: EventRow;
}

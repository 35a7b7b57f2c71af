import type { IntegerColumn } from "./column.ts";
import { scrollsOf } from "./segment.ts";
import type { SegmentColumns } from "./stored_segment.ts";

/**
 * A segment as reads follow it: without the events' ids and properties, which are looked up where
 * they decide.
 */
export interface LoadedSegment extends SegmentColumns {
  readonly segmentId: number;
  /**
   * Of each run the bits of its events' names, see `nameBit`, and `BOT_BIT` where one is a bot's: for
   * a seldom name, and for bots, most runs need no look at their events.
   */
  readonly nameBits: Int32Array;
  /** Which events are scrolls, ascending: each has a depth. */
  readonly scrolls: Uint32Array;
  /** Bits of what a read asks of each event's properties; any column where it asks nothing. */
  readonly marks: IntegerColumn;
}

export const BOT_BIT = 1;

/** What stands for a name in `nameBits`: several names share a bit. */
export function nameBit(name: number): number {
  return 2 << name % 31;
}

type NamedColumns = Pick<SegmentColumns, "names" | "contexts" | "starts">;

function nameBitsOf({ names, contexts, starts }: NamedColumns): Int32Array {
  const bits = new Int32Array(starts.length - 1);
  for (let run = 0, at = 0; run < bits.length; run++) {
    let ofRun = 0;
    for (const end = starts[run + 1]!; at < end; at++) {
      ofRun |= nameBit(names[at]!) | Number(contexts[at]! < 0);
    }
    bits[run] = ofRun;
  }
  return bits;
}

/** A segment of which a read asks nothing yet. */
export function loadedSegment(segmentId: number, columns: SegmentColumns): LoadedSegment {
  return {
    ...columns,
    segmentId,
    nameBits: nameBitsOf(columns),
    scrolls: scrollsOf(columns),
    marks: columns.names,
  };
}

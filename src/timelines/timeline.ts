import type { LoadedSegment } from "./loaded_segment.ts";

/**
 * An actor's events in the order of time, then of the events' ids, as slices of segments: those
 * from the number `first` to before `end`. Used again for the next actor: copy what is kept.
 */
export interface Timeline {
  first: number;
  end: number;
  readonly segments: readonly LoadedSegment[];
  /** Of each slice: the place of its segment among `segments`. */
  segmentOf: Int32Array;
  /** And from which event there to before which one it goes. */
  starts: Int32Array;
  ends: Int32Array;
  /** And the bits of names that its events may have, and of bots: see `LoadedSegment`. */
  nameBits: Int32Array;
}

/** Bits of names and of paths, see `nameBit` and `pathBit`: runs that have none of either are passed over. */
export interface RunBits {
  readonly names: number;
  readonly paths: number;
}

/** What every run has a bit of. */
export const ANY_RUN: RunBits = { names: -1, paths: -1 };

/** The bits of all names that lie on it, and maybe of others. */
export function nameBitsOf({ first, end, nameBits }: Timeline): number {
  let bits = 0;
  for (let i = first; i < end; i++) bits |= nameBits[i]!;
  return bits;
}

/** Visits an actor with all that he did. */
export type VisitActor = (actor: number, timeline: Timeline) => void;

/** Twice as long, and the same so far. */
export function lengthened<T extends Int32Array | Float64Array>(list: T): T {
  const longer = list instanceof Int32Array
    ? new Int32Array(2 * list.length)
    : new Float64Array(2 * list.length);
  longer.set(list);
  return longer as T;
}

/** A timeline that is put together slice by slice. */
export class GrowingTimeline implements Timeline {
  readonly first = 0;
  end = 0;
  segmentOf = new Int32Array(64);
  starts = new Int32Array(64);
  ends = new Int32Array(64);
  /** All: which names lie on a part of a run is not known. */
  nameBits = new Int32Array(64).fill(-1);

  constructor(public segments: readonly LoadedSegment[] = []) {}

  clear(): void {
    this.end = 0;
  }

  /** Goes on with these events of a segment. */
  add(segment: number, start: number, end: number): void {
    const last = this.end - 1;
    if (last >= 0 && this.ends[last] === start && this.segmentOf[last] === segment) {
      this.ends[last] = end;
      return;
    }
    if (this.end === this.starts.length) {
      this.segmentOf = lengthened(this.segmentOf);
      this.starts = lengthened(this.starts);
      this.ends = lengthened(this.ends);
      this.nameBits = new Int32Array(this.ends.length).fill(-1);
    }
    this.segmentOf[this.end] = segment;
    this.starts[this.end] = start;
    this.ends[this.end++] = end;
  }
}

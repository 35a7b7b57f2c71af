import { lengthened } from "../store/growing_list.ts";
import type { LoadedSegment } from "./loaded_segment.ts";

/**
 * An actor's events ordered by time, then by id, as slices of segments: the slices from `first` to before
 * `end`. The object is reused for the next actor, so copy what is to be kept.
 */
export interface Timeline {
  first: number;
  end: number;
  readonly segments: readonly LoadedSegment[];
  /** By slice, the place of its segment among `segments`. */
  segmentOf: Int32Array;
  /** By slice, its first event in that segment, and the end of its events. */
  starts: Int32Array;
  ends: Int32Array;
  /** By slice, the bits that its events may have: see `LoadedSegment`. */
  runBits: Int32Array;
}

/** Bits of names and of paths, see `nameBit` and `pathBit`: runs without a bit of each are skipped. */
export interface RunBits {
  readonly names: number;
  readonly paths: number;
}

/** Skips no run. */
export const ANY_RUN: RunBits = { names: -1, paths: -1 };

/** Returns the bits of all events in a timeline, and maybe others. */
export function runBitsOf({ first, end, runBits }: Timeline): number {
  let bits = 0;
  for (let i = first; i < end; i++) bits |= runBits[i]!;
  return bits;
}

/** Returns when the last event of a timeline was. */
export function lastMsOf({ end, segments, segmentOf, ends }: Timeline): number {
  const { fromMs, times } = segments[segmentOf[end - 1]!]!;
  return fromMs + times[ends[end - 1]! - 1]!;
}

/**
 * Visits an actor with the actor's timeline.
 * @param whole with the events that the scan's filters on sessions leave out of `timeline`
 */
export type VisitActor = (actor: number, timeline: Timeline, whole: Timeline) => void;

/** A timeline that is put together slice by slice. */
export class GrowingTimeline implements Timeline {
  readonly first = 0;
  end = 0;
  segmentOf = new Int32Array(64);
  starts = new Int32Array(64);
  ends = new Int32Array(64);
  /** All bits, since those of a part of a run are not known. */
  runBits = new Int32Array(64).fill(-1);

  constructor(public segments: readonly LoadedSegment[] = []) {}

  clear(): void {
    this.end = 0;
  }

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
      this.runBits = new Int32Array(this.ends.length).fill(-1);
    }
    this.segmentOf[this.end] = segment;
    this.starts[this.end] = start;
    this.ends[this.end++] = end;
  }
}

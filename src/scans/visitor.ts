import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { ANY_RUN, type RunBits, type Timeline } from "../timelines/timeline.ts";
import type { Column } from "../timelines/shared_memory.ts";

/**
 * Follows actors one after the other, and counts: the map of a scan. It asks nobody for anything: what
 * it needs is in its inputs and on the segments, so that it runs on any thread.
 */
export interface Visitor<Counts> {
  /**
   * What it looks for: whoever has no run with a bit of these names and of these paths is not visited.
   * Absent: everybody is.
   */
  readonly bits?: RunBits;
  /** Everything that an actor did, in order, as far as it passes the scan's filters on sessions. */
  visit(actor: number, timeline: Timeline): void;
  /** What was counted, as plain data. Asked for once, at the end. */
  result(): Counts;
}

/**
 * A visitor as every thread knows it, by its name. Inputs and counts go from thread to thread, so they
 * are plain data; inputs' typed arrays in shared memory are not copied.
 */
export interface VisitorKind<Inputs, Counts> {
  readonly name: string;
  /** @param words see `FilterBits`; of the part that is visited */
  readonly create: (inputs: Inputs, words: readonly Int32Array[]) => Visitor<Counts>;
  /** The reduce: what two visitors, or visits of two parts, counted, in either of them. */
  readonly merge: (counts: Counts, more: Counts) => Counts;
}

// deno-lint-ignore no-explicit-any
export type AnyVisitorKind = VisitorKind<any, any>;

/** Adds numbers to others, place by place. */
export function addTo<T extends Column>(sums: T, more: T): T {
  for (let i = 0; i < more.length; i++) sums[i]! += more[i]!;
  return sums;
}

/** Numbers one behind the other. */
export function joined<T extends Column>(first: T, second: T): T {
  if (first.length === 0) return second;
  const Own = first.constructor as { new (length: number): T };
  const all = new Own(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Follows what an actor did in a segment, from the event `start` to before `end`. */
export type FollowRun = (
  actor: number,
  segment: LoadedSegment,
  start: number,
  end: number,
) => void;

/** Follows a timeline slice by slice, but those without any name or any path of these bits. */
export function followRuns(
  actor: number,
  { first, end, segments, segmentOf, starts, ends, nameBits }: Timeline,
  follow: FollowRun,
  { names, paths }: RunBits = ANY_RUN,
): void {
  for (let i = first; i < end; i++) {
    const bits = nameBits[i]!;
    if ((bits & names) === 0 || (bits & paths) === 0) continue;
    follow(actor, segments[segmentOf[i]!]!, starts[i]!, ends[i]!);
  }
}

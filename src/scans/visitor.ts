import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { ANY_RUN, type RunBits, type Timeline } from "../timelines/timeline.ts";
import type { Column } from "../timelines/shared_memory.ts";

/**
 * Visits actors one after the other, and counts: the map of a scan. Everything it needs is in its inputs and
 * the segments, so it runs on any thread.
 */
export interface Visitor<Counts> {
  /**
   * An actor is visited only if a run has one of these name bits and one of these path bits. Absent: all
   * actors are visited.
   */
  readonly bits?: RunBits;
  /**
   * Whether to visit an actor whose last event was at this time. Only scans with filters on sessions ask,
   * before they cut the timeline into sessions. Absent: every actor is visited.
   */
  readonly wants?: (lastMs: number) => boolean;
  /**
   * Visits the runs from `from` to before `to` of a segment: replaces `visit` in scans run by run. Absent:
   * `visit` is called for each run.
   * @param actorOf the actor of each identity
   */
  visitRuns?(segment: LoadedSegment, from: number, to: number, actorOf: Int32Array): void;
  /**
   * Visits an actor's events in order, without those that fail the scan's filters on sessions.
   * @param whole with those
   */
  visit(actor: number, timeline: Timeline, whole: Timeline): void;
  /** Returns the counts as plain data. Called once, at the end. */
  result(): Counts;
}

/**
 * A kind of visitor, which every thread knows by its name. Inputs and counts go from thread to thread, so
 * they are plain data; typed arrays of the inputs that are in shared memory are not copied.
 */
export interface VisitorKind<Inputs, Counts> {
  readonly name: string;
  /** @param words see `FilterBits`; those of the part that is visited */
  readonly create: (inputs: Inputs, words: readonly Int32Array[]) => Visitor<Counts>;
  /** The reduce: merges the counts of two visitors or two parts. May change and return either. */
  readonly merge: (counts: Counts, more: Counts) => Counts;
}

// deno-lint-ignore no-explicit-any
export type AnyVisitorKind = VisitorKind<any, any>;

/** Adds `more` to `sums`, place by place. Returns `sums`. */
export function addTo<T extends Column>(sums: T, more: T): T {
  for (let i = 0; i < more.length; i++) sums[i]! += more[i]!;
  return sums;
}

/** Returns one array after the other. */
export function joined<T extends Column>(first: T, second: T): T {
  if (first.length === 0) return second;
  const TypedArray = first.constructor as { new (length: number): T };
  const all = new TypedArray(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}

/** Makes columns of zeros. */
export function zeroColumns<N extends string>(names: readonly N[], length: number) {
  const columns = names.map((name) => [name, new Int32Array(length)]);
  return Object.fromEntries(columns) as Readonly<Record<N, Int32Array>>;
}

/** Adds `more` to `sums`, column by column. Returns `sums`. */
export function addColumns<T extends { readonly [N in keyof T]: Column }>(sums: T, more: T): T {
  for (const name in sums) addTo(sums[name], more[name]);
  return sums;
}

/** Appends the rows of `more` to those of `first`, column by column. */
export function joinColumns<T extends { readonly [N in keyof T]: Column }>(first: T, more: T): T {
  const all = { ...first };
  for (const name in all) all[name] = joined(first[name], more[name]);
  return all;
}

/** Handles an actor's events in a segment, from `start` to before `end`. */
export type FollowRun = (
  actor: number,
  segment: LoadedSegment,
  start: number,
  end: number,
) => void;

/** Calls `follow` for each slice of a timeline that has one of the name bits and one of the path bits. */
export function followRuns(
  actor: number,
  { first, end, segments, segmentOf, starts, ends, runBits }: Timeline,
  follow: FollowRun,
  { names, paths }: RunBits = ANY_RUN,
): void {
  for (let i = first; i < end; i++) {
    const bits = runBits[i]!;
    if ((bits & names) === 0 || (bits & paths) === 0) continue;
    follow(actor, segments[segmentOf[i]!]!, starts[i]!, ends[i]!);
  }
}

/** Makes a visitor that handles each run by itself. */
export function runVisitor<Counts>(
  follow: FollowRun,
  result: () => Counts,
  bits: RunBits = ANY_RUN,
): Visitor<Counts> {
  return {
    bits,
    visit: (actor, timeline) => followRuns(actor, timeline, follow, bits),
    visitRuns: (segment, from, to, actorOf) => {
      const { identities, starts, ends, runBits } = segment;
      for (let run = from; run < to; run++) {
        const ofRun = runBits[run]!;
        if ((ofRun & bits.names) === 0 || (ofRun & bits.paths) === 0) continue;
        follow(actorOf[identities[run]!]!, segment, starts[run]!, ends[run]!);
      }
    },
    result,
  };
}

import type { Sql } from "../db/sql.ts";
import { TIMELINE_IDS_LOOKED_UP } from "../limits.ts";
import { lengthened } from "../store/growing_list.ts";
import { yielding } from "../store/yielding.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import { room, type Take } from "./shared_memory.ts";
import { type ActorRuns, RunMerge } from "./timeline_merge.ts";
import { cutsOf, type TimelineColumns } from "./timeline_table.ts";

/** Actors between two checks of the clock. */
const ACTORS_UNTIMED = 1_000;

type Segments = readonly LoadedSegment[];

/** The columns that have an entry for each run. */
const RUN_COLUMNS = ["segmentOf", "starts", "ends", "runBits"] as const;

/** The runs of all actors; only those from `first` to before `end` have any. */
export interface RunTable extends Omit<TimelineColumns, "cuts"> {
  readonly first: number;
  readonly end: number;
}

/**
 * Counts the runs of each actor, at the place after it. The loops over runs are functions of their own: V8 compiles
 * these once, but parts of a longer function again with each call.
 * @returns the least and the greatest actor
 */
function countRuns(
  { identities }: LoadedSegment,
  actorOf: Int32Array,
  offsets: Int32Array,
): readonly [first: number, last: number] {
  let [first, last] = [actorOf.length, -1];
  for (let i = 0; i < identities.length; i++) {
    const actor = actorOf[identities[i]!]!;
    offsets[actor + 1]!++;
    if (actor < first) first = actor;
    if (actor > last) last = actor;
  }
  return [first, last];
}

/** Counts the runs of each actor and sums them up; a part of the timelines has runs of only some actors. */
async function offsetsOf(
  segments: Segments,
  actorOf: Int32Array,
): Promise<Pick<RunTable, "offsets" | "first" | "end">> {
  const yieldIfDue = yielding();
  const offsets = new Int32Array(actorOf.length + 1);
  let [first, last] = [actorOf.length, -1];
  for (const segment of segments) {
    const [least, greatest] = countRuns(segment, actorOf, offsets);
    first = Math.min(first, least);
    last = Math.max(last, greatest);
    await yieldIfDue();
  }
  for (let actor = first; actor <= last; actor++) offsets[actor + 1]! += offsets[actor]!;
  offsets.fill(offsets[last + 1]!, last + 1);
  return { offsets, first: Math.min(first, last + 1), end: last + 1 };
}

/** Writes the runs of a segment, each where the next one of its actor is written. */
function placeRuns(
  { identities, starts, ends, runBits }: LoadedSegment,
  number: number,
  actorOf: Int32Array,
  next: Int32Array,
  into: Pick<RunTable, typeof RUN_COLUMNS[number]>,
): void {
  const { segmentOf, starts: intoStarts, ends: intoEnds, runBits: intoBits } = into;
  for (let run = 0; run < identities.length; run++) {
    const at = next[actorOf[identities[run]!]!]!++;
    segmentOf[at] = number;
    intoStarts[at] = starts[run]!;
    intoEnds[at] = ends[run]!;
    intoBits[at] = runBits[run]!;
  }
}

/** Returns the runs of all actors: those of one actor side by side, in the order of the segments. */
async function runsOf(segments: Segments, actorOf: Int32Array): Promise<RunTable> {
  const { offsets, first, end } = await offsetsOf(segments, actorOf);
  const yieldIfDue = yielding();
  const column = () => new Int32Array(offsets[end]!);
  const runs = { segmentOf: column(), starts: column(), ends: column(), runBits: column() };
  const next = offsets.slice();
  for (const [number, segment] of segments.entries()) {
    placeRuns(segment, number, actorOf, next, runs);
    await yieldIfDue();
  }
  return { offsets, first, end, ...runs };
}

/** Returns by segment 1 if all of its events are later than those of all segments before it. */
function areLater(segments: Segments): Uint8Array {
  let lastMs = -Infinity;
  return Uint8Array.from(segments, ({ fromMs, toMs }) => {
    const isLater = fromMs > lastMs;
    lastMs = Math.max(lastMs, toMs);
    return Number(isLater);
  });
}

/** Whether a run of an actor begins after the one before it has ended. */
function follows(
  segments: Segments,
  { segmentOf, starts, ends }: ActorRuns,
  isLater: Uint8Array,
  run: number,
): boolean {
  const [before, here] = [segmentOf[run - 1]!, segmentOf[run]!];
  // Most segments follow each other in time, so that the times, which are slow to reach, need no check.
  if (here !== before && isLater[here] === 1) return true;
  const [last, next] = [segments[before]!, segments[here]!];
  const nextMs = next.fromMs + next.times[starts[run]!]!;
  return nextMs > last.toMs || nextMs > last.fromMs + last.times[ends[run - 1]! - 1]!;
}

/** Finds the actors, from `first` to before `end`, with a run that begins before the previous one has ended. */
function addInterleaved(
  segments: Segments,
  runs: ActorRuns,
  isLater: Uint8Array,
  first: number,
  end: number,
  found: number[],
): void {
  const { offsets } = runs;
  for (let actor = first; actor < end; actor++) {
    let run = offsets[actor]! + 1;
    const runEnd = offsets[actor + 1]!;
    while (run < runEnd && follows(segments, runs, isLater, run)) run++;
    if (run < runEnd) found.push(actor);
  }
}

/** Returns the actors with a run that begins before the previous one has ended. */
async function interleavedActors(
  segments: Segments,
  runs: ActorRuns & Pick<RunTable, "first" | "end">,
  isLater: Uint8Array,
): Promise<number[]> {
  const yieldIfDue = yielding();
  const interleaved: number[] = [];
  for (let actor = runs.first; actor < runs.end; actor += ACTORS_UNTIMED) {
    const end = Math.min(actor + ACTORS_UNTIMED, runs.end);
    addInterleaved(segments, runs, isLater, actor, end, interleaved);
    await yieldIfDue();
  }
  return interleaved;
}

/** The merged timelines of some actors, one after the other. */
class MergedTimelines {
  /** By actor, counted from the table's first: where the slices begin, and their number; 0: it is not merged. */
  readonly firsts: Int32Array;
  readonly counts: Int32Array;
  readonly #firstActor: number;
  segmentOf = new Int32Array(1_024);
  starts = new Int32Array(1_024);
  ends = new Int32Array(1_024);
  #length = 0;

  constructor({ first, end }: RunTable) {
    this.#firstActor = first;
    this.firsts = new Int32Array(end - first);
    this.counts = new Int32Array(end - first);
  }

  add(actor: number, { timeline: { end, segmentOf, starts, ends } }: RunMerge): void {
    while (this.#length + end > this.starts.length) {
      this.segmentOf = lengthened(this.segmentOf);
      this.starts = lengthened(this.starts);
      this.ends = lengthened(this.ends);
    }
    this.firsts[actor - this.#firstActor] = this.#length;
    this.counts[actor - this.#firstActor] = end;
    // A loop: most have a few slices, for which making a view of each list takes longer.
    for (let i = 0; i < end; i++, this.#length++) {
      this.segmentOf[this.#length] = segmentOf[i]!;
      this.starts[this.#length] = starts[i]!;
      this.ends[this.#length] = ends[i]!;
    }
  }
}

/** Merges actors whose order depends on ids, which are looked up for many actors together. */
async function mergeTied(
  sql: Sql,
  projectId: number,
  merge: RunMerge,
  actors: readonly number[],
  merged: MergedTimelines,
): Promise<void> {
  const { ties } = merge;
  const yieldIfDue = yielding();
  for (let from = 0, to = 0; from < actors.length;) {
    ties.clear();
    while (to < actors.length && ties.count < TIMELINE_IDS_LOOKED_UP) {
      merge.merge(actors[to++]!, "collect");
    }
    await ties.lookUp(sql, projectId);
    for (; from < to; from++) {
      merge.merge(actors[from]!, "order");
      merged.add(actors[from]!, merge);
      await yieldIfDue();
    }
  }
}

/** Returns the offsets of the runs, shifted by the slices that merging added. */
function offsetsWith({ offsets, first, end }: RunTable, { counts }: MergedTimelines): Int32Array {
  const moved = offsets.slice();
  let more = 0;
  for (let actor = first; actor < end; actor++) {
    const count = counts[actor - first]!;
    if (count > 0) more += count - (offsets[actor + 1]! - offsets[actor]!);
    moved[actor + 1]! += more;
  }
  return moved.fill(moved[end]!, end);
}

/** Writes the runs to `into`, with the merged timelines in place of the runs of the merged actors. */
function writeMerged(
  runs: RunTable,
  merged: MergedTimelines,
  into: Omit<TimelineColumns, "cuts">,
): void {
  const { offsets, segmentOf, starts, ends, runBits } = into;
  for (let actor = runs.first; actor < runs.end; actor++) {
    const isMerged = merged.counts[actor - runs.first]! > 0;
    const from = isMerged ? merged : runs;
    let i = isMerged ? merged.firsts[actor - runs.first]! : runs.offsets[actor]!;
    for (let at = offsets[actor]!; at < offsets[actor + 1]!; at++, i++) {
      segmentOf[at] = from.segmentOf[i]!;
      starts[at] = from.starts[i]!;
      ends[at] = from.ends[i]!;
      // The bits of a part of a run are not known.
      runBits[at] = isMerged ? -1 : runs.runBits[i]!;
    }
  }
}

/**
 * Copies the runs of all actors into one buffer of `take`, those of each actor in the order of time, then of ids,
 * which are looked up if events of the same millisecond are in different runs.
 * @param isLater by segment 1 if its events are later than all before it, so that times need no check
 */
export async function inOrder(
  sql: Sql,
  projectId: number,
  segments: Segments,
  runs: RunTable,
  isLater: Uint8Array,
  take: Take,
): Promise<Omit<TimelineColumns, "cuts">> {
  const merged = await mergedTimelines(sql, projectId, segments, runs, isLater);
  const offsets = merged === null ? runs.offsets : offsetsWith(runs, merged);
  const length = offsets[runs.end]!;
  const columns = room(take, {
    offsets: [offsets, offsets.length],
    segmentOf: [runs.segmentOf, length],
    starts: [runs.starts, length],
    ends: [runs.ends, length],
    runBits: [runs.runBits, length],
  });
  columns.offsets.set(offsets);
  if (merged === null) {
    for (const name of RUN_COLUMNS) columns[name].set(runs[name]);
  } else writeMerged(runs, merged, columns);
  return columns;
}

/**
 * Merges the timelines of actors with runs that interleave; null: there are none.
 * @param isLater see `inOrder`
 */
async function mergedTimelines(
  sql: Sql,
  projectId: number,
  segments: Segments,
  runs: RunTable,
  isLater: Uint8Array,
): Promise<MergedTimelines | null> {
  const interleaved = await interleavedActors(segments, runs, isLater);
  if (interleaved.length === 0) return null;
  const merge = new RunMerge(segments, runs);
  const merged = new MergedTimelines(runs);
  const tied: number[] = [];
  const yieldIfDue = yielding();
  for (const actor of interleaved) {
    if (merge.merge(actor, "give up")) merged.add(actor, merge);
    else tied.push(actor);
    await yieldIfDue();
  }
  await mergeTied(sql, projectId, merge, tied, merged);
  return merged;
}

/**
 * Builds the timelines of all actors in the segments, and yields to the event loop about every 10 ms. `sql`
 * must read the snapshot that the segments were loaded from, as ids may be looked up: see `inOrder`.
 * @param actorOf the actor of each identity
 * @param take allocates the buffer of all columns except the cuts
 */
export async function buildTimelines(
  sql: Sql,
  projectId: number,
  segments: Segments,
  actorOf: Int32Array,
  take: Take,
): Promise<TimelineColumns> {
  const runs = await runsOf(segments, actorOf);
  const columns = await inOrder(sql, projectId, segments, runs, areLater(segments), take);
  return { ...columns, cuts: cutsOf(columns, runs.first, runs.end) };
}

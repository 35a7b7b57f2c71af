import type { Sql } from "../db/sql.ts";
import { yielding } from "../store/yielding.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import { type MemoryScope, sharedColumn, zeros } from "./shared_memory.ts";
import { inOrder, type RunTable } from "./timeline_build.ts";
import type { TimelineColumns } from "./timeline_table.ts";

/** Actors between two checks of the clock. */
const ACTORS_UNTIMED = 1_000;

/** The whole timelines of some actors, in ascending order. */
export interface TouchedTimelines extends Omit<TimelineColumns, "offsets" | "cuts"> {
  readonly actors: Int32Array;
  /** By place among the actors, where the slices begin; then where the last ones end. */
  readonly offsets: Int32Array;
}

/** Cached timelines, of some of a scan's segments and of others. */
export interface KeptColumns {
  readonly columns: TimelineColumns;
  /** By the place of a segment in the columns, its place in the scan; -1: it is not scanned. */
  readonly placeOf: Int32Array;
}

interface Touched {
  /** In ascending order. */
  readonly actors: Int32Array;
  /** By actor, the place in `actors`; 0 for others. */
  readonly numberOf: Int32Array;
}

/** Returns the actors with a run in the segments. @param numberOf all zeros, for each actor one */
function touchedIn(
  segments: Iterable<LoadedSegment>,
  actorOf: Int32Array,
  numberOf: Int32Array,
): Touched {
  let count = 0;
  for (const { identities } of segments) {
    for (let run = 0; run < identities.length; run++) {
      const actor = actorOf[identities[run]!]!;
      count += 1 - numberOf[actor]!;
      numberOf[actor] = 1;
    }
  }
  const actors = new Int32Array(count);
  for (let actor = 0, number = 0; number < count; actor++) {
    if (numberOf[actor] === 0) continue;
    actors[number] = actor;
    numberOf[actor] = number++;
  }
  return { actors, numberOf };
}

/** Visits the cached slices of an actor that are in the scan's segments. */
function forEachKept(
  { columns: { offsets, segmentOf }, placeOf }: KeptColumns,
  actor: number,
  visit: (slice: number, place: number) => void,
): void {
  // Actors newer than the columns have none.
  if (actor + 1 >= offsets.length) return;
  for (let slice = offsets[actor]!; slice < offsets[actor + 1]!; slice++) {
    const place = placeOf[segmentOf[slice]!]!;
    if (place >= 0) visit(slice, place);
  }
}

/** Returns the runs of the actors: first the cached slices of each, then the runs in further segments. */
async function runsOf(
  segments: readonly LoadedSegment[],
  further: readonly number[],
  kept: KeptColumns,
  { actors, numberOf }: Touched,
  actorOf: Int32Array,
): Promise<RunTable> {
  const yieldIfDue = yielding();
  const offsets = new Int32Array(actors.length + 1);
  for (const [number, actor] of actors.entries()) {
    forEachKept(kept, actor, () => offsets[number + 1]!++);
    if (number % ACTORS_UNTIMED === 0) await yieldIfDue();
  }
  for (const place of further) {
    for (const identity of segments[place]!.identities) {
      offsets[numberOf[actorOf[identity]!]! + 1]!++;
    }
    await yieldIfDue();
  }
  for (let number = 0; number < actors.length; number++) offsets[number + 1]! += offsets[number]!;
  const column = () => new Int32Array(offsets.at(-1)!);
  const [segmentOf, starts, ends, runBits] = [column(), column(), column(), column()];
  const next = offsets.slice();
  const { columns } = kept;
  for (const [number, actor] of actors.entries()) {
    forEachKept(kept, actor, (slice, place) => {
      const at = next[number]!++;
      segmentOf[at] = place;
      starts[at] = columns.starts[slice]!;
      ends[at] = columns.ends[slice]!;
      runBits[at] = columns.runBits[slice]!;
    });
    if (number % ACTORS_UNTIMED === 0) await yieldIfDue();
  }
  for (const place of further) {
    const segment = segments[place]!;
    for (const [run, identity] of segment.identities.entries()) {
      const at = next[numberOf[actorOf[identity]!]!]!++;
      segmentOf[at] = place;
      starts[at] = segment.starts[run]!;
      ends[at] = segment.ends[run]!;
      runBits[at] = segment.runBits[run]!;
    }
    await yieldIfDue();
  }
  return { offsets, first: 0, end: actors.length, segmentOf, starts, ends, runBits };
}

/** Returns the actors with a run in further segments, and all of their runs. */
async function runsOfTouched(
  segments: readonly LoadedSegment[],
  further: readonly number[],
  kept: KeptColumns,
  actorOf: Int32Array,
  memory: MemoryScope,
): Promise<{ readonly actors: Int32Array; readonly runs: RunTable }> {
  // 2 MB for 577,000 people, in each read beside ingestion: garbage collectors would free it long after the read.
  const numberOf = zeros(memory.take, Int32Array, actorOf.length);
  try {
    const touched = touchedIn(further.map((place) => segments[place]!), actorOf, numberOf);
    const runs = await runsOf(segments, further, kept, touched, actorOf);
    return { actors: touched.actors, runs };
  } finally {
    memory.giveBack(numberOf);
  }
}

/**
 * Builds the timelines of the actors with a run in segments that cached columns do not have; those of all other
 * actors are in the columns. While events arrive there are always a few such segments, and building all
 * timelines for each read would take 100 ms and 30 MB for ten million events.
 * @param further the places of these segments
 * @param actorOf the actor of each identity, as when the columns were built
 * @param memory of the returned columns
 */
export async function touchedTimelines(
  sql: Sql,
  projectId: number,
  segments: readonly LoadedSegment[],
  further: readonly number[],
  kept: KeptColumns,
  actorOf: Int32Array,
  memory: MemoryScope,
): Promise<TouchedTimelines> {
  const { actors, runs } = await runsOfTouched(segments, further, kept, actorOf, memory);
  // Further segments may be of any time, so the times of all runs are compared.
  const isLater = new Uint8Array(segments.length);
  const columns = await inOrder(sql, projectId, segments, runs, isLater, memory.take);
  return { actors: sharedColumn(memory.take, actors), ...columns };
}

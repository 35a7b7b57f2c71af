import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import type { EventMatch } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import type { Range } from "../../query/range.ts";
import { resolveCondition, type ResolvedCondition } from "../../query/resolved_condition.ts";
import type { SavedSegment } from "../../query/saved_segment.ts";
import type { Scope } from "../../query/selection.ts";
import { chosenActors } from "../../scans/chosen_actors.ts";
import type { LoadTimelines } from "../../scans/filtered_timelines.ts";
import type { Read } from "../../scans/read.ts";
import type { SegmentCache } from "../../timelines/segment_cache.ts";
import { type MemoryScope, zeros } from "../../timelines/shared_memory.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import { goalsOf, loadSegment } from "../saved/segment_definitions.ts";

/** What `query.semantics` says about segments. */
export const SEGMENT_SEMANTICS =
  "A segment covers the events that also pass its filters, of the actors for whom its condition holds; new and first ever keep their meaning. " +
  "did: the actor has so many matching events in the span (range: `from` to `to` as requested; days: local days up to `to`), under `bots` and no filter; not did, and atMost alone, also hold without any. " +
  "firstSeen: the actor's first event ever is in the span. The condition is evaluated for each range separately: another range has other actors.";

/** Loads the segment that a parameter names; null: it names none. Throws `invalid_parameter` if it does not exist. */
export async function namedSegment(
  sql: Sql,
  projectId: number,
  parameter: "segment" | "compare",
  slug: string | null,
): Promise<SavedSegment | null> {
  if (slug === null) return null;
  const segment = await loadSegment(sql, projectId, slug);
  if (segment === null) throw invalidParameter(parameter, `There is no segment "${slug}".`);
  return segment;
}

/** Returns a function that looks up the events of the goals that a segment's condition names. */
async function matchesOfGoals(
  sql: Sql,
  projectId: number,
  { slug, actors }: SavedSegment,
): Promise<(goal: string) => EventMatch> {
  const goals = goalsOf(actors).length === 0 ? [] : await listGoals(sql, projectId);
  const matches = new Map(goals.map((goal) => [goal.slug, goal.match]));
  return (goal) => {
    const match = matches.get(goal);
    // The API does not delete a goal that a segment names, but data may be changed without it.
    if (match !== undefined) return match;
    throw new Problem(
      "conflict",
      `The segment "${slug}" names the goal "${goal}", which does not exist.`,
    );
  };
}

/** The services with which a read of a segment loads timelines. */
export interface SegmentLoading {
  /** Loads the timelines of all actors. */
  readonly load: LoadTimelines;
  readonly memory: MemoryScope;
  readonly segments: SegmentCache;
}

/** Returns the scope of a read of a segment: the segment's filters come before the read's own. */
export function scopeOfSegment(scope: Scope, { filters, actors }: SavedSegment): Scope {
  return { ...scope, filters: [...filters, ...scope.filters], choosesActors: actors !== null };
}

/** Returns bit i at the place of each actor for whom condition i holds; null: all conditions are the same. */
async function peopleByCondition(
  conditions: readonly ResolvedCondition[],
  choose: (condition: ResolvedCondition) => Promise<Uint8Array>,
  memory: MemoryScope,
): Promise<Uint8Array | null> {
  const bitsOf = Map.groupBy(conditions.keys(), (i) => JSON.stringify(conditions[i]));
  if (bitsOf.size < 2) return null;
  let people: Uint8Array | null = null;
  for (const bits of bitsOf.values()) {
    const chosen = await choose(conditions[bits[0]!]!);
    people ??= zeros(memory.take, Uint8Array, chosen.length);
    const mask = bits.reduce((all, bit) => all | 1 << bit, 0);
    for (let actor = 0; actor < chosen.length; actor++) people[actor]! |= chosen[actor]! * mask;
    memory.giveBack(chosen);
  }
  return people;
}

/**
 * Returns the read narrowed to a segment: with its filters, and with the timelines of its actors only. The
 * actors are chosen, for this range, when timelines are first loaded. Segment null: not narrowed.
 */
export function ofSegment<T extends Pick<Read, "sql" | "scope">>(
  { load, memory, segments }: SegmentLoading,
  read: T,
  segment: SavedSegment | null,
  range: Range,
): T & Pick<Read, "timelines" | "rowCache" | "journalBlocks" | "amongRanges"> {
  const { rowCache, journalBlocks } = segments;
  const whole = { ...read, rowCache, journalBlocks, timelines: load };
  if (segment === null) return whole;
  const { sql, scope: { projectId } } = read;
  const scope = scopeOfSegment(read.scope, segment);
  const { actors } = segment;
  if (actors === null) return { ...whole, scope };
  const choose = (condition: ResolvedCondition) =>
    chosenActors({ sql, scope: read.scope, load, segments }, condition, memory);
  const matches = () => matchesOfGoals(sql, projectId, segment);
  const chooseOwn = async () => await choose(resolveCondition(actors, range, await matches()));
  let chosen: Promise<Uint8Array> | null = null;
  const timelines: Read["timelines"] = async (span, filters, columns) =>
    await load(span, filters, columns, await (chosen ??= chooseOwn()));
  const amongRanges: Read["amongRanges"] = async (ranges) => {
    const matchOf = await matches();
    const conditions = ranges.map((one) => resolveCondition(actors, one, matchOf));
    const people = await peopleByCondition(conditions, choose, memory);
    if (people === null) return null;
    const anybody = zeros(memory.take, Uint8Array, people.length);
    for (let actor = 0; actor < people.length; actor++) anybody[actor] = Number(people[actor]! > 0);
    return {
      people,
      timelines: (span, filters, columns) => load(span, filters, columns, anybody),
    };
  };
  return { ...whole, scope, timelines, amongRanges };
}

import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Sql } from "../db/sql.ts";
import type { Done, FirstSeen, ResolvedCondition } from "../query/resolved_condition.ts";
import { matchFilters, type Scope, type Span } from "../query/selection.ts";
import { withoutTechnical } from "../query/technical.ts";
import { DONE_COUNTS, type DoneRows } from "./done_visitor.ts";
import { eventPasses } from "./event_tests.ts";
import type { Read } from "./read.ts";
import { selectTimelines } from "./selected_timelines.ts";

type Source = Pick<Read, "sql" | "scope" | "timelines">;

type Leaf = Done | FirstSeen;

function leavesOf(condition: ResolvedCondition): Leaf[] {
  if ("all" in condition) return condition.all.flatMap(leavesOf);
  if ("any" in condition) return condition.any.flatMap(leavesOf);
  return "not" in condition ? leavesOf(condition.not) : [condition];
}

/** Those whose spans meet, together: what lies between two that do not is never loaded. */
function groupsOf(some: readonly Done[]): { readonly span: Span; readonly asked: Done[] }[] {
  const groups: { span: Span; asked: Done[] }[] = [];
  for (const one of some.toSorted((a, b) => a.span.fromMs - b.span.fromMs)) {
    const last = groups.at(-1);
    if (last === undefined || one.span.fromMs > last.span.toMs) {
      groups.push({ span: one.span, asked: [one] });
      continue;
    }
    last.span = { ...last.span, toMs: Math.max(last.span.toMs, one.span.toMs) };
    last.asked.push(one);
  }
  return groups;
}

/** How often whoever did any of it did it, in one scan: by bots as the read takes them, under none of its filters. */
async function countDone(source: Source, span: Span, asked: readonly Done[]): Promise<DoneRows> {
  const { sql } = source;
  const scope: Scope = { ...source.scope, filters: [] };
  const filters = asked.flatMap(({ did }) => did.filters);
  const selected = await selectTimelines({ ...source, scope }, span, { filters });
  const lists = asked.map(({ did }) => withoutTechnical(matchFilters(did)));
  const { bits } = selected.timelines;
  const tests = await eventPasses(sql, scope, scope.bots, lists, bits);
  const inputs = {
    asked: asked.map(({ span, atLeast, atMost }, i) => ({
      test: tests[i]!,
      span,
      countMax: atMost === null ? atLeast : atMost + 1,
    })),
  };
  return await selected.scan(DONE_COUNTS, () => inputs, true);
}

async function firstSeenIn(sql: Sql, projectId: number, span: Span): Promise<Int32Array> {
  const [row] = await sql.query<{ actors: string | null }>(
    `SELECT ${packInts(["actor_id"])} AS actors FROM actors
    WHERE project_id = $1::int AND first_ms >= $2::int8 AND first_ms < $3::int8`,
    [projectId, span.fromMs, span.toMs],
  );
  return unpackInts(row!.actors);
}

/** One more than the largest id of an actor. */
async function actorIds(sql: Sql, projectId: number): Promise<number> {
  const [row] = await sql.query<{ ids: number }>(
    "SELECT coalesce(max(identity_id), 0) + 1 AS ids FROM identities WHERE project_id = $1::int",
    [projectId],
  );
  return row!.ids;
}

/** Of whom one condition holds: 1 at the place of each. */
function holdsOf(
  { atLeast, atMost }: Done,
  place: number,
  { actors, places, counts }: DoneRows,
  ids: number,
): Uint8Array {
  const sums = new Int32Array(ids);
  for (let i = 0; i < actors.length; i++) {
    if (places[i] === place) sums[actors[i]!]! += counts[i]!;
  }
  const most = atMost ?? Infinity;
  const holds = new Uint8Array(ids);
  for (let actor = 0; actor < ids; actor++) {
    holds[actor] = Number(sums[actor]! >= atLeast && sums[actor]! <= most);
  }
  return holds;
}

/** Of whom each condition that is no combination holds. */
async function readLeaves(
  source: Source,
  leaves: readonly Leaf[],
  ids: number,
): Promise<Map<Leaf, Uint8Array>> {
  const { sql, scope: { projectId } } = source;
  const found = new Map<Leaf, Uint8Array>();
  const done = leaves.flatMap((leaf) => "did" in leaf ? [leaf] : []);
  for (const { span, asked } of groupsOf(done)) {
    const rows = await countDone(source, span, asked);
    for (const [place, one] of asked.entries()) found.set(one, holdsOf(one, place, rows, ids));
  }
  for (const leaf of leaves) {
    if (!("firstSeen" in leaf)) continue;
    const holds = new Uint8Array(ids);
    for (const actor of await firstSeenIn(sql, projectId, leaf.firstSeen)) holds[actor] = 1;
    found.set(leaf, holds);
  }
  return found;
}

/** Combines what holds of each actor. */
function combined(
  condition: ResolvedCondition,
  found: ReadonlyMap<Leaf, Uint8Array>,
): Uint8Array {
  if ("not" in condition) return combined(condition.not, found).map((holds) => 1 - holds);
  const isAll = "all" in condition;
  const parts = isAll ? condition.all : "any" in condition ? condition.any : null;
  if (parts === null) return found.get(condition as Leaf)!;
  const [first, ...others] = parts.map((part) => combined(part, found));
  const all = first!.slice();
  for (const other of others) {
    for (let actor = 0; actor < all.length; actor++) {
      if (isAll) all[actor]! &= other[actor]!;
      else all[actor]! |= other[actor]!;
    }
  }
  return all;
}

/**
 * Of which actors a condition holds: 1 at the place of each, exactly. What they did is looked at
 * whenever the condition asks, in as many scans as there are spans that do not meet; when they were
 * first seen, the database tells. `source`: of all actors, and of one moment.
 */
export async function chosenActors(
  source: Source,
  condition: ResolvedCondition,
): Promise<Uint8Array> {
  const ids = await actorIds(source.sql, source.scope.projectId);
  const found = await readLeaves(source, leavesOf(condition), ids);
  return combined(condition, found);
}

import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Sql } from "../db/sql.ts";
import type { Done, FirstSeen, ResolvedCondition } from "../query/resolved_condition.ts";
import type { Span } from "../query/selection.ts";
import { readActors } from "../timelines/timelines.ts";
import { countDone, type DoneSource } from "./done_counts.ts";

type Leaf = Done | FirstSeen;

function leavesOf(condition: ResolvedCondition): Leaf[] {
  if ("all" in condition) return condition.all.flatMap(leavesOf);
  if ("any" in condition) return condition.any.flatMap(leavesOf);
  return "not" in condition ? leavesOf(condition.not) : [condition];
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

/** Of whom one condition holds: 1 at the place of each. `sums`: how often each did it. */
function holdsOf({ atLeast, atMost }: Done, sums: Int32Array): Uint8Array {
  const most = atMost ?? Infinity;
  const holds = new Uint8Array(sums.length);
  for (let actor = 0; actor < sums.length; actor++) {
    holds[actor] = Number(sums[actor]! >= atLeast && sums[actor]! <= most);
  }
  return holds;
}

/** Of whom each condition that is no combination holds. */
async function readLeaves(
  source: DoneSource,
  leaves: readonly Leaf[],
  ids: number,
): Promise<Map<Leaf, Uint8Array>> {
  const { sql, scope: { projectId }, segments } = source;
  const found = new Map<Leaf, Uint8Array>();
  const done = leaves.flatMap((leaf) => "did" in leaf ? [leaf] : []);
  const sums = new Map(done.map((one) => [one, new Int32Array(ids)]));
  await countDone(source, done, (one, { identities, counts }) => {
    const own = sums.get(one)!;
    for (let i = 0; i < identities.length; i++) own[identities[i]!]! += counts[i]!;
  });
  const actorOf = await readActors(sql, segments, projectId, ids - 1);
  for (const [one, own] of sums) {
    // What an identity did, its actor did.
    for (let identity = 0; identity < ids; identity++) {
      const actor = actorOf[identity]!;
      if (actor === identity) continue;
      own[actor]! += own[identity]!;
      own[identity] = 0;
    }
    found.set(one, holdsOf(one, own));
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
 * whenever the condition asks; when they were first seen, the database tells.
 */
export async function chosenActors(
  source: DoneSource,
  condition: ResolvedCondition,
): Promise<Uint8Array> {
  const ids = await actorIds(source.sql, source.scope.projectId);
  const found = await readLeaves(source, leavesOf(condition), ids);
  return combined(condition, found);
}

import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Sql } from "../db/sql.ts";
import type { Done, FirstSeen, ResolvedCondition } from "../query/resolved_condition.ts";
import type { Span } from "../query/selection.ts";
import { readActors } from "../timelines/actors.ts";
import { countDone, type DoneSource } from "./done_counts.ts";
import { idBounds } from "./id_bounds.ts";

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

/**
 * Returns 1 at the place of each actor for whom a condition holds.
 * @param sums how often each actor did what it asks for
 */
function actorsWithin({ atLeast, atMost }: Done, sums: Int32Array): Uint8Array {
  const most = atMost ?? Infinity;
  const holds = new Uint8Array(sums.length);
  for (let actor = 0; actor < sums.length; actor++) {
    holds[actor] = Number(sums[actor]! >= atLeast && sums[actor]! <= most);
  }
  return holds;
}

/** Returns, for each leaf of the condition, 1 at the place of each actor for whom it holds. */
async function readLeaves(
  source: DoneSource,
  leaves: readonly Leaf[],
  length: number,
): Promise<Map<Leaf, Uint8Array>> {
  const { sql, scope: { projectId }, segments } = source;
  const actorsOf = new Map<Leaf, Uint8Array>();
  const done = leaves.flatMap((leaf) => "did" in leaf ? [leaf] : []);
  const sums = new Map(done.map((one) => [one, new Int32Array(length)]));
  await countDone(source, done, (one, { identities, counts }) => {
    const sum = sums.get(one)!;
    for (let i = 0; i < identities.length; i++) sum[identities[i]!]! += counts[i]!;
  });
  const actorOf = await readActors(sql, segments, projectId, length - 1);
  for (const [one, sum] of sums) {
    // Moves the count of each identity to its actor.
    for (let identity = 0; identity < length; identity++) {
      const actor = actorOf[identity]!;
      if (actor === identity) continue;
      sum[actor]! += sum[identity]!;
      sum[identity] = 0;
    }
    actorsOf.set(one, actorsWithin(one, sum));
  }
  for (const leaf of leaves) {
    if (!("firstSeen" in leaf)) continue;
    const holds = new Uint8Array(length);
    for (const actor of await firstSeenIn(sql, projectId, leaf.firstSeen)) holds[actor] = 1;
    actorsOf.set(leaf, holds);
  }
  return actorsOf;
}

/** Combines the leaves of a condition, actor by actor: 1 where the whole condition holds. */
function combined(
  condition: ResolvedCondition,
  actorsOf: ReadonlyMap<Leaf, Uint8Array>,
): Uint8Array {
  if ("not" in condition) return combined(condition.not, actorsOf).map((holds) => 1 - holds);
  const isAll = "all" in condition;
  const parts = isAll ? condition.all : "any" in condition ? condition.any : null;
  if (parts === null) return actorsOf.get(condition as Leaf)!;
  const [first, ...others] = parts.map((part) => combined(part, actorsOf));
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
 * Returns 1 at the place of each actor for whom a condition holds. What actors did is counted in
 * segments, over whatever spans the condition names; when they were first seen comes from the database.
 */
export async function chosenActors(
  source: DoneSource,
  condition: ResolvedCondition,
): Promise<Uint8Array> {
  const { sql, scope: { projectId } } = source;
  const { identityMax } = await idBounds(sql, projectId, "identityMax");
  return combined(condition, await readLeaves(source, leavesOf(condition), identityMax + 1));
}

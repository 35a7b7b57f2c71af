import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Sql } from "../db/sql.ts";
import type { Done, FirstSeen, ResolvedCondition } from "../query/resolved_condition.ts";
import type { Span } from "../query/selection.ts";
import { readActors } from "../timelines/actors.ts";
import { MemoryScope, sharedColumn, zeros } from "../timelines/shared_memory.ts";
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
function actorsWithin(
  { atLeast, atMost }: Done,
  sums: Int32Array,
  { take }: MemoryScope,
): Uint8Array {
  const most = atMost ?? Infinity;
  const holds = zeros(take, Uint8Array, sums.length);
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
  memory: MemoryScope,
): Promise<Map<Leaf, Uint8Array>> {
  const { sql, scope: { projectId }, segments } = source;
  const actorsOf = new Map<Leaf, Uint8Array>();
  const done = leaves.flatMap((leaf) => "did" in leaf ? [leaf] : []);
  const sums = new Map(done.map((one) => [one, zeros(memory.take, Int32Array, length)]));
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
    actorsOf.set(one, actorsWithin(one, sum, memory));
  }
  for (const leaf of leaves) {
    if (!("firstSeen" in leaf)) continue;
    const holds = zeros(memory.take, Uint8Array, length);
    for (const actor of await firstSeenIn(sql, projectId, leaf.firstSeen)) holds[actor] = 1;
    actorsOf.set(leaf, holds);
  }
  return actorsOf;
}

/** Combines the leaves of a condition, actor by actor: 1 where the whole condition holds. */
function combined(
  condition: ResolvedCondition,
  actorsOf: ReadonlyMap<Leaf, Uint8Array>,
  memory: MemoryScope,
): Uint8Array {
  if ("not" in condition) {
    const all = sharedColumn(memory.take, combined(condition.not, actorsOf, memory));
    for (let actor = 0; actor < all.length; actor++) all[actor] = 1 - all[actor]!;
    return all;
  }
  const isAll = "all" in condition;
  const parts = isAll ? condition.all : "any" in condition ? condition.any : null;
  if (parts === null) return actorsOf.get(condition as Leaf)!;
  const [first, ...others] = parts.map((part) => combined(part, actorsOf, memory));
  const all = sharedColumn(memory.take, first!);
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
 * @param memory of the returned column
 */
export async function chosenActors(
  source: DoneSource,
  condition: ResolvedCondition,
  memory: MemoryScope,
): Promise<Uint8Array> {
  const { sql, scope: { projectId } } = source;
  const { identityMax } = await idBounds(sql, projectId, "identityMax");
  // 5 MB a leaf for 577,000 people, in each read of a cohort: garbage collectors would free it long after the read.
  const scratch = new MemoryScope(memory.memory);
  try {
    const actorsOf = await readLeaves(source, leavesOf(condition), identityMax + 1, scratch);
    const all = combined(condition, actorsOf, scratch);
    scratch.handOver(all, memory);
    return all;
  } finally {
    scratch.release();
  }
}

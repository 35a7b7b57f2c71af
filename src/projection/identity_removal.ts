import { arrayLiteral, isOneOf, type Sql } from "../db/sql.ts";
import { earliestCarriers } from "../store/anonymous_ids.ts";
import { type Identity, linkIdentities } from "./identities.ts";
import { deleteNumbered } from "./keyed_deletion.ts";

/** Returns identities by name: their kind, then their value. */
export async function namesOf(
  tx: Sql,
  projectId: number,
  identities: Iterable<number>,
): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; identity_id: number }>(
    `SELECT kind::text || value AS name, identity_id FROM identities
    WHERE project_id = (SELECT $1::int) AND ${isOneOf("identity_id", "$2::text::int[]")}`,
    [projectId, arrayLiteral([...identities])],
  );
  return new Map(rows.map(({ name, identity_id }) => [name, identity_id]));
}

/** Notes the numbers of removed identities: new ones get greater numbers. */
async function noteRemoved(tx: Sql, projectId: number, removed: readonly number[]): Promise<void> {
  await tx.query(
    `UPDATE projections SET removed_identity_id = $2::int
    WHERE project_id = $1::int AND removed_identity_id < $2::int`,
    [projectId, removed.reduce((last, id) => Math.max(last, id), 0)],
  );
}

/**
 * Removes identities that have no events left; their numbers are not given again. If events of other users carry
 * an anonymous id of a removed user, it is linked to the user of the earliest such event. Anonymous ids that belong
 * to no user need no such check, as no event with a user carries them.
 * @param actorOf the actor of each of the identities
 */
export async function removeIdentities(
  tx: Sql,
  projectId: number,
  actorOf: ReadonlyMap<number, number>,
): Promise<void> {
  const linked = [...actorOf].filter(([id, actor]) => id !== actor).map(([id]) => id);
  const idOf = new Map(
    [...await namesOf(tx, projectId, linked)].map(([name, id]) => [name.slice(1), id]),
  );
  const carriers = await earliestCarriers(tx, projectId, new Set(idOf.keys()));
  const relinked = [...carriers].map(([value, { identity, ms, eventId }]): Identity => ({
    id: idOf.get(value)!,
    actor: identity,
    linkedMs: ms,
    linkedBy: eventId,
  }));
  const kept = new Set(relinked.map(({ id }) => id));
  const removed = [...actorOf.keys()].filter((id) => !kept.has(id));
  await deleteNumbered(tx, projectId, "identities", "identity_id", removed);
  await noteRemoved(tx, projectId, removed);
  await linkIdentities(tx, projectId, relinked);
}

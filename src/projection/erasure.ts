import { arrayLiteral, type Sql } from "../db/sql.ts";
import { earliestCarriers } from "../store/anonymous_ids.ts";
import { eraseFromSegments } from "../store/segments.ts";
import { visitTimedEvents } from "../store/timed_events.ts";
import { type UsedWords, usedWords } from "../store/used_words.ts";
import { readActors } from "./actor_days.ts";
import { ActorUpdates } from "./actor_updates.ts";
import { deleteEventIds } from "./event_ids.ts";
import { identitiesOf, linkIdentities, raiseLinksVersion } from "./identities.ts";
import { eraseFromJournal } from "./journal_erasure.ts";
import { openKnownProject } from "./known_projects.ts";
import { beginProjection } from "./projected_project.ts";
import { rollUpsHold, startRecountAnew } from "./settling.ts";
import { sessionsOfActors } from "./stored_sessions.ts";

/** The numbers up to this one are of page_view, click and scroll, which stay. */
const RESERVED_MAX = 3;

const DELETE_WORDS = [
  "DELETE FROM terms WHERE project_id = $1::int AND term_id = ANY ($2::text::int[])",
  // The numbers of deleted terms are given out again.
  "DELETE FROM technical_names WHERE project_id = $1::int AND term_id = ANY ($2::text::int[])",
] as const;

/** Deletes those of the candidate words that no stored event uses any more. */
async function deleteUnused(tx: Sql, projectId: number, candidates: UsedWords): Promise<void> {
  const used = await usedWords(tx, projectId);
  const terms = [...candidates.terms.difference(used.terms)].filter((id) => id > RESERVED_MAX);
  if (terms.length > 0) {
    for (const statement of DELETE_WORDS) {
      await tx.query(statement, [projectId, arrayLiteral(terms)]);
    }
  }
  const referrers = [...candidates.referrers.difference(used.referrers)];
  if (referrers.length === 0) return;
  await tx.query(
    "DELETE FROM referrers WHERE project_id = $1::int AND referrer_id = ANY ($2::text::int[])",
    [projectId, arrayLiteral(referrers)],
  );
}

/** Returns identities by name: their kind, then their value. */
async function namesOf(
  tx: Sql,
  projectId: number,
  identities: ReadonlySet<number>,
): Promise<Map<string, number>> {
  const rows = await tx.query<{ name: string; identity_id: number }>(
    `SELECT kind::text || value AS name, identity_id FROM identities
    WHERE project_id = $1::int AND identity_id = ANY ($2::text::int[])`,
    [projectId, arrayLiteral([...identities])],
  );
  return new Map(rows.map(({ name, identity_id }) => [name, identity_id]));
}

/**
 * Erases identities that have no events left. An anonymous id that events of another identity carry is
 * linked to that identity instead, as if nobody else had ever had it: to the one of the earliest event.
 */
async function eraseIdentities(
  tx: Sql,
  projectId: number,
  identities: ReadonlyMap<string, number>,
): Promise<void> {
  const anonymous = [...identities.keys()].filter((name) => name.startsWith("a"));
  const carriers = await earliestCarriers(
    tx,
    projectId,
    new Set(anonymous.map((name) => name.slice(1))),
  );
  const relinked = [...carriers].map(([value, carrier]) => ({
    ...carrier,
    id: identities.get(`a${value}`)!,
  }));
  const kept = new Set(relinked.map(({ id }) => id));
  const erased = [...identities.values()].filter((id) => !kept.has(id));
  await tx.query(
    "DELETE FROM identities WHERE project_id = $1::int AND identity_id = ANY ($2::text::int[])",
    [projectId, arrayLiteral(erased)],
  );
  if (relinked.length > 0) await linkIdentities(tx, projectId, relinked);
}

/**
 * Erases one actor in the caller's transaction: all stored events, sessions and identities, and the names,
 * paths, titles and referrers that only this actor's events had, since they may identify a person. Project
 * the pending events first, so that none of the actor's are left in the journal.
 * @param isUpgrading whether to erase events that an upgrade has moved into the journal, too, even pending
 * @returns the ids of the erased events, and the names of the identities: their kind, then their value
 */
export async function eraseActor(
  tx: Sql,
  projectId: number,
  actorId: number,
  isUpgrading = false,
): Promise<{ eventIds: readonly string[]; names: ReadonlySet<string> }> {
  const project = await beginProjection(tx, projectId);
  if (project === null) return { eventIds: [], names: new Set() };
  const identities = new Set((await identitiesOf(tx, projectId, [actorId])).keys());
  const names = await namesOf(tx, projectId, identities);
  const updates = new ActorUpdates(await openKnownProject(tx, projectId, project), new Set());
  const eventIds: string[] = [];
  await visitTimedEvents(tx, projectId, { identities }, (event) => {
    updates.totals.add(event, -1);
    eventIds.push(event.eventId);
  });
  updates.goneSessions.push(...await sessionsOfActors(tx, projectId, [actorId]));
  for (const [actor, stored] of await readActors(tx, projectId, [actorId])) {
    updates.goneActors.set(actor, stored);
  }
  await updates.store(tx, projectId, rollUpsHold(project));
  if (!rollUpsHold(project)) await startRecountAnew(tx, projectId);
  const words = await usedWords(tx, projectId, identities);
  await eraseFromSegments(tx, projectId, identities);
  const aside = await eraseFromJournal(tx, projectId, new Set(names.keys()), isUpgrading);
  await deleteEventIds(tx, projectId, [...eventIds, ...aside]);
  await eraseIdentities(tx, projectId, names);
  await raiseLinksVersion(tx, projectId);
  await deleteUnused(tx, projectId, words);
  return { eventIds: [...eventIds, ...aside], names: new Set(names.keys()) };
}

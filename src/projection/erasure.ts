import type { Sql } from "../db/sql.ts";
import { eraseFromSegments } from "../store/segments.ts";
import { visitTimedEvents } from "../store/timed_events.ts";
import { usedWords } from "../store/used_words.ts";
import { readActors } from "./actor_days.ts";
import { ActorUpdates } from "./actor_updates.ts";
import { deleteEventIds } from "./keyed_deletion.ts";
import { identitiesOf, raiseLinksVersion } from "./identities.ts";
import { namesOf, removeIdentities } from "./identity_removal.ts";
import { eraseFromJournal } from "./journal_erasure.ts";
import { openKnownProject } from "./known_projects.ts";
import { beginProjection } from "./projected_project.ts";
import { storeRemoval } from "./settling.ts";
import { sessionsOfActors } from "./stored_sessions.ts";
import { type EarlySearch, removeUnused, searchEarly, textsOf, unusedOf } from "./unused_words.ts";

interface ErasedActor {
  readonly eventIds: readonly string[];
  readonly names: ReadonlySet<string>;
  readonly texts: readonly string[];
}

/** Finds the words that only this actor's events have, before `eraseActor` locks the project. */
export async function searchBeforeErasing(
  sql: Sql,
  projectId: number,
  actorId: number,
): Promise<EarlySearch | null> {
  const actorOf = await identitiesOf(sql, projectId, [actorId]);
  return await searchEarly(sql, projectId, { identities: new Set(actorOf.keys()) });
}

/**
 * Erases one actor in the caller's transaction: all stored events, sessions and identities, and the names,
 * paths, titles, referrers, campaign tags and places that only this actor's events had, since they may
 * identify a person. Project the pending events first, so that no event of the actor is left in the journal.
 * @param isUpgrading whether to erase also events that an upgrade has moved into the journal, even pending
 * ones
 * @param earlier the result of `searchBeforeErasing`; null: the whole search is done here
 * @returns the ids of the erased events, the names of the identities (their kind, then their value), and the
 * names, paths and titles that only these events had
 */
export async function eraseActor(
  tx: Sql,
  projectId: number,
  actorId: number,
  isUpgrading = false,
  earlier: EarlySearch | null = null,
): Promise<ErasedActor> {
  const project = await beginProjection(tx, projectId);
  if (project === null) return { eventIds: [], names: new Set(), texts: [] };
  const actorOf = await identitiesOf(tx, projectId, [actorId]);
  const identities = new Set(actorOf.keys());
  const names = await namesOf(tx, projectId, identities);
  const updates = new ActorUpdates(await openKnownProject(tx, projectId, project), new Set());
  const eventIds: string[] = [];
  const moments: number[] = [];
  await visitTimedEvents(tx, projectId, { identities }, (event) => {
    updates.totals.add(event, -1);
    eventIds.push(event.eventId);
    moments.push(event.ms);
  });
  updates.remove(await sessionsOfActors(tx, projectId, [actorId]));
  updates.replace(await readActors(tx, projectId, [actorId]));
  await storeRemoval(tx, projectId, project, updates);
  const words = await usedWords(tx, projectId, { identities });
  await eraseFromSegments(tx, projectId, identities);
  const aside = await eraseFromJournal(
    tx,
    projectId,
    new Set(names.keys()),
    moments,
    isUpgrading,
  );
  await removeIdentities(tx, projectId, actorOf);
  await raiseLinksVersion(tx, projectId);
  const unused = await unusedOf(tx, projectId, words, { identities }, earlier);
  const texts = await textsOf(tx, projectId, unused);
  await removeUnused(tx, projectId, unused);
  const erased = [...eventIds, ...aside];
  // Last, because from here on ingestion of one of these ids waits for this transaction.
  await deleteEventIds(tx, projectId, erased);
  return { eventIds: erased, names: new Set(names.keys()), texts };
}

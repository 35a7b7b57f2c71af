import { type Database, exists, type Sql } from "../db/sql.ts";
import { DAY_MS } from "../limits.ts";
import { sumOfProjects } from "../store/each_project.ts";
import { deleteFromSegmentsBefore } from "../store/segments.ts";
import { type EventSelection, visitTimedEvents } from "../store/timed_events.ts";
import { SegmentUnreadable } from "../store/segment_head.ts";
import { noWords, type UsedWords, usedWords } from "../store/used_words.ts";
import { readActors } from "./actor_days.ts";
import { ActorUpdates } from "./actor_updates.ts";
import { deleteEventIds } from "./keyed_deletion.ts";
import { actorsOf, identitiesOf, raiseLinksVersion } from "./identities.ts";
import { removeIdentities } from "./identity_removal.ts";
import { deleteFromJournalBefore } from "./journal_erasure.ts";
import { openKnownProject } from "./known_projects.ts";
import { beginProjection, type ProjectedProject } from "./projected_project.ts";
import { EXPIRED_DAYS_AIM, EXPIRED_EVENTS_AIM } from "./projection_limits.ts";
import { storeRemoval } from "./settling.ts";
import { sessionsBefore } from "./stored_sessions.ts";
import { allWords, type EarlySearch, removeUnused, searchEarly, unusedOf } from "./unused_words.ts";

/** Whether a project has stored anything of before an instant: without it, there is no transaction to begin. */
function hasEventsBefore(sql: Sql, projectId: number, beforeMs: number): Promise<boolean> {
  const before = `SELECT
    WHERE EXISTS (SELECT FROM segments WHERE project_id = $1::int AND from_ms < $2::int8)
      OR EXISTS (SELECT FROM journal WHERE project_id = $1::int AND from_ms < $2::int8)`;
  return exists(sql, before, [projectId, beforeMs]);
}

/** Returns the instants up to which successive transactions delete; the last is `beforeMs`. */
async function stepsBefore(
  sql: Sql,
  projectId: number,
  beforeMs: number,
  eventsAim: number,
): Promise<number[]> {
  const segments = await sql.query<{ from_ms: number; to_ms: number; events: number }>(
    `SELECT from_ms, to_ms, events FROM segments
    WHERE project_id = $1::int AND from_ms < $2::int8 ORDER BY to_ms`,
    [projectId, beforeMs],
  );
  const steps: number[] = [];
  let [events, fromMs] = [0, Infinity];
  for (const { from_ms, to_ms, events: segmentEvents } of segments) {
    events += segmentEvents;
    fromMs = Math.min(fromMs, from_ms);
    const isEnough = events >= eventsAim || to_ms - fromMs >= EXPIRED_DAYS_AIM * DAY_MS;
    if (!isEnough || to_ms >= beforeMs) continue;
    steps.push(to_ms + 1);
    [events, fromMs] = [0, Infinity];
  }
  return [...steps, beforeMs];
}

/**
 * Adds the remaining events of these actors; sessions that cross the instant keep their later part. @returns
 * the actors that have events left
 */
async function addRemains(
  tx: Sql,
  projectId: number,
  actors: ReadonlySet<number>,
  updates: ActorUpdates,
  beforeMs: number,
): Promise<Set<number>> {
  const endOf = new Map<number, number>();
  const sessions = await sessionsBefore(tx, projectId, beforeMs);
  updates.remove(sessions);
  for (const { actor, lastMs } of sessions) if (lastMs >= beforeMs) endOf.set(actor, lastMs);
  updates.replace(await readActors(tx, projectId, [...actors]));
  const actorOf = await identitiesOf(tx, projectId, actors);
  const remaining = new Set<number>();
  const identities = new Set(actorOf.keys());
  await visitTimedEvents(tx, projectId, { identities }, (event) => {
    const actor = actorOf.get(event.identity)!;
    remaining.add(actor);
    if (event.ms <= (endOf.get(actor) ?? -Infinity)) updates.add(event, actor);
    else updates.sightings.add(actor, event);
  });
  return remaining;
}

/**
 * Deletes events before `beforeMs` (from the journal, before `endMs`), and adds their words to `words`.
 * @returns the ids of the deleted events, which are still known
 */
async function deleteStep(
  tx: Sql,
  projectId: number,
  project: ProjectedProject,
  { beforeMs, endMs, words }: { beforeMs: number; endMs: number; words: UsedWords },
): Promise<string[]> {
  // The first step clears the journal up to the end; later ones find only what was projected since.
  const aside = await deleteFromJournalBefore(tx, projectId, endMs);
  const updates = new ActorUpdates(await openKnownProject(tx, projectId, project), new Set());
  const identities = new Set<number>();
  const eventIds: string[] = [];
  await visitTimedEvents(tx, projectId, { beforeMs }, (event) => {
    identities.add(event.identity);
    eventIds.push(event.eventId);
    updates.totals.add(event, -1);
  });
  if (eventIds.length === 0) return aside;
  await usedWords(tx, projectId, { beforeMs }, words);
  await deleteFromSegmentsBefore(tx, projectId, beforeMs);
  const actors = await actorsOf(tx, projectId, identities);
  const remaining = await addRemains(tx, projectId, actors, updates, beforeMs);
  await storeRemoval(tx, projectId, project, updates);
  const expired = await identitiesOf(tx, projectId, actors.difference(remaining));
  await removeIdentities(tx, projectId, expired);
  return [...eventIds, ...aside];
}

/**
 * Removes the words that no event has any more. If a segment is damaged, its words are unknown, so all stay.
 * @returns whether they are removed
 */
async function removeWords(
  tx: Sql,
  projectId: number,
  words: UsedWords,
  leaving: EventSelection,
  earlier: EarlySearch | null,
): Promise<boolean> {
  try {
    await removeUnused(tx, projectId, await unusedOf(tx, projectId, words, leaving, earlier));
    return true;
  } catch (error) {
    if (!(error instanceof SegmentUnreadable)) throw error;
    return false;
  }
}

/** Returns the words to check: if an earlier removal was interrupted, all of the project's; else none. */
async function wordsLeft(sql: Sql, projectId: number): Promise<UsedWords | null> {
  const [row] = await sql.query<{ words_left: boolean }>(
    "SELECT words_left FROM projections WHERE project_id = $1::int",
    [projectId],
  );
  return row?.words_left === true ? await allWords(sql, projectId) : null;
}

/** Records whether words of deleted events may remain. */
async function noteWordsLeft(tx: Sql, projectId: number, areLeft: boolean): Promise<void> {
  await tx.query(
    `UPDATE projections SET words_left = $2::bool
    WHERE project_id = $1::int AND words_left <> $2::bool`,
    [projectId, areLeft],
  );
}

/**
 * Deletes all events before an instant from a project, as if they had never been stored: sessions that cross
 * the instant keep their later part, and first sightings are found again. The owner of an anonymous id stays
 * known while that user has events left. Names, paths, titles, referrers, campaign tags and places that no
 * event has any more go with the last of them, also those of an interrupted deletion. Pending events are left
 * alone.
 * @param eventsAim about how many events one transaction deletes
 * @returns how many events were deleted
 */
export async function deleteEventsBefore(
  database: Database,
  projectId: number,
  beforeMs: number,
  eventsAim = EXPIRED_EVENTS_AIM,
): Promise<number> {
  let events = 0;
  const left = await wordsLeft(database, projectId);
  if (left === null && !await hasEventsBefore(database, projectId, beforeMs)) return 0;
  const words = left ?? noWords();
  for (const stepMs of await stepsBefore(database, projectId, beforeMs, eventsAim)) {
    // Only once, because it searches all remaining events.
    const isLast = stepMs === beforeMs;
    const earlier = isLast ? await searchEarly(database, projectId, { beforeMs }, words) : null;
    events += await database.transaction(async (tx) => {
      const project = await beginProjection(tx, projectId);
      if (project === null) return 0;
      const step = { beforeMs: stepMs, endMs: beforeMs, words };
      const eventIds = await deleteStep(tx, projectId, project, step);
      if (left === null && events + eventIds.length === 0) return 0;
      const areGone = isLast && await removeWords(tx, projectId, words, { beforeMs }, earlier);
      await noteWordsLeft(tx, projectId, !areGone);
      // Each raise makes reads and the projection reload what they cache of the project.
      if (eventIds.length > 0 || areGone) await raiseLinksVersion(tx, projectId);
      // Last, because from here on ingestion of one of these ids waits for this transaction.
      await deleteEventIds(tx, projectId, eventIds);
      return eventIds.length;
    });
  }
  return events;
}

/**
 * Deletes events older than their project's `retentionDays`. A project with a damaged segment keeps its
 * events, and fails after the others have had their turn.
 * @returns how many were deleted
 */
export async function deleteExpiredEvents(database: Database, now: Date): Promise<number> {
  const projects = await database.query<{ project_id: number; before: Date }>(
    `SELECT project_id, $1::text::timestamptz - make_interval(days => retention_days) AS before
    FROM projects WHERE retention_days IS NOT NULL`,
    [now.toISOString()],
  );
  const beforeOf = new Map(
    projects.map(({ project_id, before }) => [project_id, before.getTime()]),
  );
  return await sumOfProjects(
    [...beforeOf.keys()],
    (projectId) => deleteEventsBefore(database, projectId, beforeOf.get(projectId)!),
  );
}

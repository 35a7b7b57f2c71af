import { arrayLiteral, type Database, type Sql } from "../db/sql.ts";
import { cutSegmentsBefore } from "../store/segments.ts";
import { visitTimedEvents } from "../store/timed_events.ts";
import { readActors } from "./actor_days.ts";
import { Arrivals } from "./arrivals.ts";
import { forgetIds } from "./event_ids.ts";
import { actorsOf, identitiesOf, raiseLinksVersion } from "./identities.ts";
import { forgetFromJournal } from "./journal_erasure.ts";
import { newlyKnown } from "./known_projects.ts";
import { beginProjection, type ProjectedProject } from "./projected_project.ts";
import { FORGOTTEN_EVENTS_AIM } from "./projection_limits.ts";
import { rollUpsHold, startRecountAnew } from "./settling.ts";
import { sessionsBefore } from "./stored_sessions.ts";

/** Instants up to which one transaction after the other forgets, the last of them `beforeMs`. */
async function stepsBefore(
  sql: Sql,
  projectId: number,
  beforeMs: number,
  eventsAim: number,
): Promise<number[]> {
  const segments = await sql.query<{ to_ms: number; events: number }>(
    `SELECT to_ms, events FROM segments
    WHERE project_id = $1::int AND from_ms < $2::int8 ORDER BY to_ms`,
    [projectId, beforeMs],
  );
  const steps: number[] = [];
  let events = 0;
  for (const { to_ms, events: own } of segments) {
    events += own;
    if (events < eventsAim || to_ms >= beforeMs) continue;
    steps.push(to_ms + 1);
    events = 0;
  }
  return [...steps, beforeMs];
}

/** What is left of whom the instant touches: sessions that cross it keep their later part. */
async function addRemains(
  tx: Sql,
  projectId: number,
  actors: ReadonlySet<number>,
  arrivals: Arrivals,
  beforeMs: number,
): Promise<Set<number>> {
  const endOf = new Map<number, number>();
  for (const session of await sessionsBefore(tx, projectId, beforeMs)) {
    arrivals.gone.push(session);
    if (session.lastMs >= beforeMs) endOf.set(session.actor, session.lastMs);
  }
  for (const [actor, stored] of await readActors(tx, projectId, [...actors])) {
    arrivals.left.set(actor, stored);
  }
  const actorOf = await identitiesOf(tx, projectId, actors);
  const alive = new Set<number>();
  const identities = new Set(actorOf.keys());
  await visitTimedEvents(tx, projectId, { identities }, (event) => {
    const actor = actorOf.get(event.identity)!;
    alive.add(actor);
    if (event.ms <= (endOf.get(actor) ?? -Infinity)) arrivals.add(event, actor);
    else arrivals.sightings.add(actor, event);
  });
  return alive;
}

async function forgetStep(
  tx: Sql,
  projectId: number,
  project: ProjectedProject,
  beforeMs: number,
  endMs: number,
): Promise<number> {
  // All of it in the first step: the next ones find what was projected since.
  const aside = await forgetFromJournal(tx, projectId, endMs);
  await forgetIds(tx, projectId, aside);
  const arrivals = new Arrivals(await newlyKnown(tx, projectId, project), new Set());
  const identities = new Set<number>();
  const eventIds: string[] = [];
  await visitTimedEvents(tx, projectId, { beforeMs }, (event) => {
    identities.add(event.identity);
    eventIds.push(event.eventId);
    arrivals.totals.add(event, -1);
  });
  if (eventIds.length === 0) return aside.length;
  await cutSegmentsBefore(tx, projectId, beforeMs);
  const actors = await actorsOf(tx, projectId, identities);
  const alive = await addRemains(tx, projectId, actors, arrivals, beforeMs);
  await arrivals.store(tx, projectId, rollUpsHold(project));
  if (!rollUpsHold(project)) await startRecountAnew(tx, projectId);
  const strangers = await identitiesOf(tx, projectId, actors.difference(alive));
  await tx.query(
    "DELETE FROM identities WHERE project_id = $1::int AND identity_id = ANY ($2::text::int[])",
    [projectId, arrayLiteral([...strangers.keys()])],
  );
  await forgetIds(tx, projectId, eventIds);
  await raiseLinksVersion(tx, projectId);
  return eventIds.length + aside.length;
}

/**
 * Takes everything before an instant out of a project, as if those events had never been stored:
 * sessions that cross the instant keep their later part, and first sightings are found anew. Whom an
 * anonymous id belongs to stays known while that user has events left. What is pending is left alone.
 * @param eventsAim of about how many events one transaction is
 * @returns how many events were there
 */
export async function forgetBefore(
  database: Database,
  projectId: number,
  beforeMs: number,
  eventsAim = FORGOTTEN_EVENTS_AIM,
): Promise<number> {
  let events = 0;
  for (const step of await stepsBefore(database, projectId, beforeMs, eventsAim)) {
    events += await database.transaction(async (tx) => {
      const project = await beginProjection(tx, projectId);
      return project === null ? 0 : await forgetStep(tx, projectId, project, step, beforeMs);
    });
  }
  return events;
}

/**
 * Forgets the events that are older than their project's `retentionDays`. @returns how many those were
 */
export async function forgetExpired(database: Database, now: Date): Promise<number> {
  const projects = await database.query<{ project_id: number; before: Date }>(
    `SELECT project_id, $1::text::timestamptz - make_interval(days => retention_days) AS before
    FROM projects WHERE retention_days IS NOT NULL`,
    [now.toISOString()],
  );
  let events = 0;
  for (const { project_id, before } of projects) {
    events += await forgetBefore(database, project_id, before.getTime());
  }
  return events;
}

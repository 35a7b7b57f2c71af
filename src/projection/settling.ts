import type { Sql } from "../db/sql.ts";
import { visitTimedEvents } from "../store/timed_events.ts";
import { type ActorChange, Sightings, writeActors } from "./actor_days.ts";
import type { ActorUpdates } from "./actor_updates.ts";
import { reclassifyTraffic, RULES_VERSION } from "./dictionaries.ts";
import type { KnownProject } from "./known_projects.ts";
import { hasCurrentRules, type ProjectedProject } from "./projected_project.ts";
import { RECOUNT_SLICE_ACTORS } from "./projection_limits.ts";
import { EventTotals } from "./changes.ts";
import { clearRollups, rollUp } from "./rollups.ts";
import { sessionsOfActors } from "./stored_sessions.ts";

/** What one transaction needs to settle a project. */
interface Settling {
  readonly tx: Sql;
  readonly projectId: number;
  readonly project: ProjectedProject;
  readonly known: KnownProject;
  /** Whether the transaction's time is over. */
  readonly isOver: () => boolean;
}

/** Returns the actor of each identity that belongs to an actor from `from` to before `to`. */
async function actorsBetween(tx: Sql, projectId: number, from: number, to: number) {
  const rows = await tx.query<{ identity_id: number; actor_id: number }>(
    `SELECT identity_id, actor_id FROM identities
    WHERE project_id = $1::int AND identity_id >= $2::int AND identity_id < $3::int
      AND actor_id = identity_id
    UNION ALL
    SELECT identity_id, actor_id FROM identities
    WHERE project_id = $1::int AND actor_id >= $2::int AND actor_id < $3::int
      AND actor_id <> identity_id`,
    [projectId, from, to],
  );
  return new Map(rows.map(({ identity_id, actor_id }) => [identity_id, actor_id]));
}

/** Counts the rollups of some actors from their sessions and events, in the project's local days. */
async function recountSlice(
  { tx, projectId, known: { days, values, dictionaries: { technical } } }: Settling,
  from: number,
  to: number,
): Promise<void> {
  const actorOf = await actorsBetween(tx, projectId, from, to);
  if (actorOf.size === 0) return;
  const totals = new EventTotals(days, technical);
  const sightings = new Sightings(days, technical);
  const identities = new Set(actorOf.keys());
  await visitTimedEvents(tx, projectId, { identities }, (event) => {
    totals.add(event, 1);
    sightings.add(actorOf.get(event.identity)!, event);
  });
  const actors = sightings.actors().map((actor): ActorChange => ({
    actor,
    before: null,
    after: sightings.mergedWith(actor, null),
  }));
  const allActors = new Set(actorOf.values());
  const came = await sessionsOfActors(tx, projectId, [...allActors]);
  await rollUp(
    tx,
    { projectId, days, values },
    { totals, gone: [], came, stored: new Map(), actors, newActors: allActors },
  );
  await writeActors(tx, projectId, actors);
}

/** Recounts all actors from `from` on, slice by slice. @returns where to continue; null: all are done */
async function bySlices(settling: Settling, from: number): Promise<number | null> {
  const { tx, projectId, isOver } = settling;
  const [last] = await tx.query<{ id: number | null }>(
    "SELECT max(identity_id) AS id FROM identities WHERE project_id = $1::int",
    [projectId],
  );
  for (let next = from; next <= (last?.id ?? -1); next += RECOUNT_SLICE_ACTORS) {
    if (next > from && isOver()) return next;
    await recountSlice(settling, next, next + RECOUNT_SLICE_ACTORS);
  }
  return null;
}

/**
 * Settles a project, as far as one transaction may: after a change of the site, the time zone or the channel
 * rules, it reclassifies and recounts the history. Until all of it is recounted, the rollups have no time
 * zone, and reads do without them.
 * @returns whether everything is settled, so that new events can be projected
 */
export async function settle(settling: Settling): Promise<boolean> {
  const { tx, projectId, project, known: { values } } = settling;
  const { site_host, timezone, known_timezone, recount_timezone, recounted_to } = project;
  const hasRules = hasCurrentRules(project);
  if (hasRules && timezone === known_timezone) return true;
  const isBegun = hasRules && recount_timezone === timezone && recounted_to !== null;
  if (!isBegun) {
    if (!hasRules) {
      await reclassifyTraffic(tx, projectId, site_host);
      await values.open(tx, projectId);
    }
    await clearRollups(tx, projectId);
  }
  const next = await bySlices(settling, isBegun ? recounted_to : 0);
  await tx.query(
    `UPDATE projections SET site_host = $2::text, rules_version = $3::int,
      recount_timezone = $4::text, recounted_to = $5::int,
      timezone = CASE WHEN $5::int IS NULL THEN $4::text END
    WHERE project_id = $1::int`,
    [projectId, site_host, RULES_VERSION, timezone, next],
  );
  return next === null;
}

/**
 * Stores a removal of events. If the rollups are not complete, in the local days of the project's present
 * time zone, their recount starts again from the beginning; reads do without them meanwhile.
 */
export async function storeRemoval(
  tx: Sql,
  projectId: number,
  { timezone, known_timezone }: ProjectedProject,
  updates: ActorUpdates,
): Promise<void> {
  const areComplete = timezone === known_timezone;
  await updates.store(tx, projectId, areComplete);
  if (areComplete) return;
  await tx.query(
    "UPDATE projections SET recounted_to = NULL, timezone = NULL WHERE project_id = $1::int",
    [projectId],
  );
}

import type { Sql } from "../db/sql.ts";
import { visitTimedEvents } from "../store/timed_events.ts";
import { type ActorChange, Sightings, writeActors } from "./actor_days.ts";
import { reclassifyTraffic, RULES_VERSION } from "./dictionaries.ts";
import type { KnownProject } from "./known_projects.ts";
import { hasRulesOfNow, type ProjectedProject } from "./projected_project.ts";
import { RECOUNT_SLICE_ACTORS } from "./projection_limits.ts";
import { EventTotals } from "./changes.ts";
import { clearRollups, rollUp } from "./rollups.ts";
import { sessionsOfActors } from "./stored_sessions.ts";

/** One transaction's share of bringing a project up to date. */
export interface Settling {
  readonly tx: Sql;
  readonly projectId: number;
  readonly project: ProjectedProject;
  readonly known: KnownProject;
  /** Whether the transaction has taken long enough. */
  readonly isOver: () => boolean;
}

/** Actors from `from` on and before `to`, by their identities. */
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

/** Counts the rollups of some actors from their sessions and events, by the days of the time zone. */
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
    after: sightings.together(actor, null),
  }));
  const everybody = new Set(actorOf.values());
  const came = await sessionsOfActors(tx, projectId, [...everybody]);
  await rollUp(
    tx,
    { projectId, days, values },
    { totals, gone: [], came, stored: new Map(), actors, newActors: everybody },
  );
  await writeActors(tx, projectId, actors);
}

/** Goes through all actors by the slice. @returns the next one; null: that was all */
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
 * Brings what was made of a project earlier up to date, as far as one transaction may: after a change
 * of the site, its time zone or the channel rules, history is told by the new ones. Until all of it
 * is, the rollups have no time zone, and reads do without them.
 * @returns whether all of it is: new events can be projected
 */
export async function settle(settling: Settling): Promise<boolean> {
  const { tx, projectId, project } = settling;
  const { site_host, timezone, known_timezone, recount_timezone, recounted_to } = project;
  const isByRules = hasRulesOfNow(project);
  if (isByRules && timezone === known_timezone) return true;
  const isBegun = isByRules && recount_timezone === timezone && recounted_to !== null;
  if (!isBegun) {
    if (!isByRules) await reclassifyTraffic(tx, projectId, site_host);
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

/** Whether the rollups hold, by the days of the project's own time zone. */
export const rollUpsHold = ({ timezone, known_timezone }: ProjectedProject): boolean =>
  timezone === known_timezone;

/** What was made of a project is to be counted again from its start; reads do without it meanwhile. */
export async function startRecountAnew(tx: Sql, projectId: number): Promise<void> {
  await tx.query(
    "UPDATE projections SET recounted_to = NULL, timezone = NULL WHERE project_id = $1::int",
    [projectId],
  );
}

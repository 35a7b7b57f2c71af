import type { Sql } from "../db/sql.ts";
import { SegmentUnreadable } from "../store/segment_head.ts";
import { visitTimedEvents } from "../store/timed_events.ts";
import { type ActorChange, Sightings, writeActors } from "./actor_days.ts";
import type { ActorUpdates } from "./actor_updates.ts";
import { reclassifyTraffic, RULES_VERSION } from "./dictionaries.ts";
import type { KnownProject } from "./known_projects.ts";
import { hasCurrentRules, type ProjectedProject } from "./projected_project.ts";
import {
  RECOUNT_AGAIN_MS,
  RECOUNT_SLICE_ACTORS,
  RECOUNT_SLICE_SESSIONS,
} from "./projection_limits.ts";
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

/** Counts the rollups of some actors from their sessions and events, by the project's local days. */
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

/** Returns the actor before which a slice that begins at `from` ends; its actors and sessions are limited. */
async function endOfSlice(tx: Sql, projectId: number, from: number): Promise<number> {
  const end = from + RECOUNT_SLICE_ACTORS;
  const [beyond] = await tx.query<{ actor_id: number }>(
    `SELECT actor_id FROM sessions
    WHERE project_id = $1::int AND actor_id >= $2::int AND actor_id < $3::int
    ORDER BY actor_id OFFSET ${RECOUNT_SLICE_SESSIONS} LIMIT 1`,
    [projectId, from, end],
  );
  return beyond === undefined ? end : Math.max(beyond.actor_id, from + 1);
}

/** Recounts all actors from `from` on, slice by slice. @returns where to continue; null: all are done */
async function bySlices(settling: Settling, from: number): Promise<number | null> {
  const { tx, projectId, isOver } = settling;
  const [last] = await tx.query<{ id: number | null }>(
    "SELECT max(identity_id) AS id FROM identities WHERE project_id = $1::int",
    [projectId],
  );
  for (let next = from; next <= (last?.id ?? -1);) {
    if (next > from && isOver()) return next;
    const end = await endOfSlice(tx, projectId, next);
    await recountSlice(settling, next, end);
    next = end;
  }
  return null;
}

/**
 * How far a project is settled. "settled": done, new events can be projected; "begun": there is more to do;
 * "damaged": a segment cannot be read; "still_damaged": that was so lately, and is not retried yet.
 */
export type Settled = "settled" | "begun" | "damaged" | "still_damaged";

/**
 * Recounts the rollups until the transaction is over.
 * @param from where to go on; null: at the beginning
 * @returns how far that is, and where to continue; null: at the beginning
 */
async function recount(
  settling: Settling,
  from: number | null,
): Promise<[state: Settled, recountedTo: number | null]> {
  const { tx, projectId, isOver } = settling;
  if (from === null && !await clearRollups(tx, projectId, isOver)) {
    return ["begun", null];
  }
  try {
    const recountedTo = await bySlices(settling, from ?? 0);
    return [recountedTo === null ? "settled" : "begun", recountedTo];
  } catch (error) {
    if (!(error instanceof SegmentUnreadable)) throw error;
    return ["damaged", null];
  }
}

/**
 * Settles a project as far as one transaction can: after a change of the site, the time zone or the channel
 * rules, reclassifies and recounts the history. Until that is complete, the rollups have no time zone, and
 * reads do without them. With an unreadable segment this state stays; only reads that need the segment fail,
 * and new events are projected without rollups.
 */
export async function settle(settling: Settling): Promise<Settled> {
  const { tx, projectId, project, known } = settling;
  const { site_host, timezone, known_timezone, recount_timezone, recounted_to } = project;
  const hasRules = hasCurrentRules(project);
  if (hasRules && timezone === known_timezone) return "settled";
  if (hasRules && performance.now() < known.recountAgainAtMs) return "still_damaged";
  if (!hasRules) {
    await reclassifyTraffic(tx, projectId, site_host);
    await known.values.open(tx, projectId);
  }
  const isBegun = hasRules && recount_timezone === timezone;
  const [state, recountedTo] = await recount(settling, isBegun ? recounted_to : null);
  if (state === "damaged") known.recountAgainAtMs = performance.now() + RECOUNT_AGAIN_MS;
  await tx.query(
    `UPDATE projections SET site_host = $2::text, rules_version = $3::int,
      recount_timezone = $4::text, recounted_to = $5::int,
      timezone = CASE WHEN $6::bool THEN $4::text END
    WHERE project_id = $1::int`,
    [
      projectId,
      site_host,
      // While servers are updated one by one, a newer one may have classified by newer rules.
      hasRules ? project.rules_version : RULES_VERSION,
      timezone,
      recountedTo,
      state === "settled",
    ],
  );
  return state;
}

/**
 * Stores a removal of events. If the rollups are not complete in the project's present time zone, their
 * recount starts over; reads do without them in the meantime.
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

import type { Database, Sql } from "../db/sql.ts";
import { FOLD_EVENTS_MAX, FOLD_EVENTS_MAX_EMBEDDED, FOLD_MARKS_MAX } from "../limits.ts";
import { cutSessions } from "./fold_cut.ts";
import { rebuildHistories, writeHistories } from "./fold_histories.ts";
import {
  CONTEXT_KEY,
  reclassifyTraffic,
  REFERRER_KEY,
  resolveDictionaries,
  RULES_VERSION,
  TRAFFIC_KEY,
} from "./fold_dictionaries.ts";
import { moveHistories, resolveIdentities } from "./fold_identities.ts";
import { rankFacts } from "./fold_ranks.ts";
import { FOLD_TABLES } from "./fold_tables.ts";
import { DEPTH, SPOT } from "./spot.ts";
import { recountRollups, rollUp } from "./rollups.ts";
import { TableStatistics } from "./table_statistics.ts";
import { ValueNumbersOf } from "./value_numbers.ts";

export interface Fold {
  /** Folds everything that was stored for the project before this was called. */
  catchUp(projectId: number): Promise<void>;
  /** Folds what is pending anywhere. @returns how many events it took */
  catchUpAll(): Promise<number>;
}

// At least one mark; more while their events are few enough for one transaction.
const TAKE_FRESH = `
WITH taken AS (
  DELETE FROM fold_marks
  WHERE project_id = $1::int AND mark_id IN (
    SELECT mark_id FROM (
      SELECT mark_id, event_count, sum(event_count) OVER (ORDER BY mark_id) AS up_to
      FROM (
        SELECT mark_id, event_count FROM fold_marks
        WHERE project_id = $1::int ORDER BY mark_id LIMIT $3::int) AS oldest) AS summed
    WHERE up_to - event_count < $2::int)
  RETURNING event_ids
), ids AS (
  SELECT unnest(event_ids) AS event_id FROM taken
)
INSERT INTO fold_fresh (event_id, at_ms, name, path, title, referrer_key, anonymous_id, user_id, hash,
  in_session, context_key, traffic_key, spot, depth, properties)
SELECT e.event_id, round(extract(epoch FROM e.occurred_at) * 1000)::bigint, e.name, e.path,
  e.title, ${REFERRER_KEY}, e.anonymous_id, e.user_id,
  CASE WHEN e.anonymous_id IS NULL AND e.user_id IS NULL
    THEN translate(encode(e.visitor_hash, 'base64'), '+/=', '-_') END,
  e.in_session, ${CONTEXT_KEY}, CASE WHEN e.in_session THEN ${TRAFFIC_KEY} END,
  ${SPOT}, ${DEPTH}, e.properties
FROM ids JOIN events e ON e.project_id = $1::int AND e.event_id = ids.event_id`;

const SITE_HOST = "lower(substring(p.site_url from '^[A-Za-z]+://(?:[^/?#@]*@)?([^/?#:]+)'))";

export interface FoldedProject extends Record<string, unknown> {
  readonly site_host: string | null;
  readonly known_host: string | null;
  readonly rules_version: number | null;
  readonly timezone: string;
  readonly known_timezone: string | null;
  readonly has_histories: boolean;
}

/** Whoever folds a project holds its row; the others wait, and find nothing left to do. */
async function lockProject(tx: Sql, projectId: number): Promise<FoldedProject | null> {
  const [row] = await tx.query<FoldedProject>(
    `SELECT ${SITE_HOST} AS site_host, f.site_host AS known_host, f.rules_version,
      p.timezone, f.timezone AS known_timezone, f.has_histories
    FROM fold_projects f JOIN projects p USING (project_id)
    WHERE f.project_id = $1::int FOR UPDATE OF f`,
    [projectId],
  );
  if (row !== undefined) return row;
  await tx.query(
    `INSERT INTO fold_projects (project_id)
    SELECT project_id FROM projects WHERE project_id = $1::int ON CONFLICT DO NOTHING`,
    [projectId],
  );
  const [added] = await tx.query(
    "SELECT FROM fold_projects WHERE project_id = $1::int FOR UPDATE",
    [projectId],
  );
  return added === undefined ? null : await lockProject(tx, projectId);
}

/** Projects whose site, time zone or channel rules are not those that they were folded with, or that lack histories. */
const STALE_PROJECTS = `
SELECT project_id FROM fold_projects f JOIN projects p USING (project_id)
WHERE f.site_host IS DISTINCT FROM ${SITE_HOST} OR f.rules_version IS DISTINCT FROM $1::int
  OR f.timezone IS DISTINCT FROM p.timezone OR NOT f.has_histories`;

async function isStale(sql: Sql, projectId: number): Promise<boolean> {
  const rows = await sql.query(
    `${STALE_PROJECTS.replace("WHERE ", "WHERE project_id = $2::int AND (")})`,
    [RULES_VERSION, projectId],
  );
  return rows.length > 0;
}

/** After a change of the site, its time zone or the channel rules, history is told by the new ones. */
async function tellAsNow(
  tx: Sql,
  projectId: number,
  project: FoldedProject,
  values: ValueNumbersOf,
): Promise<void> {
  const { site_host, known_host, rules_version, timezone, known_timezone } = project;
  const sameRules = site_host === known_host && rules_version === RULES_VERSION;
  if (sameRules && timezone === known_timezone) return;
  if (!sameRules) await reclassifyTraffic(tx, projectId, site_host);
  await recountRollups(tx, projectId, timezone, values.of(projectId, site_host));
  await tx.query(
    `UPDATE fold_projects SET site_host = $2::text, rules_version = $3::int, timezone = $4::text
    WHERE project_id = $1::int`,
    [projectId, site_host, RULES_VERSION, timezone],
  );
}

// A plan that was made while the tables were empty reads all of them later: 3,000 instead of 20,000
// events/s until the next automatic ANALYZE. Ten columns' worth of statistics are enough for a batch.
const FOLD_SETTINGS = `
SET LOCAL jit = off;
SET LOCAL work_mem = '64MB';
SET LOCAL plan_cache_mode = force_custom_plan;
SET LOCAL default_statistics_target = 10;`;

/**
 * Begins a transaction that changes what the fold has made of a project: nobody else does until it
 * ends. Null where there is no such project.
 */
export async function beginFold(tx: Sql, projectId: number): Promise<FoldedProject | null> {
  await tx.script(`${FOLD_SETTINGS} ${FOLD_TABLES}`);
  return await lockProject(tx, projectId);
}

/** Folds the oldest marks of a project, in one transaction. @returns how many events they held */
async function foldBatch(
  tx: Sql,
  projectId: number,
  eventsMax: number,
  values: ValueNumbersOf,
): Promise<number> {
  const project = await beginFold(tx, projectId);
  if (project === null) return 0;
  await tellAsNow(tx, projectId, project, values);
  if (!project.has_histories) await rebuildHistories(tx, projectId);
  await tx.query(TAKE_FRESH, [projectId, eventsMax, FOLD_MARKS_MAX]);
  await tx.script("ANALYZE fold_fresh (event_id)");
  const [{ events }] = await tx.query("SELECT count(*)::int AS events FROM fold_fresh") as [
    { events: number },
  ];
  if (events === 0) return 0;
  await resolveDictionaries(tx, projectId, project.site_host);
  const moved = await resolveIdentities(tx, projectId) > 0;
  if (moved) await moveHistories(tx, projectId);
  await rankFacts(tx, projectId, moved);
  const dissolved = (await tx.query("SELECT FROM fold_dissolved LIMIT 1")).length > 0;
  await cutSessions(tx, projectId, { moved, dissolved });
  await writeHistories(tx, projectId);
  await rollUp(tx, projectId, project.timezone, values.of(projectId, project.site_host));
  return events;
}

/**
 * The fold: turns stored events into facts, sessions and identities. It consumes the marks that
 * writers leave, each exactly once, in transactions of their own. The result depends on the set of
 * events alone, never on their order, their batches, or which server folds them.
 */
export function createFold(database: Database): Fold {
  const eventsMax = database.engine === "embedded" ? FOLD_EVENTS_MAX_EMBEDDED : FOLD_EVENTS_MAX;
  const values = new ValueNumbersOf();
  const statistics = new TableStatistics(database);

  const batch = async (projectId: number): Promise<number> => {
    const events = await database.transaction((tx) => foldBatch(tx, projectId, eventsMax, values))
      .catch((error) => {
        // Numbers that were given out and taken back are given out again, to others.
        values.forget(projectId);
        throw error;
      });
    if (events > 0) await statistics.note(projectId, events);
    return events;
  };
  return {
    async catchUp(projectId) {
      const [last] = await database.query<{ mark_id: number | null }>(
        "SELECT max(mark_id) AS mark_id FROM fold_marks WHERE project_id = $1::int",
        [projectId],
      );
      const upTo = last?.mark_id ?? null;
      if (upTo === null) {
        if (await isStale(database, projectId)) await batch(projectId);
        return;
      }
      do {
        await batch(projectId);
      } while (await isPending(database, projectId, upTo));
    },
    async catchUpAll() {
      // Whoever updates, or restarts, may have much that the planner was never told of.
      await statistics.start();
      const projects = await database.query<{ project_id: number }>(
        `SELECT DISTINCT project_id FROM fold_marks UNION ${STALE_PROJECTS} ORDER BY project_id`,
        [RULES_VERSION],
      );
      let events = 0;
      for (const { project_id } of projects) events += await batch(project_id);
      return events;
    },
  };
}

async function isPending(sql: Sql, projectId: number, upTo: number): Promise<boolean> {
  const rows = await sql.query(
    "SELECT FROM fold_marks WHERE project_id = $1::int AND mark_id <= $2::int8 LIMIT 1",
    [projectId, upTo],
  );
  return rows.length > 0;
}

import type { Sql } from "../db/sql.ts";
import { rollUpAcquisition } from "./acquisition_rollup.ts";
import { CHANGED, COUNTED } from "./fold_tables.ts";
import { localDaysOf, NEVER } from "./local_days.ts";
import type { ValueNumbers } from "./value_numbers.ts";

// $2 and $3 are the local days of local_days.ts. Subqueries, since a cast from text is never folded
// into a constant: each row would parse both arrays anew.
const dayOf = (tick: string): string =>
  `(SELECT $3::text::int[])[width_bucket((${tick}) >> 16, (SELECT $2::text::int8[]))]`;

const utcDay = (tick: string): string => `floor((${tick} >> 16) / 86400000.0)::int`;

const UTC_DAYS = `
SELECT DISTINCT ${utcDay("tick")} AS day FROM (
  SELECT tick FROM fold_new
  UNION ALL SELECT tick FROM fold_removed
  UNION ALL SELECT first_tick FROM fold_changed
  UNION ALL SELECT a.first_tick FROM fold_days d
    JOIN actors a ON a.project_id = $1::int AND a.actor_id = d.actor_id
  UNION ALL SELECT f.tick FROM fold_days d
    JOIN facts f ON f.project_id = $1::int AND f.actor_id = d.actor_id
    WHERE d.recount
) AS ticks`;

const ADD_EVENTS = `
INSERT INTO day_totals AS t (project_id, day, events, pageviews)
SELECT $1::int, ${
  dayOf("tick")
} AS day, sum(sign), coalesce(sum(sign) FILTER (WHERE name_id = 1), 0)
FROM (
  SELECT tick, name_id, 1 AS sign FROM fold_new WHERE context_id > 0 AND ${COUNTED}
  UNION ALL SELECT tick, name_id, -1 FROM fold_removed WHERE context_id > 0 AND ${COUNTED}
) AS facts
GROUP BY day
ON CONFLICT (project_id, day) DO UPDATE
SET events = t.events + excluded.events, pageviews = t.pageviews + excluded.pageviews`;

const ADD_SESSIONS = `
WITH changed AS (
  SELECT ${dayOf("first_tick")} AS day, sign, views <= 1 AND customs = 0 AS bounced,
    (last_tick >> 16) - (first_tick >> 16) AS duration_ms
  FROM fold_changed WHERE humans > 0
), durations AS (
  INSERT INTO session_durations AS t (project_id, day, seconds, sessions)
  SELECT $1::int, day, CASE WHEN duration_ms = 0 THEN -1 ELSE least(duration_ms / 1000, 2147483647)::int END AS seconds, sum(sign)
  FROM changed GROUP BY 2, 3 HAVING sum(sign) <> 0
  ON CONFLICT (project_id, day, seconds) DO UPDATE SET sessions = t.sessions + excluded.sessions
)
INSERT INTO day_totals AS t (project_id, day, sessions, bounces, duration_ms)
SELECT $1::int, day, sum(sign), coalesce(sum(sign) FILTER (WHERE bounced), 0), sum(sign * duration_ms)
FROM changed GROUP BY day
ON CONFLICT (project_id, day) DO UPDATE
SET sessions = t.sessions + excluded.sessions, bounces = t.bounces + excluded.bounces,
  duration_ms = t.duration_ms + excluded.duration_ms`;

/** Whose days may change, and what they were: before sightings are written anew. */
const REMEMBER = `
INSERT INTO fold_days (actor_id, old_days, old_first, recount)
SELECT touched.actor_id, coalesce(a.days, '{}'), a.first_day, touched.recount
FROM (
  SELECT actor_id, bool_or(recount) AS recount
  FROM (
    SELECT actor_id, false AS recount FROM fold_new
    UNION ALL SELECT actor_id, true FROM fold_removed
    UNION ALL SELECT old_actor, old_actor <> identity_id FROM fold_moves
    UNION ALL SELECT new_actor, old_actor <> identity_id FROM fold_moves
  ) AS any_touch
  GROUP BY actor_id
) AS touched
LEFT JOIN actors a ON a.project_id = $1::int AND a.actor_id = touched.actor_id`;

// An actor keeps its days, gets those of the fresh facts, and, where a whole history moved in, its
// days too. Only where facts have left are the days counted from the facts again.
const FIND_DAYS = `
UPDATE fold_days d SET
  new_first = CASE WHEN a.actor_id IS NOT NULL THEN ${dayOf("a.first_tick")} END,
  new_days = CASE
    WHEN a.actor_id IS NULL THEN '{}'
    WHEN d.recount THEN ARRAY(
      SELECT DISTINCT ${dayOf("f.tick")} AS day FROM facts f
      WHERE f.project_id = $1::int AND f.actor_id = d.actor_id AND f.context_id > 0 AND f.${COUNTED}
      ORDER BY day)
    WHEN coalesce(fresh.days, '{}') || coalesce(moved.days, '{}') <@ d.old_days THEN d.old_days
    ELSE ARRAY(
      SELECT DISTINCT day
      FROM unnest(d.old_days || coalesce(fresh.days, '{}') || coalesce(moved.days, '{}')) AS day
      ORDER BY day)
  END
FROM fold_days same
LEFT JOIN actors a ON a.project_id = $1::int AND a.actor_id = same.actor_id
LEFT JOIN (
  SELECT actor_id, array_agg(DISTINCT ${dayOf("tick")}) AS days
  FROM fold_new WHERE context_id > 0 AND ${COUNTED} GROUP BY actor_id
) fresh ON fresh.actor_id = same.actor_id
LEFT JOIN (
  SELECT m.new_actor, array_agg(DISTINCT day) AS days
  FROM fold_moves m JOIN fold_days o ON o.actor_id = m.old_actor, unnest(o.old_days) AS day
  WHERE m.old_actor = m.identity_id AND m.new_actor <> m.old_actor
  GROUP BY m.new_actor
) moved ON moved.new_actor = same.actor_id
WHERE d.actor_id = same.actor_id`;

const KEEP_CHANGED_DAYS = `
DELETE FROM fold_days
WHERE old_days = new_days AND old_first IS NOT DISTINCT FROM new_first`;

const cellsOf = (days: string, first: string, sign: number): string => `
  SELECT x.day, coalesce(d.${days}[x.n - 1], ${NEVER}) AS prev_day, d.${days}[1] AS cohort_day,
    d.${first} AS first_day, ${sign} AS sign
  FROM fold_days d, unnest(d.${days}) WITH ORDINALITY AS x (day, n)`;

const ADD_VISITORS = `
INSERT INTO visitor_days AS v (project_id, day, prev_day, cohort_day, first_day, actors)
SELECT $1::int, day, prev_day, cohort_day, first_day, sum(sign)
FROM (${cellsOf("old_days", "old_first", -1)} UNION ALL ${
  cellsOf("new_days", "new_first", 1)
}) AS cells
GROUP BY day, prev_day, cohort_day, first_day HAVING sum(sign) <> 0
ON CONFLICT (project_id, day, prev_day, cohort_day, first_day)
DO UPDATE SET actors = v.actors + excluded.actors`;

const WRITE_DAYS = `
UPDATE actors a SET days = d.new_days, first_day = d.new_first
FROM fold_days d WHERE a.project_id = $1::int AND a.actor_id = d.actor_id`;

/** Remembers the days of all whom this fold touches; before their first sightings are written. */
export async function rememberDays(tx: Sql, projectId: number): Promise<void> {
  await tx.query(REMEMBER, [projectId]);
}

/**
 * Adds to the rollups what the fold has changed: new and removed facts (`fold_new`,
 * `fold_removed`), sessions that came and went (`fold_changed`), and the days of actors.
 */
export async function rollUp(
  tx: Sql,
  projectId: number,
  timezone: string,
  values: ValueNumbers,
): Promise<void> {
  await tx.script("ANALYZE fold_days (actor_id)");
  const days = await tx.query<{ day: number }>(UTC_DAYS, [projectId]);
  if (days.length === 0) return;
  const local = localDaysOf(days.map(({ day }) => day), timezone);
  const params = [projectId, local.starts, local.numbers];
  await tx.query(ADD_EVENTS, params);
  await tx.query(ADD_SESSIONS, params);
  await tx.query(FIND_DAYS, params);
  await tx.query(KEEP_CHANGED_DAYS);
  await tx.query(ADD_VISITORS, [projectId]);
  await rollUpAcquisition(tx, { projectId, timezone, local, values });
  await tx.query(WRITE_DAYS, [projectId]);
}

const CLEAR = [
  "day_totals",
  "session_durations",
  "visitor_days",
  "acquisition_days",
]
  .map((table) => `DELETE FROM ${table} WHERE project_id = $1::int`);

/** Actors from $2 on, and before $3: one slice of a recount. */
const SLICE_DAYS = `
SELECT DISTINCT ${utcDay("tick")} AS day FROM facts
WHERE project_id = $1::int AND actor_id >= $2::int AND actor_id < $3::int`;

const SLICE = "project_id = $1::int AND actor_id >= $4::int AND actor_id < $5::int";

const RECOUNT_SLICE = [
  `UPDATE actors a SET first_day = ${dayOf("a.first_tick")}, days = coalesce(d.days, '{}')
  FROM (SELECT actor_id FROM actors WHERE ${SLICE}) b LEFT JOIN (
    SELECT actor_id, array_agg(day ORDER BY day) AS days
    FROM (
      SELECT DISTINCT actor_id, ${dayOf("tick")} AS day FROM facts
      WHERE ${SLICE} AND context_id > 0 AND ${COUNTED}) AS actor_days
    GROUP BY actor_id
  ) d ON d.actor_id = b.actor_id
  WHERE a.project_id = $1::int AND a.actor_id = b.actor_id`,
  `INSERT INTO day_totals AS t (project_id, day, events, pageviews)
  SELECT $1::int, ${dayOf("tick")} AS day, count(*), count(*) FILTER (WHERE name_id = 1)
  FROM facts WHERE ${SLICE} AND context_id > 0 AND ${COUNTED} GROUP BY day
  ON CONFLICT (project_id, day) DO UPDATE
  SET events = t.events + excluded.events, pageviews = t.pageviews + excluded.pageviews`,
];

const SLICE_SESSIONS = `
INSERT INTO fold_changed
SELECT 1, ${CHANGED} FROM sessions
WHERE project_id = $1::int AND actor_id >= $2::int AND actor_id < $3::int`;

const SLICE_VISITORS = `
INSERT INTO visitor_days AS v (project_id, day, prev_day, cohort_day, first_day, actors)
SELECT $1::int, x.day, coalesce(a.days[x.n - 1], ${NEVER}), a.days[1], a.first_day, count(*)
FROM actors a, unnest(a.days) WITH ORDINALITY AS x (day, n)
WHERE a.project_id = $1::int AND a.actor_id >= $2::int AND a.actor_id < $3::int
GROUP BY 2, 3, 4, 5
ON CONFLICT (project_id, day, prev_day, cohort_day, first_day)
DO UPDATE SET actors = v.actors + excluded.actors`;

/** Empties the rollups of a project. */
export async function clearRollups(tx: Sql, projectId: number): Promise<void> {
  for (const statement of CLEAR) await tx.query(statement, [projectId]);
}

/** Counts the rollups of some actors from their facts, by the days of the time zone. */
export async function recountSlice(
  tx: Sql,
  { projectId, timezone, values }: {
    readonly projectId: number;
    readonly timezone: string;
    readonly values: ValueNumbers;
  },
  slice: readonly [from: number, to: number],
): Promise<void> {
  const days = await tx.query<{ day: number }>(SLICE_DAYS, [projectId, ...slice]);
  if (days.length === 0) return;
  const local = localDaysOf(days.map(({ day }) => day), timezone);
  const params = [projectId, local.starts, local.numbers];
  for (const statement of RECOUNT_SLICE) await tx.query(statement, [...params, ...slice]);
  await tx.query(SLICE_SESSIONS, [projectId, ...slice]);
  await tx.query(ADD_SESSIONS, params);
  await rollUpAcquisition(tx, { projectId, timezone, local, values });
  await tx.query("DELETE FROM fold_changed");
  await tx.query(SLICE_VISITORS, [projectId, ...slice]);
}

/** What was made of a project is to be counted again from its start, by the next fold. */
export async function startRecountAnew(tx: Sql, projectId: number): Promise<void> {
  await tx.query("UPDATE fold_projects SET recounted_to = NULL WHERE project_id = $1::int", [
    projectId,
  ]);
}

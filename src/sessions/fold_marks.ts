import type { Sql } from "../db/sql.ts";
import { FOLD_MARKS_MAX, FOLD_SET_ASIDE_MS } from "../limits.ts";
import { CONTEXT_KEY, REFERRER_KEY, TRAFFIC_KEY } from "./fold_dictionaries.ts";
import { DEPTH, SPOT } from "./spot.ts";

/** Marks (`fold_marks`) to be folded now: none that is set aside. */
const WAITING = "set_aside_until IS NULL";

// The oldest marks, and of the last one as many events as there is room for.
const TAKE = `
WITH oldest AS MATERIALIZED (
  SELECT mark_id, event_count,
    $2::int - (sum(event_count) OVER (ORDER BY mark_id) - event_count)::int AS room
  FROM (
    SELECT mark_id, event_count FROM fold_marks
    WHERE project_id = $1::int AND ${WAITING} ORDER BY mark_id LIMIT ${FOLD_MARKS_MAX}) AS marks
), ids AS MATERIALIZED (
  SELECT unnest(m.event_ids[:o.room]) AS event_id
  FROM oldest o JOIN fold_marks m ON m.project_id = $1::int AND m.mark_id = o.mark_id
  WHERE o.room > 0
), taken AS (
  DELETE FROM fold_marks m USING oldest o
  WHERE m.project_id = $1::int AND m.mark_id = o.mark_id AND o.room >= o.event_count
), shortened AS (
  UPDATE fold_marks m SET event_ids = m.event_ids[o.room + 1:], event_count = m.event_count - o.room
  FROM oldest o
  WHERE m.project_id = $1::int AND m.mark_id = o.mark_id AND o.room > 0 AND o.room < o.event_count
)`;

// One that was set aside, alone: what it does to a fold it does to no other event.
const TAKE_ASIDE = `
WITH ids AS (
  DELETE FROM fold_marks WHERE project_id = $1::int AND mark_id = (
    SELECT mark_id FROM fold_marks
    WHERE project_id = $1::int AND set_aside_until < now() AND $2::int > 0
    ORDER BY set_aside_until, mark_id LIMIT 1)
  RETURNING event_ids[1] AS event_id
)`;

const AS_FRESH = `
INSERT INTO fold_fresh (event_id, at_ms, name, path, title, referrer_key, anonymous_id, user_id, hash,
  in_session, context_key, traffic_key, spot, depth, properties)
SELECT e.event_id, round(extract(epoch FROM e.occurred_at) * 1000)::bigint, e.name, e.path,
  e.title, ${REFERRER_KEY}, e.anonymous_id, e.user_id,
  CASE WHEN e.anonymous_id IS NULL AND e.user_id IS NULL
    THEN translate(encode(e.visitor_hash, 'base64'), '+/=', '-_') END,
  e.in_session, ${CONTEXT_KEY}, CASE WHEN e.in_session THEN ${TRAFFIC_KEY} END,
  ${SPOT}, ${DEPTH}, e.properties
FROM ids CROSS JOIN LATERAL (
  SELECT * FROM events WHERE project_id = $1::int AND event_id = ids.event_id OFFSET 0) e`;

/** The event that comes first; null where none waits. */
export async function firstWaiting(sql: Sql, projectId: number): Promise<string | null> {
  const [row] = await sql.query<{ event_id: string }>(
    `SELECT event_ids[1] AS event_id FROM fold_marks
    WHERE project_id = $1::int ORDER BY set_aside_until NULLS FIRST, mark_id LIMIT 1`,
    [projectId],
  );
  return row?.event_id ?? null;
}

async function countFresh(tx: Sql): Promise<number> {
  await tx.script("ANALYZE fold_fresh (event_id)");
  const [row] = await tx.query<{ events: number }>(
    "SELECT count(*)::int AS events FROM fold_fresh",
  );
  return row!.events;
}

/**
 * Takes the events that were stored first, at most so many, into `fold_fresh`; where none waits, one
 * that was set aside long enough ago. @returns how many
 */
export async function takeFresh(tx: Sql, projectId: number, eventsMax: number): Promise<number> {
  await tx.query(`${TAKE} ${AS_FRESH}`, [projectId, eventsMax]);
  const events = await countFresh(tx);
  if (events > 0) return events;
  await tx.query(`${TAKE_ASIDE} ${AS_FRESH}`, [projectId, eventsMax]);
  return await countFresh(tx);
}

// A mark of its own, or what is left of one after it.
const SET_ASIDE = `
WITH found AS MATERIALIZED (
  SELECT mark_id, event_count FROM fold_marks
  WHERE project_id = $1::int AND event_ids[1] = $2::text::uuid
  LIMIT 1
), left_over AS (
  UPDATE fold_marks m SET event_ids = m.event_ids[2:], event_count = m.event_count - 1
  FROM found f WHERE m.project_id = $1::int AND m.mark_id = f.mark_id AND f.event_count > 1
), gone AS (
  DELETE FROM fold_marks m USING found f
  WHERE m.project_id = $1::int AND m.mark_id = f.mark_id AND f.event_count = 1
)
INSERT INTO fold_marks (project_id, event_count, event_ids, set_aside_until)
SELECT $1::int, 1, ARRAY[$2::text::uuid], now() + make_interval(secs => ${FOLD_SET_ASIDE_MS / 1000})
FROM found
RETURNING mark_id`;

/** Leaves an event alone for a while, so that those behind it are folded. @returns whether it was there */
export async function setAside(tx: Sql, projectId: number, eventId: string): Promise<boolean> {
  return (await tx.query(SET_ASIDE, [projectId, eventId])).length > 0;
}

/** The last mark there is now; null where none waits. */
export async function lastWaiting(sql: Sql, projectId: number): Promise<number | null> {
  const [row] = await sql.query<{ mark_id: number | null }>(
    `SELECT max(mark_id) AS mark_id FROM fold_marks WHERE project_id = $1::int AND ${WAITING}`,
    [projectId],
  );
  return row?.mark_id ?? null;
}

/** Whether a mark up to this one waits. */
export async function isWaiting(sql: Sql, projectId: number, upTo: number): Promise<boolean> {
  const rows = await sql.query(
    `SELECT FROM fold_marks WHERE project_id = $1::int AND mark_id <= $2::int8 AND ${WAITING} LIMIT 1`,
    [projectId, upTo],
  );
  return rows.length > 0;
}

/** Projects with something to fold, set aside or not. */
export const PROJECTS_WAITING = `
SELECT DISTINCT project_id FROM fold_marks WHERE ${WAITING} OR set_aside_until < now()`;

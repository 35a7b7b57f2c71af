import type { Sql } from "../db/sql.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import { CHANGED, COUNTED } from "./fold_tables.ts";
import { hashed } from "./hashed.ts";
import { rememberDays } from "./rollups.ts";
import { digestOf, TRAFFIC_KEY } from "./fold_dictionaries.ts";

const LOOSEN_NEW = `
INSERT INTO fold_loose
SELECT event_id, tick, actor_id, name_id, path_id, context_id, traffic_id, true
FROM fold_new WHERE traffic_id IS NOT NULL`;

const DELETE_DISSOLVED = `
WITH gone AS (
  DELETE FROM sessions s USING (SELECT DISTINCT session_id FROM fold_dissolved) d
  WHERE s.project_id = $1::int AND s.session_id = d.session_id
  RETURNING s.*
), told AS (
  INSERT INTO fold_changed SELECT -1, ${CHANGED} FROM gone
)
INSERT INTO fold_gone SELECT session_id, actor_id, first_tick, last_tick FROM gone`;

// Facts of a session that is cut anew. Those that followed an anonymous id to another user
// (`fold_left`) are that user's already: each is looked up by itself, since every session together
// with every user who got some took as many looks as one times the other.
const LOOSEN_DISSOLVED = `
WITH own AS (
  SELECT f.*
  FROM fold_gone g CROSS JOIN LATERAL (
    SELECT event_id, tick, actor_id, name_id, path_id, context_id FROM facts
    WHERE project_id = $1::int AND actor_id = g.actor_id
      AND tick BETWEEN (g.first_tick >> 16) << 16 AND g.last_tick | 65535
      AND session_id = g.session_id
    OFFSET 0) f
  UNION ALL
  SELECT f.*
  FROM fold_left l JOIN fold_gone g ON g.session_id = l.session_id
  CROSS JOIN LATERAL (
    SELECT event_id, tick, actor_id, name_id, path_id, context_id FROM facts
    WHERE project_id = $1::int AND actor_id = l.new_actor AND tick = l.tick AND event_id = l.event_id
    OFFSET 0) f
)
INSERT INTO fold_loose
SELECT f.event_id, f.tick, f.actor_id, f.name_id, f.path_id, f.context_id, t.traffic_id, false
FROM own f
CROSS JOIN LATERAL (
  SELECT ${digestOf(TRAFFIC_KEY)} AS digest FROM events e
  WHERE e.project_id = $1::int AND e.event_id = f.event_id OFFSET 0) e
JOIN traffic t ON t.project_id = $1::int AND t.digest = e.digest`;

const REACH = `
INSERT INTO fold_reach SELECT actor_id, min(tick), max(tick) FROM fold_loose GROUP BY actor_id`;

// A session is a segment of time, and so is each loose fact. Segments of one actor belong together
// where at most 30 minutes lie between them: sums, minima and maxima of the parts are those of the
// whole, so no event is read again, however long a session grows.
const CUT = `
WITH reach AS (
  SELECT actor_id, min(low_tick) AS low, max(high_tick) AS high FROM fold_reach GROUP BY actor_id
), near AS (
  SELECT s.*
  FROM reach r CROSS JOIN LATERAL (
    SELECT * FROM sessions
    WHERE project_id = $1::int AND actor_id = r.actor_id
      AND first_tick < ((r.high >> 16) + ${SESSION_GAP_MS} + 1) << 16
      AND first_tick >= coalesce((
        SELECT max(p.first_tick) FROM sessions p
        WHERE p.project_id = $1::int AND p.actor_id = r.actor_id AND p.first_tick < r.low), r.low)
    OFFSET 0) s
), parts AS (
  SELECT tick AS first_tick, tick AS last_tick,
    CASE WHEN name_id = 1 THEN tick END AS first_view_tick,
    CASE WHEN name_id = 1 THEN tick END AS last_view_tick,
    event_id, actor_id, NULL::int AS session_id, 1 AS events, (name_id = 1)::int AS views,
    (name_id > 3)::int AS customs, (context_id > 0)::int AS humans,
    path_id AS entry_path_id, path_id AS exit_path_id,
    context_id, traffic_id
  FROM fold_loose
  UNION ALL
  SELECT first_tick, last_tick, first_view_tick, last_view_tick, NULL, actor_id, session_id,
    events, views, customs, humans, entry_path_id, exit_path_id, context_id, traffic_id
  FROM near
), opened AS (
  SELECT *, CASE WHEN (first_tick >> 16) - (max(last_tick) OVER (
      PARTITION BY actor_id ORDER BY first_tick, last_tick, event_id
      ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) >> 16) <= ${SESSION_GAP_MS}
    THEN 0 ELSE 1 END AS opens
  FROM parts
)
INSERT INTO fold_segments (island, first_tick, last_tick, first_view_tick, last_view_tick, event_id,
  actor_id, session_id, events, views, customs, humans, entry_path_id, exit_path_id, context_id, traffic_id)
SELECT sum(opens) OVER (
    PARTITION BY actor_id ORDER BY first_tick, last_tick, event_id ROWS UNBOUNDED PRECEDING),
  first_tick, last_tick, first_view_tick, last_view_tick, event_id,
  actor_id, session_id, events, views, customs, humans, entry_path_id, exit_path_id, context_id, traffic_id
FROM opened`;

// The session with the most events keeps its number, so that the fewest facts change theirs.
const MERGE = `
INSERT INTO fold_islands (first_tick, last_tick, first_view_tick, last_view_tick, island, actor_id,
  session_id, events, views, customs, humans, entry_path_id, exit_path_id, context_id, traffic_id)
SELECT first_tick, last_tick, first_view_tick, last_view_tick, island, actor_id,
  coalesce(survivor, last.id + row_number() OVER (PARTITION BY survivor IS NULL ORDER BY first_tick, actor_id)),
  events, views, customs, humans, entry_path_id, exit_path_id, context_id, traffic_id
FROM (
  SELECT min(first_tick) AS first_tick, max(last_tick) AS last_tick,
    min(first_view_tick) AS first_view_tick, max(last_view_tick) AS last_view_tick, island, actor_id,
    (array_agg(session_id ORDER BY events DESC, session_id) FILTER (WHERE session_id IS NOT NULL))[1] AS survivor,
    sum(events) AS events, sum(views) AS views, sum(customs) AS customs, sum(humans) AS humans,
    (array_agg(entry_path_id ORDER BY first_view_tick NULLS LAST, first_tick))[1] AS entry_path_id,
    (array_agg(exit_path_id ORDER BY last_view_tick DESC NULLS LAST, last_tick DESC))[1] AS exit_path_id,
    (array_agg(context_id ORDER BY first_view_tick NULLS LAST, first_tick))[1] AS context_id,
    (array_agg(traffic_id ORDER BY first_view_tick NULLS LAST, first_tick))[1] AS traffic_id
  FROM fold_segments
  GROUP BY actor_id, island
  HAVING count(*) > 1 OR bool_or(session_id IS NULL)
) merged, (SELECT coalesce(max(session_id), 0) AS id FROM sessions WHERE project_id = $1::int) last`;

const TELL_CHANGES = `
INSERT INTO fold_changed
SELECT -1, ${CHANGED.replace(/\w+/g, "g.$&")}
FROM fold_segments g JOIN fold_islands i ON i.actor_id = g.actor_id AND i.island = g.island
WHERE g.session_id IS NOT NULL
UNION ALL
SELECT 1, ${CHANGED} FROM fold_islands`;

const ABSORB_SESSIONS = `
WITH absorbed AS (
  DELETE FROM sessions s
  USING fold_segments g JOIN fold_islands i ON i.actor_id = g.actor_id AND i.island = g.island
  WHERE s.project_id = $1::int AND s.session_id = g.session_id AND g.session_id <> i.session_id
  RETURNING s.actor_id, s.session_id AS old_id, i.session_id AS new_id, g.first_tick, g.last_tick
)
UPDATE facts f SET session_id = a.new_id
FROM absorbed a
WHERE f.project_id = $1::int AND f.actor_id = a.actor_id
  AND f.tick BETWEEN a.first_tick AND a.last_tick AND f.session_id = a.old_id`;

const COLUMNS =
  "first_tick, last_tick, first_view_tick, last_view_tick, session_id, actor_id, events, views, customs, humans, entry_path_id, exit_path_id, context_id, traffic_id";

const WRITE_SESSIONS = `
INSERT INTO sessions (project_id, ${COLUMNS})
SELECT $1::int, ${COLUMNS} FROM fold_islands
ON CONFLICT (project_id, session_id) DO UPDATE SET ${
  COLUMNS.split(", ").filter((name) => name !== "session_id")
    .map((name) => `${name} = excluded.${name}`).join(", ")
}`;

const WRITE_LOOSENED = `
UPDATE facts f SET session_id = i.session_id
FROM fold_loose l
JOIN fold_segments g ON g.event_id = l.event_id
JOIN fold_islands i ON i.actor_id = g.actor_id AND i.island = g.island
WHERE NOT l.is_new AND f.project_id = $1::int AND f.actor_id = l.actor_id AND f.tick = l.tick
  AND f.event_id = l.event_id`;

const WRITE_FACTS = `
INSERT INTO facts (tick, event_id, project_id, actor_id, name_id, context_id, path_id, session_id, spot, properties)
SELECT n.tick, n.event_id, $1::int, n.actor_id, n.name_id, n.context_id, n.path_id, i.session_id, n.spot, n.properties
FROM fold_new n
LEFT JOIN fold_segments g ON g.event_id = n.event_id
LEFT JOIN fold_islands i ON i.actor_id = g.actor_id AND i.island = g.island
ORDER BY n.tick`;

const WRITE_FIRST_SEEN = `
INSERT INTO actors AS a (first_tick, project_id, actor_id)
SELECT min(tick), $1::int, actor_id FROM fold_new WHERE ${COUNTED} GROUP BY actor_id
ON CONFLICT (project_id, actor_id) DO UPDATE SET first_tick = excluded.first_tick
WHERE excluded.first_tick < a.first_tick`;

const REWRITE_FIRST_SEEN = `
WITH changed AS (
  SELECT old_actor AS actor_id FROM fold_moves UNION SELECT new_actor FROM fold_moves
), gone AS (
  DELETE FROM actors a USING changed c
  WHERE a.project_id = $1::int AND a.actor_id = c.actor_id
    AND NOT EXISTS (
      SELECT FROM facts f WHERE f.project_id = $1::int AND f.actor_id = c.actor_id AND ${COUNTED})
)
INSERT INTO actors (first_tick, project_id, actor_id)
SELECT first.tick, $1::int, c.actor_id
FROM changed c CROSS JOIN LATERAL (
  SELECT min(f.tick) AS tick FROM facts f
  WHERE f.project_id = $1::int AND f.actor_id = c.actor_id AND ${COUNTED}) first
WHERE first.tick IS NOT NULL
ON CONFLICT (project_id, actor_id) DO UPDATE SET first_tick = excluded.first_tick`;

/** What happened before the sessions are cut: which of the rarer steps are needed. */
export interface Upheaval {
  /** Histories have changed hands. */
  readonly moved: boolean;
  /** Sessions stand in `fold_dissolved`. */
  readonly dissolved: boolean;
}

/**
 * Cuts the sessions that the new facts (`fold_new`), the moved histories (`fold_reach`) and the
 * dissolved sessions touch, and writes sessions, facts and first sightings.
 */
export async function cutSessions(tx: Sql, projectId: number, upheaval: Upheaval): Promise<void> {
  const project = [projectId];
  await tx.query(LOOSEN_NEW);
  if (upheaval.dissolved) {
    await tx.query(DELETE_DISSOLVED, project);
    await hashed(tx, LOOSEN_DISSOLVED, project);
  }
  await tx.query(REACH);
  await tx.query(CUT, project);
  await tx.script("ANALYZE fold_segments (actor_id, island, event_id, session_id)");
  await tx.query(MERGE, project);
  await tx.query(TELL_CHANGES);
  await tx.query(ABSORB_SESSIONS, project);
  await tx.query(WRITE_SESSIONS, project);
  if (upheaval.dissolved) await tx.query(WRITE_LOOSENED, project);
  await tx.query(WRITE_FACTS, project);
  await rememberDays(tx, projectId);
  await tx.query(WRITE_FIRST_SEEN, project);
  if (upheaval.moved) await tx.query(REWRITE_FIRST_SEEN, project);
}

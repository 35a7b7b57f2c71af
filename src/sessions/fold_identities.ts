import type { Sql } from "../db/sql.ts";
import { CHANGED } from "./fold_tables.ts";
import { hashed } from "./hashed.ts";

// An event is its user's; else its anonymous id's; only one that names neither is the daily hash's.
const GATHER_IDENTITIES = `
INSERT INTO fold_who (kind, value, identity_id, actor_id)
SELECT named.kind::"char", named.value, i.identity_id, i.actor_id
FROM (
  SELECT 'u' AS kind, user_id AS value FROM fold_fresh WHERE user_id IS NOT NULL GROUP BY user_id
  UNION ALL
  SELECT 'a', anonymous_id FROM fold_fresh WHERE anonymous_id IS NOT NULL GROUP BY anonymous_id
  UNION ALL
  SELECT 'h', hash FROM fold_fresh WHERE hash IS NOT NULL GROUP BY hash
) AS named
LEFT JOIN identities i
  ON i.project_id = $1::int AND i.kind = named.kind::"char" AND i.value = named.value`;

const ADD_IDENTITIES = `
WITH added AS (
  INSERT INTO identities (project_id, identity_id, actor_id, kind, value)
  SELECT $1::int, last.id + n.number, last.id + n.number, n.kind, n.value
  FROM (
    SELECT kind, value, row_number() OVER (ORDER BY kind, value) AS number
    FROM fold_who WHERE identity_id IS NULL
  ) n, (
    SELECT coalesce(max(identity_id), 0) AS id FROM identities WHERE project_id = $1::int
  ) last
  RETURNING kind, value, identity_id
)
UPDATE fold_who w SET identity_id = a.identity_id, actor_id = a.identity_id
FROM added a WHERE w.kind = a.kind AND w.value = a.value`;

// Of several users that an anonymous id was seen with, the earliest by time keeps it.
const LINK_IDENTITIES = `
WITH seen AS MATERIALIZED (
  SELECT DISTINCT ON (anonymous_id) anonymous_id, user_id, to_timestamp(at_ms / 1000.0) AS at, event_id
  FROM fold_fresh
  WHERE anonymous_id IS NOT NULL AND user_id IS NOT NULL
  ORDER BY anonymous_id, at_ms, event_id
), linked AS (
  UPDATE identities i
  SET linked_at = s.at, linked_by = s.event_id, actor_id = u.identity_id
  FROM seen s
  JOIN fold_who u ON u.kind = 'u' AND u.value = s.user_id
  JOIN fold_who a ON a.kind = 'a' AND a.value = s.anonymous_id
  JOIN identities old ON old.project_id = $1::int AND old.identity_id = a.identity_id
  WHERE i.project_id = $1::int AND i.identity_id = old.identity_id
    AND (old.linked_at IS NULL OR (s.at, s.event_id) < (old.linked_at, old.linked_by))
  RETURNING i.identity_id, old.actor_id AS old_actor, i.actor_id AS new_actor, i.value
)
INSERT INTO fold_moves
SELECT identity_id, old_actor, new_actor, value FROM linked WHERE old_actor <> new_actor
RETURNING identity_id`;

const FOLLOW_MOVES = `
UPDATE fold_who w SET actor_id = m.new_actor FROM fold_moves m WHERE w.identity_id = m.identity_id`;

/** An anonymous id becomes a user's: all of its facts and sessions are the user's now. */
const MOVE_WHOLE_FACTS = `
UPDATE facts f SET actor_id = m.new_actor
FROM fold_moves m
WHERE f.project_id = $1::int AND f.actor_id = m.identity_id AND m.old_actor = m.identity_id`;

const MOVE_WHOLE_SESSIONS = `
WITH moved AS (
  UPDATE sessions s SET actor_id = m.new_actor
  FROM fold_moves m
  WHERE s.project_id = $1::int AND s.actor_id = m.identity_id AND m.old_actor = m.identity_id
  RETURNING s.*, m.identity_id AS old_actor
), told AS (
  INSERT INTO fold_changed
  SELECT -1, first_tick, last_tick, views, customs, humans, old_actor, traffic_id, context_id, entry_path_id
  FROM moved
  UNION ALL SELECT 1, ${CHANGED} FROM moved
)
INSERT INTO fold_reach SELECT actor_id, min(first_tick), max(last_tick) FROM moved GROUP BY actor_id`;

// An earlier sighting gives the anonymous id to another user: only its own events follow. Each fact of
// whom an anonymous id leaves is looked up once, however many leave: as many looks as facts times moves
// took minutes for one user of 1,000 devices.
const FIND_LEFT = `
WITH own AS MATERIALIZED (
  SELECT f.event_id, f.tick, f.session_id, o.old_actor, e.anonymous_id
  FROM (SELECT DISTINCT old_actor FROM fold_moves WHERE old_actor <> identity_id) o
  CROSS JOIN LATERAL (
    SELECT event_id, tick, session_id FROM facts
    WHERE project_id = $1::int AND actor_id = o.old_actor OFFSET 0) f
  CROSS JOIN LATERAL (
    SELECT anonymous_id FROM events
    WHERE project_id = $1::int AND event_id = f.event_id AND user_id IS NULL OFFSET 0) e
)
INSERT INTO fold_left
SELECT own.event_id, own.tick, m.old_actor, m.new_actor, own.session_id
FROM own JOIN fold_moves m ON m.old_actor = own.old_actor AND m.value = own.anonymous_id
WHERE m.old_actor <> m.identity_id`;

const MOVE_PART = `
UPDATE facts f SET actor_id = l.new_actor
FROM fold_left l
WHERE f.project_id = $1::int AND f.actor_id = l.old_actor AND f.tick = l.tick AND f.event_id = l.event_id`;

/** The sessions of both users are cut anew from their facts. */
const DISSOLVE_PARTED = `
INSERT INTO fold_dissolved
SELECT s.session_id FROM sessions s
WHERE s.project_id = $1::int AND s.actor_id IN (
  SELECT old_actor FROM fold_moves WHERE old_actor <> identity_id
  UNION SELECT new_actor FROM fold_moves WHERE old_actor <> identity_id)`;

/** Whose identities are has changed: what reads remember of it is out of date. */
export async function raiseLinksVersion(tx: Sql, projectId: number): Promise<void> {
  await tx.query(
    "UPDATE fold_projects SET links_version = links_version + 1 WHERE project_id = $1::int",
    [projectId],
  );
}

/** Adds the identities of the fresh events. @returns how many anonymous ids have a new owner, told in `fold_moves` */
export async function resolveIdentities(tx: Sql, projectId: number): Promise<number> {
  await tx.query(GATHER_IDENTITIES, [projectId]);
  await tx.query(ADD_IDENTITIES, [projectId]);
  await tx.script("ANALYZE fold_who");
  const moved = (await tx.query(LINK_IDENTITIES, [projectId])).length;
  if (moved > 0) {
    // Without statistics, moves were gone through once for every fact.
    await tx.script("ANALYZE fold_moves");
    await tx.query(FOLLOW_MOVES);
    await raiseLinksVersion(tx, projectId);
  }
  return moved;
}

/** Hands facts and sessions to their new owners. */
export async function moveHistories(tx: Sql, projectId: number): Promise<void> {
  const parted = await tx.query("SELECT FROM fold_moves WHERE old_actor <> identity_id LIMIT 1");
  if (parted.length > 0) {
    // First: a fact that follows its anonymous id must not be taken for its new owner's own.
    await tx.query(DISSOLVE_PARTED, [projectId]);
    await hashed(tx, FIND_LEFT, [projectId]);
    await tx.script("ANALYZE fold_left");
    await tx.query(MOVE_PART, [projectId]);
  }
  await tx.query(MOVE_WHOLE_FACTS, [projectId]);
  await tx.query(MOVE_WHOLE_SESSIONS, [projectId]);
}

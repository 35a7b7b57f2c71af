import type { Sql } from "../db/sql.ts";
import { hashed } from "./hashed.ts";

/** Each fresh event as a fact: whose it is, and its texts as numbers. Ranks come after. */
const RESOLVE_FACTS = `
INSERT INTO fold_new (event_id, tick, actor_id, name_id, path_id, context_id, traffic_id, spot,
  identity_id, title_id, referrer_id, depth, properties)
SELECT f.event_id, f.at_ms << 16, coalesce(u.actor_id, a.actor_id, h.actor_id),
  n.id, p.id, c.id, r.id, f.spot,
  coalesce(u.identity_id, a.identity_id, h.identity_id), t.id, o.id, f.depth, f.properties
FROM fold_fresh f
JOIN fold_keys n ON n.kind = 't' AND n.key = f.name
LEFT JOIN fold_keys p ON p.kind = 't' AND p.key = f.path
LEFT JOIN fold_keys t ON t.kind = 't' AND t.key = f.title
LEFT JOIN fold_keys o ON o.kind = 'f' AND o.key = f.referrer_key
JOIN fold_keys c ON c.kind = 'c' AND c.key = f.context_key
LEFT JOIN fold_keys r ON r.kind = 'r' AND r.key = f.traffic_key
LEFT JOIN fold_who u ON u.kind = 'u' AND u.value = f.user_id
LEFT JOIN fold_who a ON a.kind = 'a' AND a.value = f.anonymous_id
LEFT JOIN fold_who h ON h.kind = 'h' AND h.value = f.hash`;

// `fold_ties`: milliseconds in which an actor has several events, one of them fresh or newly the actor's.
// LATERAL with LIMIT looks each spot up in the index; a join could read every fact there is.
const FIND_TIES = `
INSERT INTO fold_ties
SELECT actor_id, tick FROM fold_new GROUP BY actor_id, tick HAVING count(*) > 1
UNION
SELECT n.actor_id, n.tick
FROM fold_new n
CROSS JOIN LATERAL (
  SELECT FROM facts f
  WHERE f.project_id = $1::int AND f.actor_id = n.actor_id
    AND f.tick >= n.tick AND f.tick < n.tick + 65536
  LIMIT 1) known
RETURNING actor_id`;

// Where a fact has left, those that stay close up.
const FIND_MOVED_TIES = `
INSERT INTO fold_ties
SELECT f.actor_id, (f.tick >> 16) << 16
FROM facts f
WHERE f.project_id = $1::int AND f.actor_id IN (
  SELECT new_actor FROM fold_moves UNION SELECT old_actor FROM fold_moves)
GROUP BY 1, 2 HAVING count(*) > 1 OR max(f.tick & 65535) > 0
EXCEPT SELECT actor_id, tick FROM fold_ties
RETURNING actor_id`;

// 16 bits hold the rank: of more events of one actor in one millisecond, the rest rank equal.
const RANK_TIES = `
WITH ranked AS (
  SELECT event_id, actor_id, spot, known_tick,
    spot + least(row_number() OVER (PARTITION BY actor_id, spot ORDER BY event_id) - 1, 65535) AS tick
  FROM (
    SELECT n.event_id, t.actor_id, t.tick AS spot, NULL::bigint AS known_tick
    FROM fold_ties t JOIN fold_new n ON n.actor_id = t.actor_id AND n.tick = t.tick
    UNION ALL
    SELECT f.event_id, t.actor_id, t.tick, f.tick
    FROM fold_ties t CROSS JOIN LATERAL (
      SELECT event_id, tick FROM facts
      WHERE project_id = $1::int AND actor_id = t.actor_id
        AND tick >= t.tick AND tick < t.tick + 65536
      OFFSET 0) f
  ) AS tied
), renumbered AS (
  UPDATE facts f SET tick = r.tick
  FROM ranked r
  WHERE f.project_id = $1::int AND f.actor_id = r.actor_id AND f.tick = r.known_tick
    AND f.event_id = r.event_id AND r.known_tick <> r.tick
  RETURNING f.session_id, f.event_id, f.tick
), dissolved AS (
  INSERT INTO fold_dissolved
  SELECT DISTINCT session_id FROM renumbered WHERE session_id IS NOT NULL
), followed AS (
  UPDATE fold_left l SET tick = r.tick FROM renumbered r WHERE l.event_id = r.event_id
)
UPDATE fold_new n SET tick = r.tick
FROM ranked r
WHERE r.known_tick IS NULL AND n.event_id = r.event_id AND n.tick <> r.tick`;

/**
 * Turns the fresh events into facts (`fold_new`) and ranks the events of an actor that share a
 * millisecond by their ids. Sessions of stored facts whose rank changes go to `fold_dissolved`.
 */
export async function rankFacts(tx: Sql, projectId: number, moved: boolean): Promise<void> {
  await tx.script("ANALYZE fold_keys");
  await hashed(tx, RESOLVE_FACTS);
  await tx.script("ANALYZE fold_new (actor_id, tick)");
  let ties = (await tx.query(FIND_TIES, [projectId])).length;
  if (moved) ties += (await tx.query(FIND_MOVED_TIES, [projectId])).length;
  if (ties > 0) await tx.query(RANK_TIES, [projectId]);
}

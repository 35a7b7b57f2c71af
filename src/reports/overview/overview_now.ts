import { arrayLiteral, type Sql } from "../../db/sql.ts";

/** How long after an event its actor counts as there now: the shorter time of the live view. */
export const NOW_MS = 5 * 60_000;
/** Sessions longer than this are found by their length, the others by their start. */
const LONG_S = 3_600;

// A session is sure where it has no event of a bot, and its first or last event lies in the time: then its
// actor is there. Any other session needs a look at its events.
const NOW = `
SELECT k.project_id AS "projectId",
  (count(DISTINCT s.actor_id) FILTER (WHERE s.is_sure))::int AS visitors,
  bool_or(NOT s.is_sure) AS "isUnsure"
FROM unnest($1::text::int[]) AS k (project_id)
CROSS JOIN LATERAL (
  SELECT actor_id, humans = events AND (first_ms >= $2::int8 OR last_ms <= $3::int8) AS is_sure
  FROM sessions
  WHERE project_id = k.project_id AND first_ms >= $2::int8 - ${LONG_S * 1000}
    AND first_ms <= $3::int8 AND last_ms >= $2::int8 AND humans > 0
  UNION ALL
  SELECT actor_id, humans = events AND last_ms <= $3::int8
  FROM sessions
  WHERE project_id = k.project_id AND ((last_ms - first_ms) / 1000) >= ${LONG_S}
    AND first_ms < $2::int8 - ${LONG_S * 1000} AND last_ms >= $2::int8 AND humans > 0
) AS s
GROUP BY k.project_id`;

// Projects with events in the time that belong to no session.
const SESSIONLESS = `
SELECT project_id AS "projectId" FROM projections
WHERE project_id = ANY ($1::text::int[]) AND sessionless_to_ms >= $2::int8`;

/**
 * Counts by project the visitors who are there now; null: sessions alone do not tell. Projects without
 * any are missing.
 */
export async function readNow(
  sql: Sql,
  projectIds: readonly number[],
  asOfMs: number,
): Promise<Map<number, number | null>> {
  if (projectIds.length === 0) return new Map();
  const rows = await sql.query<{ projectId: number; visitors: number; isUnsure: boolean }>(
    NOW,
    [arrayLiteral(projectIds), asOfMs - NOW_MS, asOfMs],
  );
  const present = new Map<number, number | null>(
    rows.map(({ projectId, visitors, isUnsure }) => [projectId, isUnsure ? null : visitors]),
  );
  const sessionless = await sql.query<{ projectId: number }>(
    SESSIONLESS,
    [arrayLiteral(projectIds), asOfMs - NOW_MS],
  );
  for (const { projectId } of sessionless) present.set(projectId, null);
  return present;
}

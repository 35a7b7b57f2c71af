import { arrayLiteral, type Sql } from "../../db/sql.ts";
import { sessionlessSince, sessionsIn } from "./overview_sessions.ts";

/** How long after an event its actor counts as there now: the shorter time of the live view. */
export const NOW_MS = 5 * 60_000;

const NOW = `
SELECT k.project_id AS "projectId",
  (count(DISTINCT s.actor_id) FILTER (WHERE s.is_sure))::int AS visitors,
  bool_or(NOT s.is_sure) AS "isUnsure"
FROM unnest($1::text::int[]) AS k (project_id)
CROSS JOIN LATERAL (${sessionsIn("$2::int8", "$3::int8")}) AS s
GROUP BY k.project_id`;

/**
 * Counts by project the visitors who are there now; null: sessions alone cannot tell. Projects without any are
 * missing.
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
  const fromMs = asOfMs - NOW_MS;
  const asked = projectIds.map((projectId) => ({ projectId, fromMs }));
  for (const place of await sessionlessSince(sql, asked)) present.set(projectIds[place]!, null);
  return present;
}

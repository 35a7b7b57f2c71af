import { arrayLiteral, arrayLiterals, type Sql } from "../../db/sql.ts";

/** Sessions longer than this are found by their length, the others by their start. */
const LONG_S = 3_600;

/**
 * Returns a subquery of the sessions of project `k.project_id` that overlap a span, both ends included, with
 * their `actor_id`. `is_sure`: it has no event of a bot, and its first or last event is in the span, so that the
 * actor did something there. For any other session, the events must be looked at.
 * @param fromMs the ends, in SQL
 */
export const sessionsIn = (fromMs: string, toMs: string): string => `
  SELECT actor_id, humans = events AND (first_ms >= ${fromMs} OR last_ms <= ${toMs}) AS is_sure
  FROM sessions
  WHERE project_id = k.project_id AND first_ms >= ${fromMs} - ${LONG_S * 1000}
    AND first_ms <= ${toMs} AND last_ms >= ${fromMs} AND humans > 0
  UNION ALL
  SELECT actor_id, humans = events AND last_ms <= ${toMs}
  FROM sessions
  WHERE project_id = k.project_id AND ((last_ms - first_ms) / 1000) >= ${LONG_S}
    AND first_ms < ${fromMs} - ${LONG_S * 1000} AND last_ms >= ${fromMs} AND humans > 0`;

const SESSIONLESS = `
SELECT k.n::int AS n
FROM unnest($1::text::int[], $2::text::int8[]) WITH ORDINALITY AS k (project_id, from_ms, n)
JOIN projections p ON p.project_id = k.project_id AND p.sessionless_to_ms >= k.from_ms`;

/** Returns the places of the projects with events since a moment that belong to no session. */
export async function sessionlessSince(
  sql: Sql,
  projects: readonly { readonly projectId: number; readonly fromMs: number }[],
): Promise<number[]> {
  const keys = arrayLiterals(["projectId", "fromMs"], projects);
  const rows = await sql.query<{ n: number }>(SESSIONLESS, keys);
  return rows.map(({ n }) => n - 1);
}

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

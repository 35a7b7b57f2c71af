import { arrayLiteral, type Row, type Sql } from "../../db/sql.ts";
import { NEVER } from "../rollups/rolled_span.ts";
import { OVERVIEW_TAIL_SESSIONS_MAX } from "./overview_limits.ts";
import { sessionsIn } from "./overview_sessions.ts";
import type { Summed } from "./overview_sums.ts";

// An actor of the tail is counted already if its last day before the tail lies in the days before.
const TAILS = `
SELECT k.n::int AS n, count(*)::int AS sessions, bool_or(NOT s.is_sure) AS "isUnsure",
  (count(DISTINCT s.actor_id) FILTER (WHERE s.is_sure AND s.prev_day < k.from_day))::int AS visitors
FROM unnest($1::text::int[], $2::text::int[], $3::text::int[], $4::text::int8[], $5::text::int8[])
  WITH ORDINALITY AS k (project_id, from_day, to_day, from_ms, to_ms, n)
CROSS JOIN LATERAL (
  SELECT t.actor_id, t.is_sure, (
    SELECT coalesce(a.days[width_bucket(k.to_day - 1, a.days)], ${NEVER})
    FROM actors a WHERE a.project_id = k.project_id AND a.actor_id = t.actor_id
  ) AS prev_day
  FROM (${sessionsIn("k.from_ms", "k.to_ms")}
  LIMIT ${OVERVIEW_TAIL_SESSIONS_MAX + 1}) AS t
) AS s
GROUP BY k.n`;

// Projects with events since a tail began that belong to no session.
const SESSIONLESS = `
SELECT k.n::int AS n
FROM unnest($1::text::int[], $2::text::int8[]) WITH ORDINALITY AS k (project_id, from_ms, n)
JOIN projections p ON p.project_id = k.project_id AND p.sessionless_to_ms >= k.from_ms`;

interface TailRow extends Row {
  readonly n: number;
  readonly sessions: number;
  readonly isUnsure: boolean;
  readonly visitors: number;
}

/**
 * Returns by project how many visitors the part of a day that is compared adds to the whole days before it, all in
 * two statements; null: sessions alone do not tell, or there are many of them. 0 where no such part is compared.
 */
export async function readTails(
  sql: Sql,
  projects: readonly Summed[],
): Promise<(number | null)[]> {
  const found: (number | null)[] = projects.map(() => 0);
  const asked = projects.flatMap(({ projectId, days }, place) =>
    days.tail === null ? [] : [{ place, projectId, days, tail: days.tail }]
  );
  if (asked.length === 0) return found;
  const of = (number: (one: typeof asked[number]) => number) => arrayLiteral(asked.map(number));
  const [ids, fromMs] = [of(({ projectId }) => projectId), of(({ tail }) => tail.fromMs)];
  const rows = await sql.query<TailRow>(TAILS, [
    ids,
    of(({ days }) => days.beforeFrom),
    of(({ days }) => days.beforeTo),
    fromMs,
    of(({ tail }) => tail.toMs - 1),
  ]);
  for (const { n, sessions, isUnsure, visitors } of rows) {
    const isTold = sessions <= OVERVIEW_TAIL_SESSIONS_MAX && !isUnsure;
    found[asked[n - 1]!.place] = isTold ? visitors : null;
  }
  const sessionless = await sql.query<{ n: number }>(SESSIONLESS, [ids, fromMs]);
  for (const { n } of sessionless) found[asked[n - 1]!.place] = null;
  return found;
}

import { arrayLiterals, type Sql } from "../../db/sql.ts";
import type { Span } from "../../query/selection.ts";
import { NEVER } from "../../store/no_day.ts";
import { type ListedProject, scanTail } from "./overview_figures.ts";
import { sessionlessSince, sessionsIn } from "./overview_sessions.ts";
import type { RolledDays } from "./overview_sums.ts";

/** The most sessions of a part of a day that are looked up; if a project has more, its events are scanned. */
export const OVERVIEW_TAIL_SESSIONS_MAX = 1_000;

// An actor of the tail is already counted if its last day before the tail is one of the whole days.
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
  FROM (${sessionsIn("k.from_ms", "k.to_ms - 1")}
  LIMIT ${OVERVIEW_TAIL_SESSIONS_MAX + 1}) AS t
) AS s
GROUP BY k.n`;

const SCANNED_EVENTS = `
SELECT (
  SELECT coalesce(sum(s.events), 0) FROM segments s
  WHERE s.project_id = k.project_id AND s.from_ms < k.to_ms AND s.to_ms >= k.from_ms
)::float8 AS events
FROM unnest($1::text::int[], $2::text::int8[], $3::text::int8[])
  WITH ORDINALITY AS k (project_id, from_ms, to_ms, n)
ORDER BY k.n`;

/** The tail of a project, which is the part of a day that is compared, and the place of the project. */
interface AskedTail extends Span {
  readonly place: number;
  readonly listed: ListedProject;
  readonly projectId: number;
  readonly before: RolledDays["before"];
}

/** Counts each tail by its sessions, if these suffice and are few; null: its events must be scanned. */
async function countTails(sql: Sql, asked: readonly AskedTail[]): Promise<(number | null)[]> {
  type Counted = { n: number; sessions: number; isUnsure: boolean; visitors: number };
  const days = arrayLiterals(["projectId", "fromDay", "toDay"], asked.map(({ before }) => before));
  const spans = arrayLiterals(["fromMs", "toMs"], asked);
  const rows = await sql.query<Counted>(TAILS, [...days, ...spans]);
  const counted = asked.map((): number | null => 0);
  for (const { n, sessions, isUnsure, visitors } of rows) {
    const isKnown = sessions <= OVERVIEW_TAIL_SESSIONS_MAX && !isUnsure;
    counted[n - 1] = isKnown ? visitors : null;
  }
  for (const place of await sessionlessSince(sql, asked)) counted[place] = null;
  return counted;
}

/**
 * Counts how many visitors the tail of each project adds to the whole days before it, in at most three
 * statements; 0 if no part of a day is compared. Of those whose events must be scanned, the first are, until
 * their segments have `eventsMax` events; null: the tail is left out.
 */
export async function readTails(
  sql: Sql,
  projects: readonly ListedProject[],
  eventsMax: number,
): Promise<(number | null)[]> {
  const tails = projects.map((): number | null => 0);
  const asked = projects.flatMap((listed, place): AskedTail[] => {
    const before = listed.rolled?.before;
    return before?.tail
      ? [{ place, listed, projectId: before.projectId, before, ...before.tail }]
      : [];
  });
  if (asked.length === 0) return tails;
  const counted = await countTails(sql, asked);
  for (const [i, { place }] of asked.entries()) tails[place] = counted[i]!;
  const scanned = asked.filter(({ place }) => tails[place] === null);
  if (scanned.length === 0) return tails;
  const keys = arrayLiterals(["projectId", "fromMs", "toMs"], scanned);
  const rows = await sql.query<{ events: number }>(SCANNED_EVENTS, keys);
  let events = 0;
  for (const [i, { place, listed, before }] of scanned.entries()) {
    if (events < eventsMax) tails[place] = await scanTail(listed, before);
    events += rows[i]!.events;
  }
  return tails;
}

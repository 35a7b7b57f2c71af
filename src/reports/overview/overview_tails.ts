import { arrayLiteral, type Sql } from "../../db/sql.ts";
import type { Span } from "../../query/selection.ts";
import { NEVER } from "../../store/no_day.ts";
import { OVERVIEW_TAIL_SESSIONS_MAX } from "./overview_limits.ts";
import { sessionlessSince, sessionsIn } from "./overview_sessions.ts";
import type { RolledDays } from "./overview_sums.ts";

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
  FROM (${sessionsIn("k.from_ms", "k.to_ms")}
  LIMIT ${OVERVIEW_TAIL_SESSIONS_MAX + 1}) AS t
) AS s
GROUP BY k.n`;

const SCANNED_EVENTS = `
SELECT (
  SELECT coalesce(sum(s.events), 0) FROM segments s
  WHERE s.project_id = k.project_id AND s.from_ms <= k.to_ms AND s.to_ms >= k.from_ms
)::float8 AS events
FROM unnest($1::text::int[], $2::text::int8[], $3::text::int8[])
  WITH ORDINALITY AS k (project_id, from_ms, to_ms, n)
ORDER BY k.n`;

/**
 * How many visitors the part of a day that is compared adds to the whole days before it; "scanned": its events
 * must be scanned; "left out": they would have to be, but too many were scanned already.
 */
export type Tail = number | "scanned" | "left out";

interface AskedTail extends Span {
  /** The place of the project. */
  readonly place: number;
  readonly projectId: number;
  readonly before: RolledDays["before"];
}

/** Counts each tail by its sessions, if these suffice and are few. */
async function countTails(sql: Sql, asked: readonly AskedTail[]): Promise<(number | "scanned")[]> {
  const of = (number: (one: AskedTail) => number) => arrayLiteral(asked.map(number));
  type Counted = { n: number; sessions: number; isUnsure: boolean; visitors: number };
  const rows = await sql.query<Counted>(TAILS, [
    of(({ projectId }) => projectId),
    of(({ before }) => before.fromDay),
    of(({ before }) => before.toDay),
    of(({ fromMs }) => fromMs),
    of(({ toMs }) => toMs - 1),
  ]);
  const counted: (number | "scanned")[] = asked.map(() => 0);
  for (const { n, sessions, isUnsure, visitors } of rows) {
    const isKnown = sessions <= OVERVIEW_TAIL_SESSIONS_MAX && !isUnsure;
    counted[n - 1] = isKnown ? visitors : "scanned";
  }
  for (const place of await sessionlessSince(sql, asked)) counted[place] = "scanned";
  return counted;
}

/**
 * Counts the tails of projects in at most three statements; 0 if no part of a day is compared. Of those to be
 * scanned, the first are, until their segments have `eventsMax` events.
 */
export async function readTails(
  sql: Sql,
  projects: readonly RolledDays[],
  eventsMax: number,
): Promise<Tail[]> {
  const tails: Tail[] = projects.map(() => 0);
  const asked = projects.flatMap(({ before }, place): AskedTail[] =>
    before.tail === null ? [] : [{ place, projectId: before.projectId, before, ...before.tail }]
  );
  if (asked.length === 0) return tails;
  const counted = await countTails(sql, asked);
  for (const [i, { place }] of asked.entries()) tails[place] = counted[i]!;
  const scanned = asked.filter(({ place }) => tails[place] === "scanned");
  if (scanned.length === 0) return tails;
  const rows = await sql.query<{ events: number }>(SCANNED_EVENTS, [
    arrayLiteral(scanned.map(({ projectId }) => projectId)),
    arrayLiteral(scanned.map(({ fromMs }) => fromMs)),
    arrayLiteral(scanned.map(({ toMs }) => toMs - 1)),
  ]);
  let events = 0;
  for (const [i, { place }] of scanned.entries()) {
    if (events >= eventsMax) tails[place] = "left out";
    events += rows[i]!.events;
  }
  return tails;
}

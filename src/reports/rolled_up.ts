import { arrayLiteral, type Row, type Sql } from "../db/sql.ts";
import { startOfDay } from "./range.ts";
import type { Read } from "./report.ts";
import type { Span } from "./selection.ts";
import { SqlParams } from "./sql_params.ts";
import { dateAt, dayAt, type RolledSpan } from "./rolled_span.ts";
import { readTail, type Tail } from "./rolled_tail.ts";

type Source = Pick<Read, "sql" | "histories">;

/** Whether buckets are made of whole days: hours are not. */
function startDays(buckets: readonly Span[], timezone: string): number[] | null {
  const days = buckets.map(({ fromMs }) => dayAt(fromMs, timezone));
  const distinct = new Set(days).size === days.length;
  const atMidnight = buckets.every(({ fromMs }) =>
    startOfDay(dateAt(fromMs, timezone), timezone).getTime() === fromMs
  );
  return distinct && atMidnight ? days : null;
}

type BucketRow<T> = Row & T & { readonly bucket: number | null };
/** What the selected events of one span come to. */
export interface Visits {
  readonly visitors: number;
  readonly newVisitors: number;
  readonly pageviews: number;
  readonly events: number;
}

/** What the sessions that count in one span come to. */
export interface SessionsAndMedian {
  readonly sessions: number;
  readonly bounces: number;
  /** Of all durations together. */
  readonly durationMs: number;
  /** Null of no session. */
  readonly medianMs: number | null;
}

/** Sums of each bucket (`$3`: their first days) and of all; the tail belongs to the last bucket. */
const COUNTED = `
WITH days AS (
  SELECT width_bucket(day, (SELECT $4::text::int[])) AS bucket,
    (SELECT $4::text::int[])[width_bucket(day, (SELECT $4::text::int[]))] AS start,
    prev_day, first_day, actors
  FROM visitor_days
  WHERE project_id = $1::int AND day >= $2::int AND day < $3::int
), counted AS (
  SELECT bucket,
    coalesce(sum(actors) FILTER (WHERE prev_day < start), 0) AS visitors,
    coalesce(sum(actors) FILTER (WHERE prev_day < start AND first_day >= start), 0) AS new_visitors
  FROM days GROUP BY bucket
  UNION ALL
  SELECT NULL, coalesce(sum(actors) FILTER (WHERE prev_day < $2::int), 0),
    coalesce(sum(actors) FILTER (WHERE prev_day < $2::int AND first_day >= $2::int), 0)
  FROM days
), totalled AS (
  SELECT bucket, sum(pageviews) AS pageviews, sum(events) AS events
  FROM (
    SELECT width_bucket(day, (SELECT $4::text::int[])) AS bucket, pageviews, events
    FROM day_totals WHERE project_id = $1::int AND day >= $2::int AND day < $3::int) AS t
  GROUP BY GROUPING SETS ((bucket), ())
)
SELECT coalesce(c.bucket, t.bucket) AS bucket, coalesce(c.visitors, 0) AS visitors,
  coalesce(c.new_visitors, 0) AS "newVisitors", coalesce(t.pageviews, 0) AS pageviews,
  coalesce(t.events, 0) AS events
FROM counted c FULL JOIN totalled t ON coalesce(t.bucket, 0) = coalesce(c.bucket, 0)`;

/**
 * Visitors, new visitors, page views and events of each bucket (counted from 1) and of the whole
 * (bucket null); null where the buckets are not made of whole days.
 */
export async function readRolledVisits(
  source: Source,
  rolled: RolledSpan,
  buckets: readonly Span[],
): Promise<BucketRow<Visits>[] | null> {
  const { projectId, fromDay, toDay, tail, timezone } = rolled;
  const starts = startDays(buckets, timezone);
  if (starts === null) return null;
  const rows = await source.sql.query<BucketRow<Visits>>(
    COUNTED,
    [projectId, fromDay, toDay, arrayLiteral(starts)],
  );
  if (tail === null) return rows;
  return withTail(rows, buckets.length, await readTail(source, rolled, tail, starts.at(-1)!));
}

function withTail(
  rows: readonly BucketRow<Visits>[],
  lastBucket: number,
  tail: Tail,
): BucketRow<Visits>[] {
  const { pageviews, events, visitors, newVisitors, visitorsInBucket, newInBucket } = tail;
  const none = { visitors: 0, newVisitors: 0, pageviews: 0, events: 0 };
  const added = (bucket: number | null, more: Visits): BucketRow<Visits> => {
    const row = rows.find((candidate) => candidate.bucket === bucket) ?? none;
    return {
      bucket,
      visitors: row.visitors + more.visitors,
      newVisitors: row.newVisitors + more.newVisitors,
      pageviews: row.pageviews + more.pageviews,
      events: row.events + more.events,
    };
  };
  return [
    ...rows.filter(({ bucket }) => bucket !== null && bucket !== lastBucket),
    added(lastBucket, {
      visitors: visitorsInBucket,
      newVisitors: newInBucket,
      pageviews,
      events,
    }),
    added(null, { visitors, newVisitors, pageviews, events }),
  ];
}

/** Distinct visitors of the whole span. */
export async function readRolledVisitors(source: Source, rolled: RolledSpan): Promise<number> {
  const rows = await readRolledVisits(source, rolled, [rolled.span]);
  return rows?.find(({ bucket }) => bucket === null)?.visitors ?? 0;
}

/** Sessions that start in the tail, told as those of a day. */
function tailSessions(params: SqlParams, { projectId, tail }: RolledSpan): string {
  if (tail === null) return "";
  return `UNION ALL
    SELECT 2147483647, sessions, bounces, duration_ms, CASE WHEN duration_ms = 0 THEN -1 ELSE duration_ms / 1000 END
    FROM (
      SELECT 1 AS sessions, (views <= 1 AND customs = 0)::int AS bounces,
        (last_tick >> 16) - (first_tick >> 16) AS duration_ms
      FROM sessions
      WHERE project_id = ${params.int(projectId)} AND humans > 0
        AND first_tick >= ${params.ms(tail.fromMs)} << 16 AND first_tick < ${
    params.ms(tail.toMs)
  } << 16
    ) AS late`;
}

interface MedianCell extends Row {
  readonly bucket: number | null;
  readonly seconds: number;
  /** Sessions of the bucket that are shorter than this second, and those of all lengths. */
  readonly shorter: number;
  readonly here: number;
  readonly total: number;
}

/**
 * Sessions, bounces and durations of each bucket and of the whole; null where the buckets are not
 * made of whole days. Medians: the rolled up lengths tell the second in which each lies, and the
 * few sessions of that second tell the value.
 */
export async function readRolledSessions(
  sql: Sql,
  rolled: RolledSpan,
  buckets: readonly Span[],
): Promise<BucketRow<SessionsAndMedian>[] | null> {
  const starts = startDays(buckets, rolled.timezone);
  if (starts === null) return null;
  const sums = await readSessionSums(sql, rolled, starts);
  const cells = await readMedianCells(sql, rolled, starts);
  const medians = await readMedians(sql, rolled, buckets, cells);
  return sums.map((row) => ({ ...row, medianMs: medians.get(row.bucket) ?? null }));
}

function readSessionSums(
  sql: Sql,
  rolled: RolledSpan,
  starts: readonly number[],
): Promise<BucketRow<SessionsAndMedian>[]> {
  const params = new SqlParams();
  const first = `(SELECT ${params.ints(starts)})`;
  return sql.query(
    `SELECT bucket, sum(sessions) AS sessions, sum(bounces) AS bounces, sum(duration_ms) AS "durationMs"
    FROM (
      SELECT width_bucket(day, ${first}) AS bucket, sessions, bounces, duration_ms
      FROM (
        SELECT day, sessions, bounces, duration_ms, 0 AS seconds
        FROM day_totals
        WHERE project_id = ${params.int(rolled.projectId)}
          AND day >= ${params.int(rolled.fromDay)} AND day < ${params.int(rolled.toDay)}
        ${tailSessions(params, rolled)}
      ) AS days
    ) AS bucketed
    GROUP BY GROUPING SETS ((bucket), ())
    HAVING sum(sessions) > 0`,
    params.values,
  );
}

/** The one or two seconds of each bucket that hold its middle sessions. */
function readMedianCells(
  sql: Sql,
  rolled: RolledSpan,
  starts: readonly number[],
): Promise<MedianCell[]> {
  const params = new SqlParams();
  const first = `(SELECT ${params.ints(starts)})`;
  return sql.query(
    `SELECT bucket, seconds, up_to - here AS shorter, here, total
    FROM (
      SELECT bucket, seconds, here, sum(here) OVER (PARTITION BY bucket ORDER BY seconds) AS up_to,
        sum(here) OVER (PARTITION BY bucket) AS total
      FROM (
        SELECT bucket, seconds, sum(sessions) AS here
        FROM (
          SELECT width_bucket(day, ${first}) AS bucket, seconds, sessions
          FROM (
            SELECT day, sessions, 0 AS bounces, 0 AS duration_ms, seconds
            FROM session_durations
            WHERE project_id = ${params.int(rolled.projectId)}
              AND day >= ${params.int(rolled.fromDay)} AND day < ${params.int(rolled.toDay)}
            ${tailSessions(params, rolled)}
          ) AS days
        ) AS bucketed
        GROUP BY GROUPING SETS ((bucket, seconds), (seconds))
        HAVING sum(sessions) > 0
      ) AS lengths
    ) AS ranked
    WHERE up_to > div(total - 1, 2) AND up_to - here <= div(total, 2)`,
    params.values,
  );
}

/** A session's length at a rank among those of one second. */
interface Wanted {
  readonly bucket: number | null;
  readonly seconds: number;
  readonly span: Span;
  readonly offset: number;
}

async function readMedians(
  sql: Sql,
  rolled: RolledSpan,
  buckets: readonly Span[],
  cells: readonly MedianCell[],
): Promise<Map<number | null, number>> {
  const wanted: Wanted[] = [];
  for (const { bucket, seconds, shorter, here, total } of cells) {
    const span = bucket === null ? rolled.span : buckets[bucket - 1]!;
    for (const rank of [Math.floor((total - 1) / 2), Math.floor(total / 2)]) {
      const offset = rank - shorter;
      if (offset >= 0 && offset < here) wanted.push({ bucket, seconds, span, offset });
    }
  }
  const lengths = await readLengths(sql, rolled.projectId, wanted);
  const middles = new Map<number | null, number[]>();
  wanted.forEach(({ bucket }, i) =>
    middles.set(bucket, [...middles.get(bucket) ?? [], lengths[i]!])
  );
  return new Map(
    [...middles].map((
      [bucket, two],
    ) => [bucket, two.reduce((sum, ms) => sum + ms, 0) / two.length]),
  );
}

/** Lengths in milliseconds, in the order in which they are wanted. */
async function readLengths(
  sql: Sql,
  projectId: number,
  wanted: readonly Wanted[],
): Promise<number[]> {
  const asked = wanted.filter(({ seconds }) => seconds >= 0);
  const arrays = [
    asked.map(({ seconds }) => seconds),
    asked.map(({ span }) => span.fromMs),
    asked.map(({ span }) => span.toMs),
    asked.map(({ offset }) => offset),
  ];
  const rows = asked.length === 0 ? [] : await sql.query<{ duration_ms: number }>(
    `SELECT found.duration_ms
    FROM unnest($2::text::int8[], $3::text::int8[], $4::text::int8[], $5::text::int8[])
      WITH ORDINALITY AS w (seconds, from_ms, to_ms, after, n)
    CROSS JOIN LATERAL (
      SELECT (s.last_tick >> 16) - (s.first_tick >> 16) AS duration_ms
      FROM sessions s
      WHERE s.project_id = $1::int
        AND (((s.last_tick >> 16) - (s.first_tick >> 16)) / 1000) = w.seconds
        AND s.first_tick >= w.from_ms << 16 AND s.first_tick < w.to_ms << 16
        AND s.humans > 0 AND s.last_tick >> 16 > s.first_tick >> 16
      ORDER BY 1 OFFSET w.after LIMIT 1
    ) AS found
    ORDER BY w.n`,
    [projectId, ...arrays.map(arrayLiteral)],
  );
  let next = 0;
  return wanted.map(({ seconds }) => seconds < 0 ? 0 : rows[next++]!.duration_ms);
}

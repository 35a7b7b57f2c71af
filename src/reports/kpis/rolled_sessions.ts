import { packInts, unpackInts } from "../../db/packed_ints.ts";
import { arrayLiterals, type Row, type Sql } from "../../db/sql.ts";
import { BOUNCE } from "../../store/bounce.ts";
import type { Span } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { bucketsOfDays, type RolledSpan } from "../rollups/rolled_up.ts";

/** The figures of the counted sessions of one span. */
export interface SessionsAndMedian {
  readonly sessions: number;
  readonly bounces: number;
  /** The sum of all durations. */
  readonly durationMs: number;
  /** Null where there is no session. */
  readonly medianMs: number | null;
}

/** Returns SQL for the sessions that start in the tail, as rows like those of the rollups. */
function tailSessions(params: SqlParams, { projectId, tail }: RolledSpan): string {
  if (tail === null) return "";
  return `UNION ALL
    SELECT 2147483647, sessions, bounces, duration_ms, CASE WHEN duration_ms = 0 THEN -1 ELSE duration_ms / 1000 END
    FROM (
      SELECT 1 AS sessions, (${BOUNCE})::int AS bounces,
        last_ms - first_ms AS duration_ms
      FROM sessions
      WHERE project_id = (SELECT ${params.int(projectId)}) AND humans > 0
        AND first_ms >= ${params.ms(tail.fromMs)} AND first_ms < ${params.ms(tail.toMs)}
    ) AS late`;
}

/**
 * Reads sessions, bounces and durations of each bucket, then of the whole span. For a median, its second is found
 * in the rollups of lengths, and its value among the few sessions of that second.
 * @param starts the buckets' first days
 */
export async function readRolledSessions(
  sql: Sql,
  rolled: RolledSpan,
  buckets: readonly Span[],
  starts: readonly number[],
): Promise<SessionsAndMedian[]> {
  const params = new SqlParams();
  const first = `(SELECT ${params.ints(starts)})`;
  type Sums = Omit<SessionsAndMedian, "medianMs">;
  const rows = await sql.query<Row & Sums & { readonly place: number }>(
    `SELECT coalesce(bucket - 1, ${params.int(starts.length)}) AS place,
      sum(sessions) AS sessions, sum(bounces) AS bounces, sum(duration_ms) AS "durationMs"
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
  const medians = await readMedians(sql, rolled, buckets, starts);
  const found = medians.map((medianMs) => ({ sessions: 0, bounces: 0, durationMs: 0, medianMs }));
  for (const { place, ...sums } of rows) Object.assign(found[place]!, sums);
  return found;
}

/** How many sessions are of each length in seconds. */
type Lengths = Map<number, number>;

/** Reads the lengths of the sessions of each bucket, then of the whole span. */
async function readSeconds(
  sql: Sql,
  rolled: RolledSpan,
  starts: readonly number[],
): Promise<Lengths[]> {
  const params = new SqlParams();
  const [row] = await sql.query<{ pack: string | null }>(
    `SELECT ${packInts(["day", "seconds::int", "sessions"])} AS pack
    FROM (
      SELECT day, sessions, 0 AS bounces, 0 AS duration_ms, seconds
      FROM session_durations
      WHERE project_id = ${params.int(rolled.projectId)}
        AND day >= ${params.int(rolled.fromDay)} AND day < ${params.int(rolled.toDay)}
      ${tailSessions(params, rolled)}
    ) AS days`,
    params.values,
  );
  const packed = unpackInts(row!.pack);
  const bucketOf = bucketsOfDays(starts, rolled);
  const buckets = starts.map((): Lengths => new Map());
  const whole: Lengths = new Map();
  for (let i = 0; i < packed.length; i += 3) {
    const [day, seconds, sessions] = [packed[i]!, packed[i + 1]!, packed[i + 2]!];
    // The tail belongs to the last bucket.
    const own = buckets[bucketOf[day - rolled.fromDay] ?? starts.length - 1]!;
    own.set(seconds, (own.get(seconds) ?? 0) + sessions);
    whole.set(seconds, (whole.get(seconds) ?? 0) + sessions);
  }
  return [...buckets, whole];
}

/** A session whose length is wanted: that at a rank among those of one second. */
interface Wanted extends Span {
  /** Of its bucket, or after all of them of the whole span. */
  readonly place: number;
  readonly seconds: number;
  readonly offset: number;
}

/** Returns the two middle sessions, which are the same one of an odd number; none if there are no sessions. */
function middleOf(lengths: Lengths): Pick<Wanted, "seconds" | "offset">[] {
  const total = lengths.values().reduce((sum, sessions) => sum + sessions, 0);
  if (total === 0) return [];
  const sorted = [...lengths].sort(([a], [b]) => a - b);
  return [Math.floor((total - 1) / 2), Math.floor(total / 2)].map((rank) => {
    let shorter = 0;
    let at = 0;
    while (shorter + sorted[at]![1] <= rank) shorter += sorted[at++]![1];
    return { seconds: sorted[at]![0], offset: rank - shorter };
  });
}

/**
 * Reads the median of each bucket, then of the whole span. The lengths are ranked here, as window functions over
 * all of them take the database several times as long.
 */
async function readMedians(
  sql: Sql,
  rolled: RolledSpan,
  buckets: readonly Span[],
  starts: readonly number[],
): Promise<(number | null)[]> {
  const found = await readSeconds(sql, rolled, starts);
  const wanted = found.flatMap((lengths, place) =>
    middleOf(lengths).map((one): Wanted => ({ place, ...buckets[place] ?? rolled.span, ...one }))
  );
  const lengths = await readLengths(sql, rolled.projectId, wanted);
  const medians = found.map((): number | null => null);
  for (const [i, { place }] of wanted.entries()) {
    medians[place] = (medians[place] ?? 0) + lengths[i]! / 2;
  }
  return medians;
}

/**
 * Returns the wanted lengths in milliseconds, in their order. A subquery hides the project from the planner: it would take
 * one that its statistics do not know for one without rows, and read all sessions of a span for each length.
 */
async function readLengths(
  sql: Sql,
  projectId: number,
  wanted: readonly Wanted[],
): Promise<number[]> {
  const asked = wanted.filter(({ seconds }) => seconds >= 0);
  const arrays = arrayLiterals(["seconds", "fromMs", "toMs", "offset"], asked);
  const rows = asked.length === 0 ? [] : await sql.query<{ duration_ms: number }>(
    `SELECT found.duration_ms
    FROM unnest($2::text::int8[], $3::text::int8[], $4::text::int8[], $5::text::int8[])
      WITH ORDINALITY AS w (seconds, from_ms, to_ms, after, n)
    CROSS JOIN LATERAL (
      SELECT s.last_ms - s.first_ms AS duration_ms
      FROM sessions s
      WHERE s.project_id = (SELECT $1::int)
        AND ((s.last_ms - s.first_ms) / 1000) = w.seconds
        AND s.first_ms >= w.from_ms AND s.first_ms < w.to_ms
        AND s.humans > 0 AND s.last_ms > s.first_ms
      ORDER BY 1 OFFSET w.after LIMIT 1
    ) AS found
    ORDER BY w.n`,
    [projectId, ...arrays],
  );
  let next = 0;
  return wanted.map(({ seconds }) => seconds < 0 ? 0 : rows[next++]!.duration_ms);
}

import { packInts, unpackInts } from "../../db/packed_ints.ts";
import { arrayLiteral, type Row, type Sql } from "../../db/sql.ts";
import { BOUNCE } from "../../store/bounce.ts";
import type { Span } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import type { RolledSpan } from "../rollups/rolled_span.ts";
import { bucketsOfDays, type InBucket } from "../rollups/rolled_up.ts";

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
      WHERE project_id = ${params.int(projectId)} AND humans > 0
        AND first_ms >= ${params.ms(tail.fromMs)} AND first_ms < ${params.ms(tail.toMs)}
    ) AS late`;
}

interface MedianCell {
  readonly bucket: number | null;
  readonly seconds: number;
  /** Sessions of the bucket that are shorter than this second, and those of all lengths. */
  readonly shorter: number;
  readonly here: number;
  readonly total: number;
}

/**
 * Reads sessions, bounces and durations of each bucket and of the whole span. For a median, its second is found
 * in the rollups of lengths, and its value among the few sessions of that second.
 * @param starts the buckets' first days
 */
export async function readRolledSessions(
  sql: Sql,
  rolled: RolledSpan,
  buckets: readonly Span[],
  starts: readonly number[],
): Promise<InBucket<SessionsAndMedian>[]> {
  const sums = await readSessionSums(sql, rolled, starts);
  const cells = await readMedianCells(sql, rolled, starts);
  const medians = await readMedians(sql, rolled, buckets, cells);
  return sums.map((row) => ({ ...row, medianMs: medians.get(row.bucket) ?? null }));
}

function readSessionSums(
  sql: Sql,
  rolled: RolledSpan,
  starts: readonly number[],
): Promise<InBucket<SessionsAndMedian>[]> {
  const params = new SqlParams();
  const first = `(SELECT ${params.ints(starts)})`;
  return sql.query<Row & InBucket<SessionsAndMedian>>(
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

/** The sessions of a bucket, or of the whole span, by their length in seconds. */
class Lengths {
  readonly #sessions = new Map<number, number>();
  #total = 0;

  add(seconds: number, sessions: number): void {
    this.#sessions.set(seconds, (this.#sessions.get(seconds) ?? 0) + sessions);
    this.#total += sessions;
  }

  /** Returns the one or two seconds of the middle sessions. */
  middle(bucket: number | null): MedianCell[] {
    const total = this.#total;
    const cells: MedianCell[] = [];
    let shorter = 0;
    for (const [seconds, here] of [...this.#sessions].sort(([a], [b]) => a - b)) {
      const upTo = shorter + here;
      if (upTo > Math.floor((total - 1) / 2) && shorter <= Math.floor(total / 2) && here > 0) {
        cells.push({ bucket, seconds, shorter, here, total });
      }
      shorter = upTo;
    }
    return cells;
  }
}

/**
 * Reads the one or two seconds of the middle sessions of each bucket. They are ranked here, as window functions
 * over all lengths take the database several times as long.
 */
async function readMedianCells(
  sql: Sql,
  rolled: RolledSpan,
  starts: readonly number[],
): Promise<MedianCell[]> {
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
  const buckets = starts.map(() => new Lengths());
  const whole = new Lengths();
  for (let i = 0; i < packed.length; i += 3) {
    const [day, seconds, sessions] = [packed[i]!, packed[i + 1]!, packed[i + 2]!];
    // The tail belongs to the last bucket.
    buckets[bucketOf[day - rolled.fromDay] ?? starts.length - 1]!.add(seconds, sessions);
    whole.add(seconds, sessions);
  }
  return [...buckets.flatMap((lengths, i) => lengths.middle(i + 1)), ...whole.middle(null)];
}

/** A wanted length: that of a session at a rank among those of one second. */
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

/** Returns the wanted lengths in milliseconds, in their order. */
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
      SELECT s.last_ms - s.first_ms AS duration_ms
      FROM sessions s
      WHERE s.project_id = $1::int
        AND ((s.last_ms - s.first_ms) / 1000) = w.seconds
        AND s.first_ms >= w.from_ms AND s.first_ms < w.to_ms
        AND s.humans > 0 AND s.last_ms > s.first_ms
      ORDER BY 1 OFFSET w.after LIMIT 1
    ) AS found
    ORDER BY w.n`,
    [projectId, ...arrays.map(arrayLiteral)],
  );
  let next = 0;
  return wanted.map(({ seconds }) => seconds < 0 ? 0 : rows[next++]!.duration_ms);
}

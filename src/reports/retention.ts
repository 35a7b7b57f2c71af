import { z } from "zod";
import type { Row } from "../db/sql.ts";
import { RETENTION_PERIODS_DEFAULT, RETENTION_PERIODS_MAX } from "../limits.ts";
import { type Bucket, wholePeriods } from "../selection/buckets.ts";
import { type EventMatch, readEventMatch } from "../selection/filters.ts";
import { invalidParameter, oneOf, readAll } from "../selection/parameters.ts";
import { factConditions, matchFilters } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import { mayMeanTechnical } from "../selection/technical.ts";
import type { Read, SharedRead } from "../walks/read.ts";
import { type Answer, askingOf, rate, RateShown, type Report } from "./report.ts";
import {
  type CohortQuestion,
  type CountedCohort,
  countInHistories,
} from "./retention_histories.ts";
import { readRolledCohorts } from "./rolled_cohorts.ts";
import { rolledSpan } from "./rolled_span.ts";

const COHORTS = ["first", "recurring"] as const;
const CRITERIA = ["on", "on_or_after"] as const;
const ANY_EVENT: EventMatch = { name: null, filters: [] };
const RESERVED_NAMES = ["page_view", "click", "scroll"];

/** The question with everything resolved. Times are epoch milliseconds, spans `[from, to)`. */
interface Asked extends CohortQuestion {
  /** The end of the last cohort's period. */
  readonly toMs: number;
  /** Start events from it on make no cohort that is shown, or have not happened yet. */
  readonly startsToMs: number;
}

/** Of one cohort, by its period counted from 0: its size, and who returned in cell k as `c<k>`. */
interface CohortRow extends Row {
  readonly cohort: number;
  readonly size: number;
}

const sameMatch = (a: EventMatch, b: EventMatch): boolean =>
  JSON.stringify([a.name, a.filters]) === JSON.stringify([b.name, b.filters]);

/** Whether an index leads to the events of a match, so that finding all of history's costs little. */
function isIndexed({ name, filters }: EventMatch): boolean {
  return name !== null && (!RESERVED_NAMES.includes(name) ||
    filters.some(({ field, op }) => field === "path" && op === "is"));
}

/**
 * Makes the SQL for the period of a tick, counted from 0. What follows the last cell is a period of
 * its own. The bounds are a subquery: the cast from text would otherwise be done anew for each row.
 */
function periodFinder(params: SqlParams, periods: readonly Bucket[]): (tick: string) => string {
  const bounds = [...periods.map(({ startMs }) => startMs), periods.at(-1)!.endMs];
  const array = params.bigints(bounds);
  return (tick) => `width_bucket(${tick} >> 16, (SELECT ${array})) - 1`;
}

/** Sets of periods are the bits of a bigint while they suffice: a bit string is made anew each time. */
const fitsBigint = ({ periods }: Asked): boolean => periods.length < 63;

/** What is kept of an actor's returns, and what that is to a cohort, as SQL. */
interface Returns {
  readonly kept: string;
  readonly since: (kept: string, cohort: string) => string;
}

/**
 * For `on_or_after` the last period with a return, then how many periods after the cohort's it is.
 * For `on` the set of periods with one, then a bigint of bits for those from the cohort's on.
 * `period` is that of an event, `last` that of an actor's last return.
 */
function returnsOf(params: SqlParams, asked: Asked, period: string, last: string): Returns {
  if (asked.criterion === "on_or_after") {
    return { kept: last, since: (kept, cohort) => `${kept} - (${cohort})` };
  }
  const union = (one: string) => `bit_or(${one}) FILTER (WHERE is_return)`;
  if (fitsBigint(asked)) {
    return {
      kept: union(`1::int8 << (${period})`),
      since: (kept, cohort) => `${kept} >> (${cohort})`,
    };
  }
  const nothing = `repeat('0', ${params.int(asked.periods.length)})::varbit`;
  const length = params.int(asked.cellCount);
  return {
    kept: union(`set_bit(${nothing}, ${period}, 1)`),
    since: (kept, cohort) => `substring(${kept} FROM ${cohort} + 1 FOR ${length})::bit(64)::int8`,
  };
}

/** Whether the column `returns` says that there is one in cell k. A bit string begins at its left. */
function isInCell(asked: Asked, k: number): string {
  if (asked.criterion === "on_or_after") return `returns >= ${k}`;
  return `returns & (1::int8 << ${fitsBigint(asked) ? k : 63 - k}) <> 0`;
}

/**
 * The events that count, as rows `(actor_id, tick, is_start, is_return, is_earlier)`. Where the
 * start event is the return event, facts are read once.
 */
function eventsSql(params: SqlParams, asked: Asked): string {
  const { scope, start, back, fromMs, startsToMs, returnsToMs } = asked;
  const before = (ms: number) => `f.tick < ${params.ms(ms)} << 16`;
  const rows = (toMs: number, match: EventMatch, isStart: string, isReturn: string) =>
    `SELECT f.actor_id, f.tick, ${isStart} AS is_start, ${isReturn} AS is_return,
      false AS is_earlier
    FROM facts f WHERE ${factConditions(params, scope, { fromMs, toMs }, match)}`;
  const seen = sameMatch(start, back)
    ? [rows(Math.max(startsToMs, returnsToMs), start, before(startsToMs), before(returnsToMs))]
    : [rows(startsToMs, start, "true", "false"), rows(returnsToMs, back, "false", "true")];
  if (asked.cohort === "first" && isIndexed(start)) {
    seen.push(`SELECT f.actor_id, f.tick, false, false, true
      FROM facts f WHERE ${factConditions(params, scope, null, start)} AND ${before(fromMs)}`);
  }
  return seen.join(" UNION ALL ");
}

/**
 * Not in a cohort are those who did the start event before the range: each actor is asked once. The
 * fence keeps the look-up on the index by actor, whatever the statistics say of the match.
 */
function isFirstEver(params: SqlParams, { scope, start, fromMs }: Asked): string {
  const from = `${params.ms(fromMs)} << 16`;
  // Who was first seen in the range did nothing before it, but for what is technical.
  const seen = mayMeanTechnical([...matchFilters(start), ...scope.filters])
    ? ""
    : `a.first_tick >= ${from} OR`;
  return `(${seen} NOT EXISTS (
    SELECT FROM (
      SELECT * FROM facts f WHERE f.project_id = ${params.int(scope.projectId)}
        AND f.actor_id = w.actor_id AND f.tick < ${from} OFFSET 0
    ) AS f WHERE ${factConditions(params, scope, null, start)}))`;
}

/** Actors by the period of their first start event ever, as rows `(cohort, returns)`. */
function firstSql(params: SqlParams, asked: Asked): string {
  // Of an actor's first and last event, not of each event, where that will do.
  const periodOf = periodFinder(params, asked.periods);
  const cohort = periodOf("min(tick) FILTER (WHERE is_start)");
  const last = periodOf("max(tick) FILTER (WHERE is_return)");
  const { kept, since } = returnsOf(params, asked, periodOf("tick"), last);
  const first = `SELECT actor_id, ${cohort} AS cohort, ${since(kept, cohort)} AS returns
    FROM (${eventsSql(params, asked)}) AS seen GROUP BY actor_id
    HAVING bool_or(is_start) AND NOT bool_or(is_earlier)`;
  if (isIndexed(asked.start)) return first;
  return `SELECT w.cohort, w.returns FROM (${first}) AS w
    LEFT JOIN actors a ON a.project_id = ${
    params.int(asked.scope.projectId)
  } AND a.actor_id = w.actor_id
    WHERE ${isFirstEver(params, asked)}`;
}

/** Actors once in each period with a start event, as rows `(cohort, returns)`. */
function recurringSql(params: SqlParams, asked: Asked): string {
  const periodOf = periodFinder(params, asked.periods);
  const last = "max(period) FILTER (WHERE is_return)";
  const { kept, since } = returnsOf(params, asked, "period", last);
  // The fence: each cell would otherwise reckon anew what it looks at.
  return `SELECT cohort, ${since("kept", "cohort")} AS returns FROM (
      SELECT unnest(array_agg(period) FILTER (WHERE is_start)) AS cohort, ${kept} AS kept
      FROM (
        SELECT actor_id, ${periodOf("tick")} AS period,
          bool_or(is_start) AS is_start, bool_or(is_return) AS is_return
        FROM (${eventsSql(params, asked)}) AS seen GROUP BY 1, 2
      ) AS active GROUP BY actor_id
    ) AS w OFFSET 0`;
}

/**
 * Cohorts and who of them came back, from the facts. Events are never joined with each other: of each
 * actor only the periods are kept.
 */
async function countFacts({ sql }: Pick<Read, "sql">, asked: Asked): Promise<CountedCohort[]> {
  const params = new SqlParams();
  const members = asked.cohort === "first" ? firstSql(params, asked) : recurringSql(params, asked);
  const periods = Array.from({ length: asked.cellCount }, (_, k) => k);
  const cells = periods.map((k) => `count(*) FILTER (WHERE ${isInCell(asked, k)}) AS c${k}`);
  const rows = await sql.query<CohortRow>(
    `SELECT cohort, count(*) AS size, ${cells.join(", ")}
    FROM (${members}) AS members GROUP BY cohort`,
    params.values,
  );
  return rows.map((row) => ({
    cohort: row.cohort,
    size: row.size,
    actors: periods.map((k) => row[`c${k}`] as number),
  }));
}

/** The same from the rollups, where they hold the answer. */
async function readRolled(read: Read, asked: Asked): Promise<CountedCohort[] | null> {
  const { start, back, cohort, criterion, cellCount, periods, fromMs, toMs } = asked;
  const isAny = sameMatch(start, ANY_EVENT) && sameMatch(back, ANY_EVENT);
  const rolled = isAny && cohort === "first"
    ? rolledSpan(read.scope, read.project, {
      ...read.range,
      from: new Date(fromMs),
      to: new Date(toMs),
    })
    : null;
  if (rolled === null) return null;
  const isLasting = criterion === "on_or_after";
  const { sql, asOfMs } = read;
  return await readRolledCohorts(sql, rolled, periods, { cellCount, isLasting, asOfMs });
}

function readPeriods(query: URLSearchParams): number {
  const value = query.get("periods");
  if (value === null || value === "") return RETENTION_PERIODS_DEFAULT;
  const periods = Number(value);
  if (!/^\d{1,3}$/.test(value) || periods < 1 || periods > RETENTION_PERIODS_MAX) {
    throw invalidParameter("periods", `Use a whole number from 1 to ${RETENTION_PERIODS_MAX}.`);
  }
  return periods;
}

/** The report's own parameters. */
type Own = Pick<Asked, "start" | "back" | "cohort" | "criterion" | "cellCount">;

function readOwn(query: URLSearchParams): Own {
  return readAll({
    start: () => readEventMatch(query, "start") ?? ANY_EVENT,
    back: () => readEventMatch(query, "return") ?? ANY_EVENT,
    cohort: () => oneOf(query, "cohort", COHORTS, "first"),
    criterion: () => oneOf(query, "criterion", CRITERIA, "on"),
    cellCount: () => readPeriods(query),
  });
}

/** The periods of all cells. Throws `range_too_large`, and `invalid_parameter` past the known years. */
function periodsOf({ cellCount }: Own, { range, interval }: SharedRead): Bucket[] {
  if (interval === "hour") throw invalidParameter("interval", "Use one of day, week, month.");
  return wholePeriods(range, interval, cellCount - 1);
}

function askedOf(own: Own, read: Read): Asked {
  const { cellCount, criterion } = own;
  const { scope, asOfMs } = read;
  const periods = periodsOf(own, read);
  const cohortCount = periods.length - (cellCount - 1);
  const toMs = periods[cohortCount - 1]!.endMs;
  const returnsToMs = criterion === "on" ? Math.min(periods.at(-1)!.endMs, asOfMs + 1) : asOfMs + 1;
  return {
    ...own,
    scope,
    cohortCount,
    periods,
    fromMs: periods[0]!.startMs,
    toMs,
    startsToMs: Math.min(toMs, asOfMs + 1),
    returnsToMs,
  };
}

function cellOf(
  { startMs, endMs }: Bucket,
  k: number,
  actors: number,
  size: number,
  asOfMs: number,
) {
  if (startMs > asOfMs) {
    const nothing = { value: null, numerator: 0, denominator: size };
    return { period: k, actors: null, rate: nothing, complete: false };
  }
  return { period: k, actors, rate: rate(actors, size), complete: endMs <= asOfMs };
}

/** Every cohort with every cell, those without anybody too. */
function shownCohorts(
  { periods, cohortCount, cellCount }: Asked,
  counted: readonly CountedCohort[],
  asOfMs: number,
) {
  const countedOf = new Map(counted.map((one) => [one.cohort, one]));
  return periods.slice(0, cohortCount).map(({ startMs, label }, i) => {
    const { size, actors } = countedOf.get(i) ?? { size: 0, actors: [] };
    const cells = Array.from(
      { length: cellCount },
      (_, k) => cellOf(periods[i + k]!, k, actors[k] ?? 0, size, asOfMs),
    );
    return { start: new Date(startMs).toISOString(), label, size, cells };
  });
}

/** Of each period, the cohorts whose cell is complete, large and small alike by their actors. */
function averageOf(cohorts: ReturnType<typeof shownCohorts>, cellCount: number) {
  return Array.from({ length: cellCount }, (_, period) => {
    const complete = cohorts.map(({ cells }) => cells[period]!).filter((cell) => cell.complete);
    const sum = (count: "numerator" | "denominator") =>
      complete.reduce((total, cell) => total + cell.rate[count], 0);
    return { period, rate: rate(sum("numerator"), sum("denominator")) };
  });
}

async function answer(read: Read, own: Own): Promise<Answer> {
  const asked = askedOf(own, read);
  const { start, back, cohort, criterion, cellCount, fromMs, toMs } = asked;
  const counted = await readRolled(read, asked) ?? await countInHistories(read, asked) ??
    await countFacts(read, asked);
  const cohorts = shownCohorts(asked, counted, read.asOfMs);
  return {
    query: {
      from: new Date(fromMs).toISOString(),
      to: new Date(toMs).toISOString(),
      start,
      return: back,
      cohort,
      criterion,
      periods: cellCount,
    },
    result: { cohorts, average: averageOf(cohorts, cellCount) },
    asking: askingOf({ start: [start], return: [back] }),
  };
}

const Cell = z.object({
  period: z.int().meta({ description: "Periods after the cohort's own, which is 0" }),
  actors: z.int().nullable().meta({ description: "Who returned; null: has not begun" }),
  rate: RateShown,
  complete: z.boolean().meta({ description: "False while the period runs, and before" }),
}).meta({ id: "RetentionCell" });

const Cohort = z.object({
  start: z.iso.datetime().meta({ description: "When the cohort's period begins" }),
  label: z.string().meta({ description: "The same, as local text" }),
  size: z.int().meta({ description: "Actors of the cohort" }),
  cells: z.array(Cell),
}).meta({ id: "RetentionCohort" });

/** `GET /v1/retention`: cohorts by the period of a start event, and who of them came back. */
export const RETENTION: Report = {
  path: "/v1/retention",
  summary: "Retention: who came back in the periods after the first, by cohort",
  parameters: {
    start: "The event that makes a cohort: a name, or JSON {name, filters}. Default: any event",
    return: "The event that is a return: a name, or JSON {name, filters}. Default: any event",
    cohort: "first (default): the period of the actor's first time ever; recurring: each period",
    criterion: "on (default): a return in the period; on_or_after: in it or later",
    periods:
      `Cells of a cohort, period 0 included, 1 to ${RETENTION_PERIODS_MAX}. Default: ${RETENTION_PERIODS_DEFAULT}`,
  },
  semantics:
    "The range is widened to whole periods; query.from and query.to tell it. Cohort first: actors " +
    "by the period of their first start event ever; recurring: in each period, all who did it. " +
    "Cell k counts those of the cohort with a return event k periods later (0: the cohort's own): " +
    "on: in that period; on_or_after: in it or any later one. Events count up to asOf, returns also past " +
    "`to`. Cells not begun are null, the running one is not complete. average pools cohorts whose " +
    "cell is complete: sum of returns / sum of sizes. filters and bots narrow all events. Technical " +
    "names, which begin with $, are any event only where they are named.",
  reply: {
    cohorts: z.array(Cohort),
    average: z.array(
      z.object({ period: z.int(), rate: RateShown }).meta({ id: "RetentionAverage" }),
    ),
  },
  hourly: false,
  ask: (query) => {
    const own = readOwn(query);
    return {
      refuse: (shared) => void periodsOf(own, shared),
      answer: (read) => answer(read, own),
    };
  },
};

import { z } from "zod";
import { RETENTION_PERIODS_DEFAULT, RETENTION_PERIODS_MAX } from "../../limits.ts";
import { type Bucket, wholePeriods } from "../../query/buckets.ts";
import { type EventMatch, readEventMatch } from "../../query/filters.ts";
import { invalidParameter, oneOf, readAll } from "../../query/parameters.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import { type Answer, askingOf, rate, RateShown, type Report } from "../report.ts";
import { Cohort } from "./cohort.ts";
import { type CohortQuestion, type CountedCohort, scanCohorts } from "./retention_scan.ts";
import { readRolledCohorts } from "./rolled_cohorts.ts";
import { rolledSpan } from "../rolled_span.ts";
import { isSmall } from "../small_groups.ts";
import { toldCohorts } from "./small_cohorts.ts";

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
      terms: { matches: [own.start, own.back] },
    };
  },
};

const COHORTS = ["first", "recurring"] as const;
const CRITERIA = ["on", "on_or_after"] as const;
const ANY_EVENT: EventMatch = { name: null, filters: [] };

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
type Own = Pick<CohortQuestion, "start" | "back" | "cohort" | "criterion" | "cellCount">;

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

/** The question with everything resolved. */
interface Asked extends CohortQuestion {
  /** The end of the last cohort's period. */
  readonly toMs: number;
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
    returnsToMs,
  };
}

/** From the rollups, where any event makes a cohort and is a return; else by a scan. */
async function countCohorts(read: Read, asked: Asked): Promise<CountedCohort[]> {
  const { start, back, cohort, criterion, cellCount, periods, fromMs, toMs } = asked;
  const isAny = [start, back].every(({ name, filters }) => name === null && filters.length === 0);
  const range = { ...read.range, from: new Date(fromMs), to: new Date(toMs) };
  const rolled = isAny && cohort === "first" ? rolledSpan(read.scope, read.project, range) : null;
  if (rolled === null) return await scanCohorts(read, asked);
  const isLasting = criterion === "on_or_after";
  const asking = { cellCount, isLasting, asOfMs: read.asOfMs };
  return await readRolledCohorts(read, rolled, periods, asking) ?? await scanCohorts(read, asked);
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
function averageOf(
  cohorts: ReturnType<typeof shownCohorts>,
  cellCount: number,
  visitorsMin: number,
) {
  return Array.from({ length: cellCount }, (_, period) => {
    const complete = cohorts.map(({ cells }) => cells[period]!).filter((cell) => cell.complete);
    const sum = (count: "numerator" | "denominator") =>
      complete.reduce((total, cell) => total + cell.rate[count], 0);
    const returned = sum("numerator");
    const isTold = !isSmall(returned, visitorsMin);
    return { period, rate: isTold ? rate(returned, sum("denominator")) : rate(0, 0) };
  });
}

async function answer(read: Read, own: Own): Promise<Answer> {
  const asked = askedOf(own, read);
  const { start, back, cohort, criterion, cellCount, fromMs, toMs } = asked;
  const cohorts = shownCohorts(asked, await countCohorts(read, asked), read.asOfMs);
  const told = toldCohorts(cohorts, read.visitorsMin);
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
    result: { cohorts: told, average: averageOf(cohorts, cellCount, read.visitorsMin) },
    asking: askingOf({ start: [start], return: [back] }),
  };
}

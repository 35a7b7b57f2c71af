import { z } from "zod";
import { RETENTION_PERIODS_DEFAULT, RETENTION_PERIODS_MAX } from "../../limits.ts";
import { type Bucket, wholePeriods } from "../../query/buckets.ts";
import { dateAt } from "../../query/local_dates.ts";
import { ANY_EVENT, readEventMatch } from "../../query/filters.ts";
import { invalidParameter, oneOf, readAll, readCount } from "../../query/parameters.ts";
import { type Range, startOfDay } from "../../query/range.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import { pointsOf, PointsShown } from "../answer/changes.ts";
import { COMPARED_SHOWN, comparedRead, comparedSaid } from "../answer/compared_read.ts";
import { type Answer, askingOf, rate, RateShown, type Report } from "../answer/report.ts";
import { Cohort } from "./cohort.ts";
import { type CohortQuestion, type CountedCohort, scanCohorts } from "./retention_scan.ts";
import { readRolledCohorts } from "./rolled_cohorts.ts";
import { rolledSpan } from "../rollups/rolled_span.ts";
import { isSmall } from "../answer/small_groups.ts";
import { toldCohorts } from "./small_cohorts.ts";

const FIGURES = {
  cohorts: z.array(Cohort),
  average: z.array(
    z.object({ period: z.int(), rate: RateShown }).meta({ id: "RetentionAverage" }),
  ),
};

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
    "names, which begin with $, are any event only where they are named. compare: previous is as many " +
    "whole periods just before, other ranges are widened; points = current - previous of a rate.",
  reply: {
    ...FIGURES,
    previous: z.object({ ...COMPARED_SHOWN, ...FIGURES }).optional().meta({
      description: "Only with `compare`: the cohorts of the range or segment compared with",
    }),
    change: z.object({
      average: z.array(z.object({ period: z.int(), points: PointsShown })),
    }).optional().meta({ id: "RetentionChange" }),
  },
  hourly: false,
  ask: (query) => {
    const own = readOwn(query);
    return {
      refuse: (shared) => refuseBadPeriods(own, shared),
      answer: (read) => answer(read, own),
      terms: { matches: [own.start, own.back] },
    };
  },
};

const COHORTS = ["first", "recurring"] as const;
const CRITERIA = ["on", "on_or_after"] as const;

const PERIODS = { min: 1, max: RETENTION_PERIODS_MAX, otherwise: RETENTION_PERIODS_DEFAULT };

/** The report's own parameters. */
export type Own = Pick<CohortQuestion, "start" | "back" | "cohort" | "criterion" | "cellCount">;

export function readOwn(query: URLSearchParams): Own {
  return readAll({
    start: () => readEventMatch(query, "start") ?? ANY_EVENT,
    back: () => readEventMatch(query, "return") ?? ANY_EVENT,
    cohort: () => oneOf(query, "cohort", COHORTS, "first"),
    criterion: () => oneOf(query, "criterion", CRITERIA, "on"),
    cellCount: () => readCount(query, "periods", PERIODS),
  });
}

/** The periods of all cells. Throws `range_too_large`, and `invalid_parameter` past the known years. */
function periodsOf({ cellCount }: Own, { range, interval }: SharedRead): Bucket[] {
  if (interval === "hour") throw invalidParameter("interval", "Use one of day, week, month.");
  return wholePeriods(range, interval, cellCount - 1);
}

/** Both ranges have cohorts. Throws what `periodsOf` throws. */
function refuseBadPeriods(own: Own, shared: SharedRead): void {
  periodsOf(own, shared);
  const { comparison } = shared;
  if (comparison !== null) periodsOf(own, { ...shared, range: comparison });
}

/** As many whole periods just before those of a range: what is widened to whole ones must not overlap. */
function periodsBefore({ range, interval }: Read, { fromMs, cohortCount }: Asked): Range {
  const { timezone } = range;
  const first = dateAt(fromMs, timezone);
  const from = first.subtract({ [`${interval}s`]: cohortCount });
  return {
    from: startOfDay(from, timezone),
    to: new Date(fromMs),
    timezone,
    fromDate: from,
    toDate: first.subtract({ days: 1 }),
  };
}

/** The read that is compared with; null: none is. */
function comparedCohorts(read: Read, asked: Asked): Read | null {
  const compared = comparedRead(read);
  if (compared === null || read.comparedBy !== "previous") return compared;
  return { ...compared, range: periodsBefore(read, asked) };
}

/** The question with everything resolved. */
export interface Asked extends CohortQuestion {
  /** The end of the last cohort's period. */
  readonly toMs: number;
}

export function askedOf(own: Own, read: Read): Asked {
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

/** The cohorts of a read, and what they come to together. */
async function figuresOf(read: Read, asked: Asked) {
  const cohorts = shownCohorts(asked, await countCohorts(read, asked), read.asOfMs);
  return {
    cohorts: toldCohorts(cohorts, read.visitorsMin),
    average: averageOf(cohorts, asked.cellCount, read.visitorsMin),
  };
}

const rangeShown = ({ fromMs, toMs }: Asked) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});

type Figures = Awaited<ReturnType<typeof figuresOf>>;

/** The same of another read beside it; nothing where nothing is compared. */
async function comparison(read: Read, asked: Asked, own: Own, { average }: Figures) {
  const compared = comparedCohorts(read, asked);
  if (compared === null) return {};
  const before = askedOf(own, compared);
  const figures = await figuresOf(compared, before);
  return {
    previous: { ...comparedSaid(read, compared), ...rangeShown(before), ...figures },
    change: {
      average: average.map(({ period, rate }, i) => ({
        period,
        points: pointsOf(rate, figures.average[i]!.rate),
      })),
    },
  };
}

async function answer(read: Read, own: Own): Promise<Answer> {
  const asked = askedOf(own, read);
  const { start, back, cohort, criterion, cellCount } = asked;
  const figures = await figuresOf(read, asked);
  return {
    query: {
      ...rangeShown(asked),
      start,
      return: back,
      cohort,
      criterion,
      periods: cellCount,
    },
    result: { ...figures, ...await comparison(read, asked, own, figures) },
    asking: askingOf({ start: [start], return: [back] }),
  };
}

import { z } from "zod";
import { RETENTION_PERIODS_DEFAULT, RETENTION_PERIODS_MAX } from "../../limits.ts";
import { type Bucket, wholePeriods } from "../../query/buckets.ts";
import { dateAt } from "../../query/local_dates.ts";
import { ANY_EVENT, readEventMatch, readJson } from "../../query/filters.ts";
import { invalidParameter, oneOf, readAll, readCount } from "../../query/parameters.ts";
import { type Range, startOfDay } from "../../query/range.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import { pointsOf, PointsShown } from "../answer/changes.ts";
import { COMPARED_SHOWN, comparisonOf } from "../answer/compared_read.ts";
import { type Answer, rate, RateShown, type Report } from "../answer/report.ts";
import { Cohort } from "./cohort.ts";
import type { UnitedCohorts } from "./cohort_visitor.ts";
import { type CohortQuestion, type CountedCohort, scanCohorts } from "./retention_scan.ts";
import { readRolledCohorts } from "./rolled_cohorts.ts";
import { rolledSpan } from "../rollups/rolled_up.ts";
import { isSmall } from "../answer/small_groups.ts";
import { addCohorts, withoutSmallCohorts } from "./small_cohorts.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import { counted } from "../../number_words.ts";

const FIGURES = {
  cohorts: z.array(Cohort),
  average: z.array(
    z.object({ period: z.int(), rate: RateShown }).meta({ id: "RetentionAverage" }),
  ),
};

export const RETENTION_REPLY = {
  ...FIGURES,
  previous: z.object({ ...COMPARED_SHOWN, ...FIGURES }).optional().describe(
    "Only with `compare`: the cohorts of the range or segment compared with",
  ),
  change: z.object({
    average: z.array(z.object({ period: z.int(), points: PointsShown })),
  }).optional().meta({ id: "RetentionChange" }),
};

/** `GET /v1/retention`: cohorts by the period of a start event, and how many of each came back. */
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
  compares: "asked",
  semantics:
    "The range is widened to whole periods; query.from and query.to tell it. Cohort first: actors " +
    "by the period of their first start event ever; recurring: in each period, all who did it. " +
    "Cell k counts those of the cohort with a return event k periods later (0: the cohort's own): " +
    "on: in that period; on_or_after: in it or any later one. Events count up to asOf, returns also past " +
    "`to`. Cells not begun are null, the running one is not complete. average pools cohorts whose " +
    "cell is complete: sum of returns / sum of sizes. filters and bots narrow all events. Technical " +
    "names, which begin with $, are any event only where they are named. compare: previous is as many " +
    "whole periods just before, other ranges are widened; points = current - previous of a rate.",
  reply: RETENTION_REPLY,
  hourly: false,
  ask: (query) => {
    const parameters = readRetentionParameters(query);
    return {
      refuse: (shared) => {
        for (const range of [shared.range, shared.comparison]) {
          if (range !== null) periodsOf(parameters, { ...shared, range });
        }
      },
      comparison: (shared) => comparedRange(parameters, shared),
      answer: (read) => answer(read, parameters),
      terms: { matches: { start: [parameters.start], return: [parameters.back] } },
    };
  },
};

const COHORTS = ["first", "recurring"] as const;
const CRITERIA = ["on", "on_or_after"] as const;

const PERIODS = { min: 1, max: RETENTION_PERIODS_MAX, otherwise: RETENTION_PERIODS_DEFAULT };

/** The parameters of this report alone. */
type RetentionParameters = ReturnType<typeof readRetentionParameters>;

function readRetentionParameters(query: URLSearchParams) {
  return readAll({
    start: () => readEventMatch(query, "start") ?? ANY_EVENT,
    back: () => readEventMatch(query, "return") ?? ANY_EVENT,
    cohort: () => oneOf(query, "cohort", COHORTS, "first"),
    criterion: () => oneOf(query, "criterion", CRITERIA, "on"),
    cellCount: () => readCount(query, "periods", PERIODS),
  });
}

/** Returns the periods of all cells. Throws `range_too_large`, and `invalid_parameter` past the known years. */
function periodsOf({ cellCount }: RetentionParameters, { range, interval }: SharedRead): Bucket[] {
  if (interval === "hour") throw invalidParameter("interval", "Use one of day, week, month.");
  return wholePeriods(range, interval, cellCount - 1);
}

/**
 * Returns the range to compare with. For `previous`: as many whole periods just before, finished or not;
 * widening a shorter range later could make it overlap the other one.
 */
function comparedRange(parameters: RetentionParameters, shared: SharedRead): Range | null {
  const { range: { timezone }, interval, comparison, comparedBy } = shared;
  if (comparison === null || comparedBy !== "previous") return comparison;
  const periods = periodsOf(parameters, shared);
  const to = new Date(periods[0]!.startMs);
  const first = dateAt(to.getTime(), timezone);
  const rangeFrom = (fromDate: Temporal.PlainDate) => {
    const from = startOfDay(fromDate, timezone);
    return { from, to, timezone, fromDate, toDate: first.subtract({ days: 1 }) };
  };
  const cohortCount = periods.length - (parameters.cellCount - 1);
  let before = rangeFrom(first.subtract({ [`${interval}s`]: cohortCount }));
  // A date that the zone skipped is not a period.
  while (periodsOf(parameters, { ...shared, range: before }).length < periods.length) {
    before = rangeFrom(before.fromDate.subtract({ days: 1 }));
  }
  return before;
}

/** Resolves the cohorts and periods of a read. */
function questionOf(parameters: RetentionParameters, read: Read): CohortQuestion {
  const { cellCount, criterion } = parameters;
  const { asOfMs } = read;
  const periods = periodsOf(parameters, read);
  const cohortCount = periods.length - (cellCount - 1);
  const returnsToMs = criterion === "on" ? Math.min(periods.at(-1)!.endMs, asOfMs + 1) : asOfMs + 1;
  return { ...parameters, cohortCount, periods, returnsToMs };
}

/** Returns the span of the cohorts' periods. */
const cohortSpan = ({ periods, cohortCount }: CohortQuestion) => ({
  from: new Date(periods[0]!.startMs),
  to: new Date(periods[cohortCount - 1]!.endMs),
});

/**
 * Counts from the rollups if any event makes a cohort and is a return, else in a scan.
 * @param united recurring cohorts that are also counted as one in the same scan; null: none are
 */
async function countCohorts(
  read: Read,
  question: CohortQuestion,
  united: UnitedCohorts | null,
) {
  const { start, back, cohort } = question;
  const isAny = [start, back].every(({ name, filters }) => name === null && filters.length === 0);
  const range = { ...read.range, ...cohortSpan(question) };
  const rolled = isAny && cohort === "first" ? rolledSpan(read.scope, read.project, range) : null;
  const cohorts = rolled && await readRolledCohorts(read, rolled, question, read.asOfMs);
  return cohorts === null
    ? await scanCohorts(read, question, { united })
    : { cohorts, united: null };
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

/** Returns every cohort with every cell, including those without actors. */
function shownCohorts(
  { periods, cohortCount }: CohortQuestion,
  counted: readonly CountedCohort[],
  asOfMs: number,
) {
  return periods.slice(0, cohortCount).map(({ startMs, label }, i) => {
    const { size, actors } = counted[i]!;
    const cells = actors.map((returned, k) => cellOf(periods[i + k]!, k, returned, size, asOfMs));
    return { start: new Date(startMs).toISOString(), label, size, cells };
  });
}

/**
 * Returns the average rate of each period over all actors of the cohorts whose cell is complete.
 * @param people by period, how many distinct actors came back; null: the sum over the cohorts
 */
function averageOf(
  cohorts: ReturnType<typeof shownCohorts>,
  cellCount: number,
  visitorsMin: number,
  people: readonly number[] | null,
) {
  return Array.from({ length: cellCount }, (_, period) => {
    const complete = cohorts.map(({ cells }) => cells[period]!).filter((cell) => cell.complete);
    const sum = (count: "numerator" | "denominator") =>
      complete.reduce((total, cell) => total + cell.rate[count], 0);
    const returned = sum("numerator");
    const isShown = !isSmall(people?.[period] ?? returned, visitorsMin);
    return { period, rate: isShown ? rate(returned, sum("denominator")) : rate(0, 0) };
  });
}

async function figuresOf(read: Read, question: CohortQuestion) {
  const { visitorsMin, asOfMs } = read;
  const { cohort, periods, cellCount } = question;
  const recur = cohort === "recurring" && visitorsMin > 1;
  const begun = periods.filter(({ startMs }) => startMs <= asOfMs).length;
  const over = periods.filter(({ endMs }) => endMs <= asOfMs).length;
  const unitedIn = (isUnited: (place: number) => boolean, periodCount: number): UnitedCohorts => ({
    isUnited: Uint8Array.from({ length: question.cohortCount }, (_, i) => Number(isUnited(i))),
    periodCount,
  });
  const counted = await countCohorts(read, question, recur ? unitedIn(() => true, over) : null);
  const cohorts = shownCohorts(question, counted.cohorts, asOfMs);
  const unite = async (places: ReadonlySet<number>) => {
    if (!recur) return addCohorts(cohorts.filter((_, place) => places.has(place)));
    const united = unitedIn((place) => places.has(place), begun);
    return (await scanCohorts(read, question, { united })).united!;
  };
  return {
    cohorts: await withoutSmallCohorts(cohorts, visitorsMin, unite),
    average: averageOf(cohorts, cellCount, visitorsMin, counted.united?.actors ?? null),
  };
}

function rangeShown(question: CohortQuestion) {
  const { from, to } = cohortSpan(question);
  return { from: from.toISOString(), to: to.toISOString() };
}

async function answer(read: Read, parameters: RetentionParameters): Promise<Answer> {
  const question = questionOf(parameters, read);
  const { start, back, cohort, criterion, cellCount } = parameters;
  const figures = await figuresOf(read, question);
  const comparison = await comparisonOf(read, async (compared) => {
    const before = questionOf(parameters, compared);
    const previous = await figuresOf(compared, before);
    const average = figures.average.map(({ period, rate }, i) => ({
      period,
      points: pointsOf(rate, previous.average[i]!.rate),
    }));
    return { previous: { ...rangeShown(before), ...previous }, change: { average } };
  });
  return {
    query: {
      ...rangeShown(question),
      start,
      return: back,
      cohort,
      criterion,
      periods: cellCount,
    },
    result: { ...figures, ...comparison },
  };
}

const INTERVALS = ["day", "week", "month"] as const;

/** The number of a cohort that `of` names: the number in a cell, or without a period the cohort's size. */
const RetentionNumber = z.strictObject({
  cohort: z.iso.datetime('Use the "start" of a cohort.'),
  period: z.int().min(0).max(RETENTION_PERIODS_MAX - 1).optional(),
});

/** Lists the actors of a cohort, or only those who came back in a period. */
export const COHORT_PEOPLE: NumberedRead = {
  name: "retention",
  parameters: [...Object.keys(RETENTION.parameters), "interval"],
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const parameters = readRetentionParameters(query);
    const { cellCount, start, back } = parameters;
    const interval = oneOf(query, "interval", INTERVALS, "day");
    const { cohort: from, period = null } = readJson(query, "place", RetentionNumber)!;
    if ((period ?? 0) >= cellCount) {
      throw invalidParameter(
        "place",
        `A cohort has ${counted(cellCount, "cell")}, counted from 0.`,
      );
    }
    return {
      find: async (read) => {
        const question = questionOf(parameters, { ...read, interval });
        const fromMs = Date.parse(from);
        const cohort = question.periods.slice(0, question.cohortCount)
          .findIndex(({ startMs }) => startMs === fromMs);
        if (cohort === -1) throw invalidParameter("of", "In this range no cohort starts then.");
        return (await scanCohorts(read, question, { listed: { cohort, period } })).members;
      },
      matches: [start, back],
    };
  },
};

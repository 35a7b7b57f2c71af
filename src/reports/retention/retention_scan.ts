import { TIMESTAMP_MS_MIN } from "../../limits.ts";
import type { Bucket } from "../../query/buckets.ts";
import type { EventMatch } from "../../query/filters.ts";
import { matchFilters, type Scope } from "../../query/selection.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { eventPasses } from "../../scans/event_tests.ts";
import type { Read } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import type { Behind } from "../behind/behind_tally.ts";
import {
  COHORT_COUNTS,
  type CohortCounts,
  type CohortInputs,
  type CohortRules,
  type ListedCohort,
  type UnitedCohorts,
} from "./cohort_visitor.ts";

/** The cohorts to count. Times are epoch milliseconds. */
export interface CohortQuestion extends CohortRules {
  readonly scope: Scope;
  readonly start: EventMatch;
  readonly back: EventMatch;
  /** Whole periods without gaps: those of the cohorts, then those of cells only. */
  readonly periods: readonly Bucket[];
}

export interface CountedCohort {
  /** The cohort's period, counted from 0. */
  readonly cohort: number;
  readonly size: number;
  /** How many came back, by the number of periods after the cohort's own. */
  readonly actors: readonly number[];
}

/** Returns the cohorts that have actors. */
function countedCohorts(
  { sizes, cells }: CohortCounts,
  { criterion, cellCount }: CohortQuestion,
): CountedCohort[] {
  const cohorts: CountedCohort[] = [];
  for (const [cohort, size] of sizes.entries()) {
    if (size === 0) continue;
    const actors = [...cells.subarray(cohort * cellCount, (cohort + 1) * cellCount)];
    if (criterion === "on_or_after") {
      // Each actor was counted only in the last cell that they belong to.
      for (let k = cellCount - 2; k >= 0; k--) actors[k]! += actors[k + 1]!;
    }
    cohorts.push({ cohort, size, actors });
  }
  return cohorts;
}

/** The counts of several cohorts together, each actor once. */
export interface UnitedCounts {
  readonly size: number;
  /** By cell: the actors of cohorts whose cell counts. */
  readonly counted: readonly number[];
  /** By cell: how many of these came back. */
  readonly actors: readonly number[];
}

function unitedCounts({ united }: CohortCounts, { cellCount }: CohortQuestion): UnitedCounts {
  const [size, ...counts] = united;
  return { size: size!, counted: counts.slice(0, cellCount), actors: counts.slice(cellCount) };
}

export type CohortSource = Pick<Read, "sql" | "timelines">;

export interface CountedCohorts {
  readonly cohorts: readonly CountedCohort[];
  /** The counts of those that are counted as one; null: none are. */
  readonly united: UnitedCounts | null;
}

/** Counts cohorts and their returns in one scan. `united`: cohorts that are also counted as one; null: none. */
export async function scanCohorts(
  source: CohortSource,
  question: CohortQuestion,
  united: UnitedCohorts | null,
): Promise<CountedCohorts> {
  const counts = await scan(source, question, { united });
  return {
    cohorts: countedCohorts(counts, question),
    united: united === null ? null : unitedCounts(counts, question),
  };
}

/** Lists the actors of a cohort or cell by the same scan. */
export async function findMembers(
  source: CohortSource,
  question: CohortQuestion,
  listed: ListedCohort,
): Promise<Behind> {
  return (await scan(source, question, { listed })).members;
}

/** Counts cohorts as one by the same scan: of recurring cohorts, an actor may be in several. */
export async function scanUnited(
  source: CohortSource,
  question: CohortQuestion,
  united: UnitedCohorts,
): Promise<UnitedCounts> {
  return unitedCounts(await scan(source, question, { united }), question);
}

/** What a scan returns in addition to the sizes and cells. */
interface ScanExtras {
  readonly listed?: ListedCohort | null;
  readonly united?: UnitedCohorts | null;
}

/** Scans the timelines of a question. */
async function scan(
  { sql, timelines }: CohortSource,
  question: CohortQuestion,
  { listed = null, united = null }: ScanExtras,
): Promise<CohortCounts> {
  const { scope, start, back, cohort, fromMs, returnsToMs } = question;
  const selected = await selectTimelines({ sql, scope, timelines }, {
    // The first start event ever may be long before the range.
    fromMs: cohort === "first" ? TIMESTAMP_MS_MIN : fromMs,
    toMs: returnsToMs,
  }, { filters: [...start.filters, ...back.filters] });
  const { eventFilters } = selected;
  const ofMatches = [start, back].map((match) =>
    withoutTechnical(matchFilters(match), eventFilters)
  );
  const lists = [eventFilters, ...ofMatches];
  const { bits } = selected.timelines;
  const [ofScope, ofStart, ofReturn] = await eventPasses(sql, scope, scope.bots, lists, bits);
  const { criterion, cellCount, cohortCount } = question;
  const inputs: CohortInputs = {
    scope: ofScope!,
    start: ofStart!,
    back: ofReturn!,
    cohort,
    criterion,
    cellCount,
    cohortCount,
    fromMs,
    returnsToMs,
    periods: question.periods.map(({ startMs, endMs }) => ({ fromMs: startMs, toMs: endMs })),
    listed,
    united,
  };
  return await selected.scan(COHORT_COUNTS, () => inputs, { askedEvents: inputs.scope });
}

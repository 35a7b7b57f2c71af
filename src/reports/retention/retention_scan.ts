import { TIMESTAMP_MS_MIN } from "../../limits.ts";
import type { Bucket } from "../../query/buckets.ts";
import type { EventMatch } from "../../query/filters.ts";
import { matchFilters } from "../../query/selection.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { eventPasses } from "../../scans/event_tests.ts";
import type { ScanSource } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import {
  COHORT_COUNTS,
  type CohortCounts,
  type CohortInputs,
  type CohortRules,
} from "./cohort_visitor.ts";

/** The cohorts to count. */
export interface CohortQuestion extends CohortRules {
  readonly start: EventMatch;
  readonly back: EventMatch;
  /** Whole periods without gaps: those of the cohorts, then those of cells only. */
  readonly periods: readonly Bucket[];
}

/** The counts of one cohort. */
export interface CountedCohort {
  readonly size: number;
  /** How many came back, by the number of periods after the cohort's own. */
  readonly actors: readonly number[];
}

function countedCohorts(
  { sizes, cells }: CohortCounts,
  { criterion, cellCount }: CohortQuestion,
): CountedCohort[] {
  return Array.from(sizes, (size, cohort) => {
    const actors = [...cells.subarray(cohort * cellCount, (cohort + 1) * cellCount)];
    if (criterion === "on_or_after") {
      // Each actor was counted only in the last cell that they belong to.
      for (let k = cellCount - 2; k >= 0; k--) actors[k]! += actors[k + 1]!;
    }
    return { size, actors };
  });
}

/** The counts of several cohorts together, each actor once. */
export interface UnitedCounts {
  readonly size: number;
  /** By cell: the actors of cohorts whose cell counts. */
  readonly counted: readonly number[];
  /** By cell: how many of these came back. */
  readonly actors: readonly number[];
}

/**
 * Counts cohorts, by their periods, and their returns in one scan. `united`: recurring cohorts, of which an actor
 * may be in several, that are also counted as one; `listed`: the cohort or cell whose actors are listed.
 */
export async function scanCohorts(
  read: ScanSource,
  question: CohortQuestion,
  { listed = null, united = null }: Partial<Pick<CohortInputs, "listed" | "united">>,
) {
  const { sql, scope } = read;
  const { start, back, periods, ...rules } = question;
  const { cohort, cellCount, returnsToMs } = rules;
  const selected = await selectTimelines(read, {
    // The first start event ever may be long before the range.
    fromMs: cohort === "first" ? TIMESTAMP_MS_MIN : periods[0]!.startMs,
    toMs: returnsToMs,
  }, { filters: [...start.filters, ...back.filters] });
  const { eventFilters } = selected;
  const ofMatches = [start, back].map((match) =>
    withoutTechnical(matchFilters(match), eventFilters)
  );
  const lists = [eventFilters, ...ofMatches];
  const { bits } = selected.timelines;
  const [ofScope, ofStart, ofReturn] = await eventPasses(sql, scope, scope.bots, lists, bits);
  const inputs: CohortInputs = {
    scope: ofScope!,
    start: ofStart!,
    back: ofReturn!,
    ...rules,
    periods: periods.map(({ startMs, endMs }) => ({ fromMs: startMs, toMs: endMs })),
    listed,
    united,
  };
  const counts = await selected.scan(COHORT_COUNTS, () => inputs, { askedEvents: inputs.scope });
  const [size, ...cells] = counts.united;
  const ofUnited: UnitedCounts | null = united && {
    size: size!,
    counted: cells.slice(0, cellCount),
    actors: cells.slice(cellCount),
  };
  return {
    cohorts: countedCohorts(counts, question),
    united: ofUnited,
    members: counts.members,
  };
}

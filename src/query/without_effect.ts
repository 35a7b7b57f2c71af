import { type ComparisonKind, comparisonKind, shownComparison } from "./comparison.ts";
import { readFilters } from "./filters.ts";
import { givenText, oneOf, pageRows, readAll, refuseUnknown } from "./parameters.ts";
import { readSegmentSlug } from "./saved_segment.ts";
import { BOT_CHOICES } from "./selection.ts";
import { readTimes } from "./times.ts";
import type { Warning } from "./warnings.ts";
import { PROJECT_QUERY } from "./project_query.ts";

export const NO_EFFECT = "Of no effect here";

/**
 * The shared parameters that change nothing in a list of saved things. They are accepted, because who reads
 * the notes on a chart sends the parameters of the chart.
 */
export const WITHOUT_EFFECT: Readonly<Record<string, string>> = {
  interval: NO_EFFECT,
  compare: NO_EFFECT,
  segment: NO_EFFECT,
  filters: NO_EFFECT,
  bots: NO_EFFECT,
  limit: NO_EFFECT,
  cursor: NO_EFFECT,
};

/** The parameters of a list of a project's saved things: those that reads share. */
export const LIST_QUERY: Readonly<Record<string, string>> = {
  ...PROJECT_QUERY,
  from: NO_EFFECT,
  to: NO_EFFECT,
  timezone: NO_EFFECT,
  ...WITHOUT_EFFECT,
};

/** What a read compares with: what `compare` asks for, always the previous period, or nothing. */
export type Compares = "asked" | "previous" | "nothing";

const UNCOMPARED: Readonly<Record<Exclude<Compares, "asked">, string>> = {
  previous: "This read compares with the previous period, whatever `compare` says.",
  nothing: "This read compares with nothing: `compare` changes nothing in it.",
};

/** Warns if a comparison was asked for that the read does not make. */
export function comparisonWarnings(compares: Compares, asked: ComparisonKind): Warning[] {
  if (compares === "asked" || asked === "none" || asked === compares) return [];
  return [{ code: "without_effect", parameter: "compare", message: UNCOMPARED[compares] }];
}

/**
 * Reads the parameters of such a list. Returns its range, of any length, and all of them as its reply shows them.
 * @param known descriptions of the parameters that it takes
 * @throws Problem `invalid_parameter` that names every bad one
 */
export function readOfList(
  query: URLSearchParams,
  known: Readonly<Record<string, string>>,
  { id, timezone }: { readonly id: string; readonly timezone: string },
  nowMs: number,
) {
  const { times, unknown: _, ...others } = readAll({
    unknown: () => refuseUnknown(query, Object.keys(known)),
    times: () => readTimes(query, timezone, nowMs, { isSingle: true }),
    segment: () => readSegmentSlug(query),
    filters: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOT_CHOICES, "exclude"),
    limit: () => pageRows(query),
  });
  const resolved = {
    project: id,
    from: times.range.from.toISOString(),
    to: times.range.to.toISOString(),
    timezone: times.range.timezone,
    interval: times.interval,
    compare: shownComparison(query, times.comparison),
    ...others,
    cursor: givenText(query, "cursor"),
    warnings: comparisonWarnings("nothing", comparisonKind(query)),
  };
  return { range: times.range, resolved };
}

import { readInterval } from "./buckets.ts";
import { type ComparisonKind, readComparison } from "./comparison.ts";
import { readFilters } from "./filters.ts";
import { oneOf, pageRows, readAll } from "./parameters.ts";
import { readSegmentSlug } from "./saved_segment.ts";
import { BOT_CHOICES } from "./selection.ts";
import type { Warning } from "./warnings.ts";

export const NO_EFFECT = "Of no effect here";

/**
 * The shared parameters that change nothing in a list of what people have saved. Whoever asks for what belongs
 * to a chart sends what the chart was asked with.
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

/** What a read compares with: what `compare` says, the previous period whatever it says, or nothing. */
export type Compares = "asked" | "previous" | "nothing";

const UNCOMPARED: Readonly<Record<Exclude<Compares, "asked">, string>> = {
  previous: "This read compares with the previous period, whatever `compare` says.",
  nothing: "This read compares with nothing: `compare` changes nothing in it.",
};

/** Warns where another comparison was asked for than the read makes. */
export function comparisonWarnings(compares: Compares, asked: ComparisonKind): Warning[] {
  if (compares === "asked" || asked === "none" || asked === compares) return [];
  return [{ code: "without_effect", parameter: "compare", message: UNCOMPARED[compares] }];
}

/** Checks the values of these parameters. @throws Problem `invalid_parameter` that names every bad one */
export function checkWithoutEffect(query: URLSearchParams, timezone: string, nowMs: number): void {
  readAll({
    interval: () => readInterval(query, null),
    compare: () => readComparison(query, null, timezone, nowMs),
    segment: () => readSegmentSlug(query),
    filters: () => readFilters(query),
    bots: () => oneOf(query, "bots", BOT_CHOICES, "exclude"),
    limit: () => pageRows(query),
  });
}

import { readInterval } from "./buckets.ts";
import { readComparison } from "./comparison.ts";
import { readFilters } from "./filters.ts";
import { oneOf, pageRows, readAll } from "./parameters.ts";
import { readSegmentSlug } from "./saved_segment.ts";
import { BOT_CHOICES } from "./selection.ts";

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

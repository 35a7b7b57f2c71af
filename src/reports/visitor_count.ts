import type { EventMatch } from "../query/filters.ts";
import type { Span } from "../query/selection.ts";
import { matchPasses } from "../scans/match_passes.ts";
import type { Read } from "../scans/read.ts";
import { selectTimelines } from "../scans/selected_timelines.ts";
import { MATCH_COUNTS, type MatchInputs } from "./match_visitor.ts";

/** Distinct actors of the selected events in a span that each of the matches takes, in one scan. */
export async function countVisitors(
  source: Pick<Read, "sql" | "scope" | "timelines">,
  span: Span,
  matches: readonly EventMatch[],
): Promise<number[]> {
  const { sql, scope } = source;
  const asked = matches.flatMap((match) => match.filters);
  const selected = await selectTimelines(source, span, { filters: asked });
  const { eventFilters: filters, timelines } = selected;
  const inputs: MatchInputs = {
    matches: await matchPasses(sql, { ...scope, filters }, matches, timelines.bits),
    buckets: [span],
    breakdown: null,
    countsVisitors: false,
    figures: [],
    figuresOfWhole: false,
  };
  const { actors } = await selected.scan(MATCH_COUNTS, () => inputs);
  return [...actors];
}

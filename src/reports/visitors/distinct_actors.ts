import type { EventMatch } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import type { ScanSource } from "../../scans/read.ts";
import { selectMatches } from "../../scans/selected_events.ts";
import { MATCH_COUNTS, type MatchCounts } from "./match_visitor.ts";

/**
 * Counts, in one scan, the distinct actors of the selected events that each match takes.
 * @param buckets in order, without gaps
 */
export async function distinctActors(
  source: ScanSource,
  buckets: readonly Span[],
  eventMatches: readonly EventMatch[],
): Promise<Pick<MatchCounts, "actors" | "actorsOf">> {
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const { selected, matches } = await selectMatches(source, span, eventMatches);
  return await selected.scan(MATCH_COUNTS, () => ({ matches, buckets }));
}

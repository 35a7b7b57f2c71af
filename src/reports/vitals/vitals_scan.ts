import type { EventMatch, Field } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import type { MatchPasses } from "../../scans/match_tests.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import type { ScanSource } from "../../scans/read.ts";
import type { SelectedTimelines } from "../../scans/selected_timelines.ts";
import { MATCH_COUNTS, type MatchInputs } from "../visitors/match_visitor.ts";
import { type Breakdown, type CountedNumbers, sumCounted } from "../visitors/property_figures.ts";
import { selectMatches } from "../../scans/selected_events.ts";
import { OTHER } from "../answer/small_groups.ts";
import { readBreakdown } from "../visitors/value_breakdown.ts";
import { ofEachVital, VITAL_NAMES, type VitalName, VITALS_EVENT } from "./vital_bounds.ts";

/** The measurements of some page views. */
export interface MeasuredVitals {
  /** Page views that sent any measurement. */
  readonly pageViews: number;
  /** The distinct numbers of each vital, and how often each was measured. */
  readonly counted: Readonly<Record<VitalName, CountedNumbers>>;
}

const MATCH: EventMatch = { name: VITALS_EVENT, filters: [] };
// Any percentile would do here: counting for one keeps all numbers, so others can be computed later.
const FIGURES = VITAL_NAMES.map((key) => ({ match: 0, measure: { kind: "p50", key } as const }));

/** Returns the measurements of each line of `breakdown`, or without it of each bucket. */
async function scanPlaces(
  selected: SelectedTimelines,
  matches: MatchPasses,
  buckets: readonly Span[],
  breakdown: Breakdown | null,
): Promise<MeasuredVitals[]> {
  const inputs: MatchInputs = { matches, buckets, breakdown, figures: FIGURES };
  const { totalsOf, figures } = await selected.scan(MATCH_COUNTS, () => inputs);
  return Array.from(totalsOf, (pageViews, place) => ({
    pageViews,
    counted: ofEachVital((_, i) => figures[i]!.counted[place]!),
  }));
}

async function sumOf(rows: readonly MeasuredVitals[]): Promise<MeasuredVitals> {
  const sums: CountedNumbers[] = [];
  for (const name of VITAL_NAMES) {
    sums.push(await sumCounted(rows.map(({ counted }) => counted[name])));
  }
  return {
    pageViews: rows.reduce((sum, { pageViews }) => sum + pageViews, 0),
    counted: ofEachVital((_, i) => sums[i]!),
  };
}

/**
 * Reads the measurements of a range: for each value of a field, those with the most page views first, `$other`
 * last, and in each bucket.
 */
export async function scanVitals(
  read: ScanSource,
  buckets: readonly Span[],
  by: Field,
) {
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const { selected, matches } = await selectMatches(read, span, [MATCH], {
    // Events of other names seldom have these properties.
    columns: VITAL_NAMES.map((property) => ({ property, isSparse: true })),
  });
  for (const name of VITAL_NAMES) prepareNumbers(selected.timelines, name);
  const split = { by, only: null };
  const { top, breakdown } = await readBreakdown(read, split, span, selected, matches);
  // Line 0 is that of all other values.
  const [others, ...lines] = await scanPlaces(selected, matches, [span], breakdown);
  const rows = top.map((value, i) => ({ value, ...lines[i]! }));
  if (others!.pageViews > 0) rows.push({ value: OTHER, ...others! });
  return {
    total: await sumOf(rows),
    rows,
    buckets: await scanPlaces(selected, matches, buckets, null),
  };
}

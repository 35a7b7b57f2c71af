import type { EventMatch, Field } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import type { MatchPasses } from "../../scans/match_tests.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import type { Read } from "../../scans/read.ts";
import type { SelectedTimelines } from "../../scans/selected_timelines.ts";
import { MATCH_COUNTS, type MatchInputs } from "../visitors/match_visitor.ts";
import { type Breakdown, type Counted, mergeCounted } from "../visitors/property_figures.ts";
import { selectMatches } from "../visitors/selected_events.ts";
import { OTHER } from "../answer/small_groups.ts";
import { readBreakdown } from "../visitors/value_breakdown.ts";
import { VITAL_NAMES, type VitalName, VITALS_EVENT } from "./vital_bounds.ts";

/** Measurements of some page views. */
export interface Measured {
  /** Page views that sent any. */
  readonly pageViews: number;
  /** Of each vital the different numbers, and how often each was met. */
  readonly met: Readonly<Record<VitalName, Counted>>;
}

interface FoundVitals {
  readonly total: Measured;
  /** Values with most page views first, all others together last. */
  readonly rows: readonly (Measured & { readonly value: string | null })[];
  readonly buckets: readonly Measured[];
}

const MATCH: EventMatch = { name: VITALS_EVENT, filters: [] };
// A percentile keeps every number that it is of: which one is asked for later.
const FIGURES = VITAL_NAMES.map((key) => ({ match: 0, measure: { kind: "p50", key } as const }));

/** What was measured at each place: by line, or by bucket. */
async function scanPlaces(
  selected: SelectedTimelines,
  matches: MatchPasses,
  buckets: readonly Span[],
  breakdown: Breakdown | null,
): Promise<Measured[]> {
  const inputs: MatchInputs = { matches, buckets, breakdown, figures: FIGURES };
  const { totalsOf, figures } = await selected.scan(MATCH_COUNTS, () => inputs);
  return Array.from(totalsOf, (pageViews, place) => {
    const met = VITAL_NAMES.map((name, i) => [name, figures[i]!.met[place]!] as const);
    return { pageViews, met: Object.fromEntries(met) as Record<VitalName, Counted> };
  });
}

/** All of them as one. */
function together(some: readonly Measured[]): Measured {
  const none: Counted = { numbers: new Float64Array(0), counts: new Float64Array(0) };
  const met = VITAL_NAMES.map((name) =>
    [name, some.reduce((sum, { met }) => mergeCounted(sum, met[name]), none)] as const
  );
  return {
    pageViews: some.reduce((sum, { pageViews }) => sum + pageViews, 0),
    met: Object.fromEntries(met) as Record<VitalName, Counted>,
  };
}

/** What was measured in a range: of each value of a field, and in each bucket. */
export async function scanVitals(
  read: Pick<Read, "sql" | "scope" | "timelines">,
  buckets: readonly Span[],
  by: Field,
): Promise<FoundVitals> {
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const { selected, matches } = await selectMatches(read, span, [MATCH], {
    // Other names' events seldom have such properties.
    columns: VITAL_NAMES.map((property) => ({ property, isSparse: true })),
  });
  for (const name of VITAL_NAMES) prepareNumbers(selected.timelines, name);
  const split = { by, only: null };
  const { top, breakdown } = await readBreakdown(read, split, span, selected, matches);
  // Line 0 is of all other values.
  const [others, ...lines] = await scanPlaces(selected, matches, [span], breakdown);
  const rows = top.map((value, i) => ({ value, ...lines[i]! }));
  if (others!.pageViews > 0) rows.push({ value: OTHER, ...others! });
  return {
    total: together(rows),
    rows,
    buckets: await scanPlaces(selected, matches, buckets, null),
  };
}

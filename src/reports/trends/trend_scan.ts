import { passesOfMatches } from "../../scans/match_passes.ts";
import { type EventMatch, type Field, isSessionField } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { lazyColumnsOf } from "../../scans/field_value_ids.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import type { ScanSource } from "../../scans/read.ts";
import { MATCH_COUNTS, type MatchInputs } from "../visitors/match_visitor.ts";
import { type FigureCounts, figuresOf } from "../visitors/property_figures.ts";
import { rate } from "../answer/report.ts";
import { OTHER } from "../answer/small_groups.ts";
import { selectMatches } from "../../scans/selected_events.ts";
import { readBreakdown } from "../visitors/value_breakdown.ts";
import type { Measure } from "../visitors/trend_measures.ts";

export interface TrendQuestion {
  readonly events: readonly EventMatch[];
  readonly measure: Measure;
  readonly by: Field | null;
  /** The values that may have a line of their own; null: any may. */
  readonly only: ReadonlySet<string | null> | null;
}

/** The measure of one event and value, in every bucket. */
export interface TrendLine {
  /** The index of the event in the question: several events may have the same name. */
  readonly place: number;
  readonly event: string | null;
  readonly value: string | null;
  /** Whether it is the line of all other values; a value of its own may have the same name. */
  readonly isOther: boolean;
  readonly values: readonly (number | null)[];
}

export interface TrendLines {
  /** Values with lines of their own, most events first; null without `by`. */
  readonly top: readonly (string | null)[] | null;
  /** The lines that have events: by event those of `top`, then that of all other values. */
  readonly lines: readonly TrendLine[];
}

/** Returns the measure of one event line by line, and in each line bucket by bucket. */
function measured(
  measure: Measure,
  totals: Int32Array,
  actors: Int32Array,
  figures: FigureCounts | undefined,
): readonly (number | null)[] {
  const { kind } = measure;
  if (figures !== undefined && measure.key !== null) return figuresOf(measure.kind, figures);
  if (kind === "perVisitor") {
    return Array.from(totals, (total, place) => rate(total, actors[place]!).value);
  }
  return [...kind === "total" ? totals : actors];
}

/** Computes the measure of events in each bucket in one scan; with `by`, another scan precedes it. */
export async function scanTrends(
  read: ScanSource,
  buckets: readonly Span[],
  { events, measure, by, only }: TrendQuestion,
): Promise<TrendLines> {
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const { selected, matches } = await selectMatches(read, span, events, {
    columns: [...lazyColumnsOf(by), ...measure.key === null ? [] : [{ property: measure.key }]],
    sessions: by !== null && isSessionField(by),
  });
  if (measure.key !== null) prepareNumbers(selected.timelines, measure.key);
  const found = by === null
    ? null
    : await readBreakdown(read, { by, only }, span, selected, matches);
  const { top, breakdown } = found ?? { top: null, breakdown: null };
  const inputs: MatchInputs = {
    matches,
    buckets,
    breakdown,
    figures: measure.key === null ? [] : events.map((_, match) => ({ match, measure })),
  };
  const counts = await selected.scan(MATCH_COUNTS, () => inputs, {
    askedEvents: passesOfMatches(matches),
  });
  const lineCount = breakdown?.count ?? 1;
  // Line 0 is that of all other values, and without `by` the only one.
  const own = (top ?? []).map((value, i) => ({ line: i + 1, value, isOther: false }));
  const isOther = top !== null;
  const shown = [...own, { line: 0, value: isOther ? OTHER : null, isOther }];
  const lines = events.flatMap(({ label, name }, place) => {
    const from = place * lineCount * buckets.length;
    const to = from + lineCount * buckets.length;
    const totals = counts.totalsOf.subarray(from, to);
    const actors = counts.actorsOf.subarray(from, to);
    const all = measured(measure, totals, actors, counts.figures[place]);
    return shown.flatMap(({ line, value, isOther }): TrendLine[] => {
      const at = line * buckets.length;
      const end = at + buckets.length;
      if (top !== null && !totals.subarray(at, end).some((n) => n > 0)) return [];
      return [{ place, event: label ?? name, value, isOther, values: all.slice(at, end) }];
    });
  });
  return { top, lines };
}

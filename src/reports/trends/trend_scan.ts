import { type EventMatch, type Field, isSessionField } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { lazyColumnsOf } from "../../scans/field_value_ids.ts";
import { matchTests } from "../../scans/match_tests.ts";
import { MatchWalk } from "../../scans/match_walk.ts";
import { walkMatched } from "../../scans/matched_walk.ts";
import type { Read } from "../../scans/read.ts";
import { selectHistories } from "../../scans/selected_histories.ts";
import { PropertyFigures } from "../property_figures.ts";
import { rate } from "../report.ts";
import { readLines } from "./trend_lines.ts";
import type { Measure } from "../trend_measures.ts";

/** What is asked of every bucket. */
export interface TrendQuestion {
  readonly events: readonly EventMatch[];
  readonly measure: Measure;
  readonly by: Field | null;
  /** The values that may have a line of their own; null: any may. */
  readonly only: ReadonlySet<string | null> | null;
}

export interface FoundTrends {
  /** Values with a line of their own, most events first; null where nothing is told apart. */
  readonly top: readonly (string | null)[] | null;
  /**
   * Of each event the lines, 0 that of all other values, the others in the order of `top`; and of each
   * the measure in every bucket, null where the line has none of the events. One line where nothing
   * is told apart.
   */
  readonly values: readonly (readonly (readonly (number | null)[] | null)[])[];
}

/** Whether what is counted depends on which actor did what. */
function tellsActors({ kind }: Measure): boolean {
  return kind === "visitors" || kind === "perVisitor";
}

/** The measure of one event at each place, line by line, then bucket by bucket. */
function measured(
  { kind }: Measure,
  totals: Int32Array,
  actors: Int32Array,
  figures: PropertyFigures | undefined,
): readonly (number | null)[] {
  if (figures !== undefined) return figures.figures();
  if (kind === "perVisitor") {
    return Array.from(totals, (total, place) => rate(total, actors[place]!).value);
  }
  return [...kind === "total" ? totals : actors];
}

/** What the trends of events come to in each bucket, in one walk; in one more before it by a field. */
export async function scanTrends(
  read: Pick<Read, "sql" | "scope" | "histories">,
  buckets: readonly Span[],
  { events, measure, by, only }: TrendQuestion,
): Promise<FoundTrends> {
  const { sql, scope } = read;
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const selected = await selectHistories(read, span, {
    filters: events.flatMap((event) => event.filters),
    columns: [...lazyColumnsOf(by), ...measure.key === null ? [] : [{ property: measure.key }]],
    sessions: by !== null && isSessionField(by),
  });
  const { eventFilters: filters, histories: { bits } } = selected;
  const tests = await matchTests(sql, { ...scope, filters }, events, bits);
  const found = by === null ? null : await readLines(read, { by, only }, span, selected, tests);
  const lines = found?.lines ?? null;
  const counts = new MatchWalk(tests, buckets, lines, false);
  const figures = measure.key === null
    ? []
    : events.map((_, event) => new PropertyFigures(tests, event, measure, buckets, lines));
  await walkMatched(sql, selected, tests, tellsActors(measure), (actor, segment, start, end) => {
    counts.follow(actor, segment, start, end);
    for (const one of figures) one.follow(actor, segment, start, end);
  });
  const values = events.map((_, event) => {
    const from = counts.placeOf(event, 0);
    const to = counts.placeOf(event + 1, 0);
    const totals = counts.totalsOf.subarray(from, to);
    const all = measured(measure, totals, counts.actorsOf.subarray(from, to), figures[event]);
    return Array.from({ length: lines?.count ?? 1 }, (_, line) => {
      const at = line * buckets.length;
      const has = lines === null || totals.subarray(at, at + buckets.length).some((n) => n > 0);
      return has ? all.slice(at, at + buckets.length) : null;
    });
  });
  return { top: found?.top ?? null, values };
}

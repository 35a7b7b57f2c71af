import type { Row } from "../db/sql.ts";
import { type EventMatch, type Field, isSessionField } from "../selection/filters.ts";
import type { Span } from "../selection/selection.ts";
import { isKnownToHistories } from "../walks/event_tests.ts";
import { isToldByHistories } from "../walks/field_value_ids.ts";
import { matchTests } from "../walks/match_tests.ts";
import { MatchWalk } from "../walks/match_walk.ts";
import { walkMatched } from "../walks/matched_walk.ts";
import type { Read } from "../walks/read.ts";
import { selectHistories } from "../walks/selected_histories.ts";
import { type Figure, figureOfNothing, PropertyFigures } from "./property_figures.ts";
import { readLines } from "./trend_lines.ts";
import type { Measure } from "./trend_measures.ts";

/** What is asked of every bucket. */
export interface TrendQuestion {
  readonly buckets: readonly Span[];
  readonly events: readonly EventMatch[];
  readonly measure: Measure;
  readonly by: Field | null;
}

export interface PointRow extends Row {
  /** 1-based among the most frequent values, 0 for any other. */
  readonly line: number;
  /** 1-based. */
  readonly bucket: number;
  readonly value: number | null;
  /** What `value` is to be divided by. */
  readonly divisor: number | null;
}

/** What trends are told from. */
export interface FoundTrends {
  /** Values with a line of their own, most events first; null where nothing is told apart. */
  readonly top: readonly (string | null)[] | null;
  /** Of each event, the buckets that have any. */
  readonly points: readonly (readonly PointRow[])[];
}

type Source = Pick<Read, "sql" | "scope" | "histories">;

/** What is counted, and of what figures are made: of each event those of its property. */
interface WalkedTrends {
  readonly counts: MatchWalk;
  readonly figures: readonly PropertyFigures[];
}

/** The measure at a place of one event's, where there are so many events of so many actors. */
function measured(
  { kind }: Measure,
  total: number,
  actors: number,
  figures: ReadonlyMap<number, Figure> | null,
  place: number,
): Figure {
  switch (kind) {
    case "total":
      return { value: total, divisor: null };
    case "visitors":
      return { value: actors, divisor: null };
    case "perVisitor":
      return { value: total, divisor: actors };
    default:
      return figures!.get(place) ?? figureOfNothing(kind);
  }
}

function pointsOf(
  { counts, figures }: WalkedTrends,
  event: number,
  lines: number,
  { buckets, measure }: TrendQuestion,
): PointRow[] {
  const rows: PointRow[] = [];
  const ofProperty = measure.key === null ? null : figures[event]!.figures(measure.kind);
  const first = counts.placeOf(event, 0);
  for (let line = 0; line < lines; line++) {
    for (let bucket = 0; bucket < buckets.length; bucket++) {
      const place = line * buckets.length + bucket;
      const total = counts.totalsOf[first + place]!;
      if (total === 0) continue;
      const actors = counts.actorsOf[first + place]!;
      rows.push({
        line,
        bucket: bucket + 1,
        ...measured(measure, total, actors, ofProperty, place),
      });
    }
  }
  return rows;
}

/** Whether what is counted depends on which actor did what. */
function tellsActors({ kind }: Measure): boolean {
  return kind === "visitors" || kind === "perVisitor";
}

/**
 * What the trends of events come to, followed in histories. Null where these are not at hand, or do
 * not hold what filters, `by` or the measure ask for: then the facts tell it.
 */
export async function findInHistories(
  source: Source,
  question: TrendQuestion,
): Promise<FoundTrends | null> {
  const { sql, scope } = source;
  const { buckets, events, measure, by } = question;
  const ofEvents = events.flatMap((event) => event.filters);
  if (!isKnownToHistories(ofEvents)) return null;
  if (by !== null && !isToldByHistories(by)) return null;
  const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const needsSessions = by !== null && isSessionField(by);
  const selected = await selectHistories(source, span, ofEvents, needsSessions);
  if (selected === null) return null;
  const { eventFilters: filters, histories } = selected;
  const columns = measure.key === null ? null : await histories.property(measure.key);
  if (measure.key !== null && columns === null) return null;
  const tests = await matchTests(sql, { ...scope, filters }, events, histories.bits);
  const found = by === null ? null : await readLines(source, by, span, selected, tests);
  if (by !== null && found === null) return null;
  const lines = found?.lines ?? null;
  const walked: WalkedTrends = {
    counts: new MatchWalk(tests, buckets, lines, false),
    figures: columns === null
      ? []
      : events.map((_, event) => new PropertyFigures(tests, event, buckets, lines, columns)),
  };
  const { counts, figures } = walked;
  await walkMatched(sql, selected, tests, tellsActors(measure), (actor, segment, start, end) => {
    counts.follow(actor, segment, start, end);
    for (const one of figures) one.follow(actor, segment, start, end);
  });
  return {
    top: found?.top ?? null,
    points: events.map((_, event) => pointsOf(walked, event, lines?.count ?? 1, question)),
  };
}

import type { LoadedSegment } from "../histories/loaded_segment.ts";
import type { PropertyColumn } from "../histories/property_columns.ts";
import type { Span } from "../selection/selection.ts";
import { DecimalSum } from "../walks/decimal_sum.ts";
import type { MatchTests } from "../walks/match_tests.ts";
import type { Lines } from "../walks/match_walk.ts";
import { isJsonNumber, PropertyEntries } from "../walks/property_entries.ts";
import type { PropertyOfSegments } from "../walks/marked_histories.ts";
import { SpanFinder } from "../walks/span_finder.ts";
import type { FigureMeasure } from "./trend_measures.ts";

type FigureKind = FigureMeasure["kind"];

/** A figure of numbers, and what it is to be divided by. */
export interface Figure {
  readonly value: number | null;
  readonly divisor: number | null;
}

/** A number, as JSON writes it too, and how often it was met. */
interface MetNumber {
  readonly number: number;
  readonly text: string;
  count: number;
}

const PERCENTILES = { p50: 0.5, p90: 0.9 } as const;

function sumOf(met: readonly MetNumber[]): number {
  const sum = new DecimalSum();
  for (const { text, count } of met) sum.add(text, count);
  return sum.value ?? 0;
}

/** As `percentile_cont` has it: between the two numbers next to the place. `met` is in order. */
function percentileOf(met: readonly MetNumber[], share: number): number {
  const place = share * (met.reduce((sum, { count }) => sum + count, 0) - 1);
  const numberAt = (wanted: number) => {
    let left = wanted;
    return met.find(({ count }) => (left -= count) < 0)!.number;
  };
  const low = numberAt(Math.floor(place));
  return low + (place - Math.floor(place)) * (numberAt(Math.ceil(place)) - low);
}

function figureOf(kind: FigureKind, met: readonly MetNumber[]): Figure {
  if (kind === "sum") return { value: sumOf(met), divisor: null };
  if (met.length === 0) return { value: null, divisor: null };
  switch (kind) {
    case "avg":
      return { value: sumOf(met), divisor: met.reduce((sum, { count }) => sum + count, 0) };
    case "min":
      return { value: met[0]!.number, divisor: null };
    case "max":
      return { value: met.at(-1)!.number, divisor: null };
    default:
      return { value: percentileOf(met, PERCENTILES[kind]), divisor: null };
  }
}

/** What stands behind the values of all columns, each value numbered through. */
interface NumberedValues {
  readonly baseOf: ReadonlyMap<PropertyColumn, number>;
  readonly texts: readonly string[];
}

function numbered(columns: PropertyOfSegments): NumberedValues {
  const baseOf = new Map<PropertyColumn, number>();
  const texts: string[] = [];
  for (const column of columns.values()) {
    baseOf.set(column, texts.length);
    for (const value of column.values) texts.push(value);
  }
  return { baseOf, texts };
}

/**
 * Gathers the numbers that a property is at the selected events which one match takes, by line and
 * bucket, for sums, means, extremes and percentiles of them.
 */
export class PropertyFigures {
  readonly #entries: PropertyEntries;
  readonly #values: NumberedValues;
  readonly #lines: Lines | null;
  readonly #buckets: SpanFinder;
  readonly #bucketCount: number;
  /** Of each number its place (line, then bucket) and its value: one number that orders by both. */
  #met = new Float64Array(1024);
  #length = 0;

  /** `buckets`: in order, without gaps. `lines` null: nothing is told apart. */
  constructor(
    tests: MatchTests,
    match: number,
    buckets: readonly Span[],
    lines: Lines | null,
    columns: PropertyOfSegments,
  ) {
    const span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
    this.#buckets = new SpanFinder(buckets);
    this.#bucketCount = buckets.length;
    this.#lines = lines;
    this.#values = numbered(columns);
    this.#entries = new PropertyEntries(
      tests,
      match,
      span,
      columns,
      (column, code, actor, segment, at) => this.#add(column, code, actor, segment, at),
    );
  }

  follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    this.#entries.follow(actor, segment, start, end);
  }

  #add(
    column: PropertyColumn,
    code: number,
    actor: number,
    segment: LoadedSegment,
    at: number,
  ): void {
    if (!isJsonNumber(column.values[code]!)) return;
    const ms = segment.fromMs + segment.times[at]!;
    const place = this.#lineOf(actor, segment, at) * this.#bucketCount + this.#buckets.at(ms);
    if (this.#length === this.#met.length) {
      const longer = new Float64Array(2 * this.#length);
      longer.set(this.#met);
      this.#met = longer;
    }
    const { baseOf, texts } = this.#values;
    this.#met[this.#length++] = place * texts.length + baseOf.get(column)! + code;
  }

  #lineOf(actor: number, segment: LoadedSegment, at: number): number {
    const lines = this.#lines;
    if (lines === null) return 0;
    const ids = lines.idsOf(segment);
    return lines.lineOf[(ids === null ? actor : ids[at]!) - lines.idsFrom]!;
  }

  /** The figure at each place, line by line, that has a number. */
  figures(kind: FigureKind): ReadonlyMap<number, Figure> {
    const { texts } = this.#values;
    const met = this.#met.subarray(0, this.#length).sort();
    const figures = new Map<number, Figure>();
    for (let from = 0; from < met.length;) {
      const place = Math.floor(met[from]! / texts.length);
      const numbers: MetNumber[] = [];
      let to = from;
      for (; to < met.length && met[to]! < (place + 1) * texts.length; to++) {
        if (to > from && met[to] === met[to - 1]) {
          numbers.at(-1)!.count++;
          continue;
        }
        const text = texts[met[to]! - place * texts.length]!;
        numbers.push({ number: Number(text), text, count: 1 });
      }
      figures.set(place, figureOf(kind, numbers.sort((a, b) => a.number - b.number)));
      from = to;
    }
    return figures;
  }
}

/** The figure where there is no number. */
export function figureOfNothing(kind: FigureKind): Figure {
  return figureOf(kind, []);
}

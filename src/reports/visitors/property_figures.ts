import { lengthened } from "../../store/growing_list.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Span } from "../../query/selection.ts";
import { type Decimal, DecimalSum, type PlainSum } from "../../scans/decimal_sum.ts";
import type { MatchTests } from "../../scans/match_tests.ts";
import { placeFrom } from "../../timelines/ascending.ts";
import { FIGURES_GATHERED_MAX } from "../../scans/scan_limits.ts";
import { decimalAt, type NumberColumn, numbersName } from "../../scans/number_columns.ts";
import { SpanFinder } from "../../scans/span_finder.ts";
import { idsFrom, type IdsOf, type IdSource } from "../../scans/value_ids.ts";
import { yielding } from "../../store/yielding.ts";
import type { FigureMeasure } from "./trend_measures.ts";

/** The lines that events belong to by the value of a field. */
export interface Breakdown {
  /** Where the ids of the field's values are. */
  readonly from: IdSource;
  /** The number of lines. */
  readonly count: number;
  /** The line of id i is at `i - idsFrom`. */
  readonly lineOf: Uint8Array;
  readonly idsFrom: number;
}

/** Sums of the numbers at one place: a line and a bucket. */
const noSums = () => ({ sum: new DecimalSum(), count: 0, min: Infinity, max: -Infinity });
type Sums = ReturnType<typeof noSums>;

/** `Sums` as plain data. */
interface PlainSums extends Omit<Sums, "sum"> {
  readonly sum: PlainSum;
}

/** By place, what a figure is computed from. */
export interface FigureCounts {
  readonly sums: readonly (PlainSums | null)[];
  /** For percentiles; empty for other figures. */
  readonly counted: readonly CountedNumbers[];
}

const SHARES = { p50: 0.5, p90: 0.9 } as const;
const isPercentile = (kind: FigureMeasure["kind"]): kind is keyof typeof SHARES =>
  kind === "p50" || kind === "p90";

/** Distinct numbers in ascending order, and how often each occurs. */
export interface CountedNumbers {
  readonly numbers: Float64Array;
  readonly counts: Float64Array;
}

const NONE: CountedNumbers = { numbers: new Float64Array(0), counts: new Float64Array(0) };

/** Merges two lists of counted numbers. */
function mergeCounted(some: CountedNumbers, more: CountedNumbers): CountedNumbers {
  if (some.numbers.length === 0) return more;
  if (more.numbers.length === 0) return some;
  const all = new Float64Array(some.numbers.length + more.numbers.length);
  const counts = new Float64Array(all.length);
  let length = 0;
  for (let i = 0, j = 0; i < some.numbers.length || j < more.numbers.length; length++) {
    const next = Math.min(some.numbers[i] ?? Infinity, more.numbers[j] ?? Infinity);
    all[length] = next;
    if (some.numbers[i] === next) counts[length] = some.counts[i++]!;
    if (more.numbers[j] === next) counts[length]! += more.counts[j++]!;
  }
  return { numbers: all.slice(0, length), counts: counts.slice(0, length) };
}

/**
 * Merges many lists of counted numbers, always the two shortest, so that of n lists a number is copied only
 * about log n times. It yields to the event loop between two merges.
 */
export async function sumCounted(lists: readonly CountedNumbers[]): Promise<CountedNumbers> {
  const turn = yielding();
  const left = lists.toSorted((a, b) => a.numbers.length - b.numbers.length);
  while (left.length > 1) {
    const [some, more] = left.splice(0, 2) as [CountedNumbers, CountedNumbers];
    const merged = mergeCounted(some, more);
    const at = left.findIndex(({ numbers }) => numbers.length >= merged.numbers.length);
    left.splice(at < 0 ? left.length : at, 0, merged);
    await turn();
  }
  return left[0] ?? NONE;
}

/** Counts equal numbers of a sorted list. */
function countedOf(ordered: Float64Array): CountedNumbers {
  const numbers: number[] = [];
  const counts: number[] = [];
  for (const number of ordered) {
    if (number === numbers.at(-1)) counts[counts.length - 1]!++;
    else {
      numbers.push(number);
      counts.push(1);
    }
  }
  return { numbers: Float64Array.from(numbers), counts: Float64Array.from(counts) };
}

/** Returns a percentile as `percentile_cont` defines it, interpolated between two numbers; null: there are none. */
export function percentileOf({ numbers, counts }: CountedNumbers, share: number): number | null {
  if (numbers.length === 0) return null;
  const place = share * (counts.reduce((sum, count) => sum + count, 0) - 1);
  const numberAt = (wanted: number) => {
    let left = wanted;
    return numbers[counts.findIndex((count) => (left -= count) < 0)]!;
  };
  const low = numberAt(Math.floor(place));
  const high = numberAt(Math.ceil(place));
  const part = place - Math.floor(place);
  // The distance of -1e308 and 1e308 is not a finite double.
  return Number.isFinite(high - low) ? low + part * (high - low) : low * (1 - part) + high * part;
}

/** Gathers numbers by place, for percentiles; equal ones are counted together once there are many. */
class GatheredNumbers {
  readonly #counted: CountedNumbers[];
  #numbers = new Float64Array(1_024);
  #places = new Int32Array(1_024);
  #length = 0;

  constructor(places: number) {
    this.#counted = Array.from({ length: places }, () => NONE);
  }

  add(place: number, number: number): void {
    if (this.#length === this.#numbers.length) this.#makeRoom();
    this.#numbers[this.#length] = number;
    this.#places[this.#length++] = place;
  }

  /** Returns the numbers of each place. */
  counted(): readonly CountedNumbers[] {
    this.#count();
    return this.#counted;
  }

  #makeRoom(): void {
    const counted = this.#counted.reduce((sum, { numbers }) => sum + numbers.length, 0);
    if (this.#length >= Math.max(FIGURES_GATHERED_MAX, counted)) return this.#count();
    this.#numbers = lengthened(this.#numbers);
    this.#places = lengthened(this.#places);
  }

  /** Moves the gathered numbers to the counted ones. */
  #count(): void {
    const ends = new Int32Array(this.#counted.length + 1);
    for (let i = 0; i < this.#length; i++) ends[this.#places[i]! + 1]!++;
    for (let i = 1; i < ends.length; i++) ends[i]! += ends[i - 1]!;
    const starts = ends.slice();
    const sorted = new Float64Array(this.#length);
    for (let i = 0; i < this.#length; i++) sorted[ends[this.#places[i]!]!++] = this.#numbers[i]!;
    for (const [place, counted] of this.#counted.entries()) {
      const more = sorted.subarray(starts[place]!, ends[place]!).sort();
      if (more.length > 0) this.#counted[place] = mergeCounted(counted, countedOf(more));
    }
    this.#length = 0;
  }
}

/** The entry of a segment's column after the one that was read last. */
interface Cursor {
  readonly column: NumberColumn;
  next: number;
}

/**
 * Computes a figure (sum, mean, extreme or percentile) of a property's numbers, over the selected events
 * that one match takes, by line and bucket. Needs the numbers on the segments: see `prepareNumbers`.
 */
export class PropertyFigures {
  readonly #scope: MatchTests["scope"];
  readonly #test: MatchTests["tests"][number];
  readonly #idsOf: IdsOf | null;
  readonly #buckets: SpanFinder;
  readonly #bucketCount: number;
  readonly #cursors = new WeakMap<LoadedSegment, Cursor>();
  readonly #sums: (Sums | undefined)[];
  readonly #gathered: GatheredNumbers;

  /**
   * @param buckets in order, without gaps
   * @param lines null: there is one line
   */
  constructor(
    { scope, tests }: MatchTests,
    match: number,
    private readonly measure: FigureMeasure,
    buckets: readonly Span[],
    private readonly lines: Breakdown | null = null,
  ) {
    this.#scope = scope;
    this.#test = tests[match]!;
    this.#idsOf = lines === null ? null : idsFrom(lines.from);
    this.#buckets = new SpanFinder(buckets);
    this.#bucketCount = buckets.length;
    const places = (lines?.count ?? 1) * buckets.length;
    this.#sums = Array.from({ length: places }, () => undefined);
    this.#gathered = new GatheredNumbers(isPercentile(measure.kind) ? places : 0);
  }

  follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const cursor = this.#cursorOf(segment);
    const { column } = cursor;
    const { places, codes } = column;
    let next = cursor.next;
    // The next actor visited is mostly also the next one in the segment.
    if (next > 0 && places[next - 1]! >= start) next = placeFrom(places, start);
    else if (next < places.length && places[next]! < start && places[++next]! < start) {
      next = placeFrom(places, start, next);
    }
    for (; next < places.length && places[next]! < end; next++) {
      const decimal = decimalAt(column, codes[next]!);
      if (decimal !== null) this.#take(decimal, actor, segment, places[next]!);
    }
    cursor.next = next;
  }

  #cursorOf(segment: LoadedSegment): Cursor {
    let cursor = this.#cursors.get(segment);
    if (cursor === undefined) {
      const column = segment.column(numbersName(this.measure.key)) as NumberColumn;
      cursor = { column, next: 0 };
      this.#cursors.set(segment, cursor);
    }
    return cursor;
  }

  #take(decimal: Decimal, actor: number, segment: LoadedSegment, at: number): void {
    const { fromMs, times, names, paths, contexts, filterBits } = segment;
    const ms = fromMs + times[at]!;
    if (ms < this.#buckets.fromMs || ms >= this.#buckets.toMs) return;
    const [name, path] = [names[at]!, paths[at]!];
    const [context, eventBits] = [contexts[at]!, filterBits[at]!];
    if (!this.#scope.passes(name, path, context, actor, eventBits)) return;
    if (!this.#test.passes(name, path, context, actor, eventBits)) return;
    const place = this.#lineOf(actor, segment, at) * this.#bucketCount + this.#buckets.at(ms);
    const { number } = decimal;
    if (isPercentile(this.measure.kind)) return this.#gathered.add(place, number);
    const sums = this.#sums[place] ??= noSums();
    sums.sum.add(decimal);
    sums.count++;
    if (number < sums.min) sums.min = number;
    if (number > sums.max) sums.max = number;
  }

  #lineOf(actor: number, segment: LoadedSegment, at: number): number {
    const lines = this.lines;
    if (lines === null) return 0;
    const ids = this.#idsOf!(segment);
    return lines.lineOf[(ids === null ? actor : ids[at]!) - lines.idsFrom]!;
  }

  counts(): FigureCounts {
    const sums = this.#sums.map((one) =>
      one === undefined ? null : { ...one, sum: one.sum.plain() }
    );
    return { sums, counted: this.#gathered.counted() };
  }
}

function mergeSums(some: PlainSums | null, more: PlainSums | null): PlainSums | null {
  if (some === null || more === null) return some ?? more;
  const sum = new DecimalSum();
  sum.addSum(some.sum);
  sum.addSum(more.sum);
  return {
    sum: sum.plain(),
    count: some.count + more.count,
    min: Math.min(some.min, more.min),
    max: Math.max(some.max, more.max),
  };
}

/** Merges the counts of two visitors. */
export function mergeFigures({ sums, counted }: FigureCounts, more: FigureCounts): FigureCounts {
  return {
    sums: sums.map((one, place) => mergeSums(one, more.sums[place]!)),
    counted: counted.map((one, place) => mergeCounted(one, more.counted[place]!)),
  };
}

/** Returns the figure at each place, line by line; of no numbers, 0 for a sum, else null. */
export function figuresOf(
  kind: FigureMeasure["kind"],
  { sums, counted }: FigureCounts,
): readonly (number | null)[] {
  if (isPercentile(kind)) {
    return counted.map((one) => percentileOf(one, SHARES[kind]));
  }
  return sums.map((one) => {
    if (one === null) return kind === "sum" ? 0 : null;
    if (kind === "min" || kind === "max") return one[kind];
    const sum = new DecimalSum();
    sum.addSum(one.sum);
    return kind === "sum" ? sum.value : sum.mean(one.count);
  });
}

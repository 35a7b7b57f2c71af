import type { ImportedDay, ImportedDimension, ImportedRow } from "../../imported/imported_sums.ts";
import { dateOfDay, dayNumber } from "../../query/local_dates.ts";
import { FileProblem } from "../file_problem.ts";
import { SUMS_GATHERED_MAX } from "../importer_limits.ts";
import { containsDay, dayCountOf, daysIn, type DaySpan, joinedSpans } from "./day_spans.ts";
import { DayValues, type Figures } from "./day_values.ts";
import { KeptTexts } from "./kept_texts.ts";

/** What sums are of: a dimension, or custom events, which are added to the events of whole days. */
export type SumSubject = ImportedDimension | "customEvents";

/** What a file has sums of, and from which day to which: a day in between without a row had no traffic. */
interface FileCoverage {
  readonly what: Set<SumSubject>;
  first: number;
  last: number;
}

/**
 * Adds up sums of days from files, such as those of a browser's versions, or of a day's hours. A day's sums of
 * one dimension must come from one file: in two exports they would count twice. A dimension has the days that
 * files with it cover; about other days nothing is known.
 */
export class GatheredSums {
  readonly #values = new Map<ImportedDimension, DayValues>();
  readonly #coverage = new Map<string, FileCoverage>();
  /** The file that sums come from, by what they are of, then by day. */
  readonly #fileOf = new Map<SumSubject, Map<number, string>>();
  /** A cache of the numbers of dates: millions of rows have a few thousand dates. */
  readonly #numbers = new Map<string, number>();
  /** Each distinct text once: a page occurs on every day. */
  readonly #texts = new KeptTexts();
  readonly #customEvents = new Map<number, number>();
  #size = 0;

  /** @param valuesMax the maximum number of values of days */
  constructor(readonly valuesMax = SUMS_GATHERED_MAX) {}

  /** Notes that a file has sums of all these days, even if some have no row. */
  cover(file: string, dimensions: readonly SumSubject[], first: string, last: string): void {
    const covered = this.#coverage.getOrInsertComputed(
      file,
      () => ({ what: new Set<SumSubject>(), first: Infinity, last: -Infinity }),
    );
    for (const dimension of dimensions) covered.what.add(dimension);
    covered.first = Math.min(covered.first, this.#numberOf(first));
    covered.last = Math.max(covered.last, this.#numberOf(last));
  }

  #numberOf(date: string): number {
    return this.#numbers.getOrInsertComputed(date, dayNumber);
  }

  /** Adds figures. Throws FileProblem if another file has this day, or if there are too many values. */
  add(
    file: string,
    date: string,
    dimension: ImportedDimension,
    value: string | null,
    figures: Figures,
  ): void {
    const day = this.#claim(file, date, dimension);
    const values = this.#values.getOrInsertComputed(dimension, () => new DayValues(this.#texts));
    const before = values.size;
    values.add(day, value, figures);
    this.#size += values.size - before;
    if (this.#size > this.valuesMax) {
      throw new FileProblem(
        file,
        `one import holds at most ${this.valuesMax} values of days: cut the export by dates.`,
      );
    }
  }

  /** Adds custom events of a day. */
  addEvents(file: string, date: string, events: number): void {
    const day = this.#claim(file, date, "customEvents");
    this.#customEvents.set(day, (this.#customEvents.get(day) ?? 0) + events);
  }

  /** Notes that the day's sums come from this file. @returns the day's number */
  #claim(file: string, date: string, what: SumSubject): number {
    const day = this.#numberOf(date);
    const files = this.#fileOf.getOrInsertComputed(what, () => new Map());
    const known = files.get(day);
    if (known === undefined) {
      files.set(day, file);
      this.cover(file, [what], date, date);
    } else if (known !== file) {
      throw new FileProblem(
        file,
        `${date} stands in ${known} too, and would count twice: import one export at a time.`,
      );
    }
    return day;
  }

  /** The dimensions that have values, and how many. */
  get dimensions(): readonly { dimension: ImportedDimension; values: number }[] {
    return [...this.#values].map(([dimension, { size }]) => ({ dimension, values: size }));
  }

  /** Returns the dimensions of the result: those that have values, and whole days if pages have. */
  #dimensions(): ImportedDimension[] {
    const own = [...this.#values.keys()];
    return this.#values.has("path") && !this.#values.has("all") ? [...own, "all"] : own;
  }

  /** Returns the days that a file with one of these dimensions covers. */
  #spansOf(...wanted: readonly ImportedDimension[]): DaySpan[] {
    const known = wanted.filter((dimension) => this.#values.has(dimension));
    return joinedSpans(
      [...this.#coverage.values()].filter(({ what }) =>
        known.some((dimension) => what.has(dimension))
      ),
    );
  }

  /** Returns the days of a dimension; whole days include those that have only pages. */
  #daysOf(dimension: ImportedDimension): DaySpan[] {
    return dimension === "all" ? this.#spansOf("all", "path") : this.#spansOf(dimension);
  }

  /** The days that have any dimension. */
  get #allDays(): DaySpan[] {
    return this.#spansOf(...this.#values.keys());
  }

  /** The first and the last day; null: there is none. */
  get extent(): { readonly first: string; readonly last: string } | null {
    const spans = this.#allDays;
    const [first, last] = [spans[0]?.first, spans.at(-1)?.last];
    if (first === undefined || last === undefined) return null;
    return { first: dateOfDay(first).toString(), last: dateOfDay(last).toString() };
  }

  /** Counts the days that have any dimension, or only those before a date. */
  countDays(before: string | null = null): number {
    const end = before === null ? Infinity : this.#numberOf(before);
    return dayCountOf(this.#allDays, end);
  }

  /** How many days have custom events, but no file with page views: they are left out. */
  get eventDaysAlone(): number {
    const whole = this.#daysOf("all");
    return [...this.#customEvents].filter(([day, events]) => events > 0 && !containsDay(whole, day))
      .length;
  }

  /** The number of `days`. */
  get dayCount(): number {
    return this.#dimensions().reduce(
      (sum, dimension) => sum + dayCountOf(this.#daysOf(dimension)),
      0,
    );
  }

  /** Yields the days of each dimension, including those without traffic. */
  *days(only?: ImportedDimension): Generator<ImportedDay> {
    const ownWhole = this.#spansOf("all");
    for (const dimension of this.#dimensions()) {
      if (only !== undefined && dimension !== only) continue;
      for (const day of daysIn(this.#daysOf(dimension))) {
        const rows = dimension === "all"
          ? [this.#wholeDay(day, containsDay(ownWhole, day))]
          : [...this.#values.get(dimension)!.rowsOf(day)];
        yield { day: dateOfDay(day).toString(), dimension, rows };
      }
    }
  }

  /**
   * Returns the sums of a whole day.
   * @param isCovered whether a file of whole days covers the day
   */
  #wholeDay(day: number, isCovered: boolean): ImportedRow {
    const [stated] = this.#values.get("all")?.rowsOf(day) ?? [];
    const whole = stated ?? this.#derivedDay(day, isCovered);
    const events = this.#customEvents.get(day) ?? 0;
    return { ...whole, events: whole.events === null ? null : whole.events + events };
  }

  /** Returns a whole day without a row of its own: the page views of its pages; without pages, no traffic. */
  #derivedDay(day: number, isCovered: boolean): ImportedRow {
    const own = this.#values.get("all");
    const pages = [...this.#values.get("path")?.rowsOf(day) ?? []];
    return own !== undefined && isCovered && pages.length === 0 ? own.emptyRow() : wholeOf(pages);
  }

  /** Returns the first whole days, for people to check. */
  sample(days: number): readonly { readonly day: string; readonly whole: ImportedRow }[] {
    const found: { day: string; whole: ImportedRow }[] = [];
    for (const { day, rows } of this.days("all")) {
      found.push({ day, whole: rows[0]! });
      if (found.length === days) break;
    }
    return found;
  }
}

/** Returns the figures of a whole day that follow from those of its pages. */
function wholeOf(pages: readonly ImportedRow[]): ImportedRow {
  const views = pages.reduce((sum, { pageviews }) => sum + (pageviews ?? 0), 0);
  const unknown = { visitors: null, visits: null, bounces: null, seconds: null };
  return { value: null, ...unknown, pageviews: views, events: views };
}

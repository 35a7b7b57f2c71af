import type { ImportedDay, ImportedDimension, ImportedRow } from "../../imported/imported_sums.ts";
import { dateOfDay, dayNumber } from "../../query/local_dates.ts";
import { FileProblem } from "../file_problem.ts";
import { SUMS_GATHERED_MAX } from "../importer_limits.ts";
import { dayCountOf, daysIn, type DaySpan, holdsDay, joinedSpans } from "./day_spans.ts";
import { DayValues, type Figures } from "./day_values.ts";
import { KeptTexts } from "./kept_texts.ts";

/** What sums are of: a dimension, or the custom events, which are added to the page views of whole days. */
export type Held = ImportedDimension | "customEvents";

/** What one file holds, and from which day to which: a day without a row had no traffic. */
interface HeldByFile {
  readonly what: Set<Held>;
  first: number;
  last: number;
}

/**
 * Adds up sums of days from files, such as those of a browser's versions, or of a day's hours. A dimension of
 * a day must come from one file: sums in two exports would count twice. Only days that a file holds are told,
 * each dimension by its own files: of the others nothing is known.
 */
export class GatheredSums {
  readonly #values = new Map<ImportedDimension, DayValues>();
  readonly #held = new Map<string, HeldByFile>();
  /** What sums are of, then by day: the file that they come from. */
  readonly #fileOf = new Map<Held, Map<number, string>>();
  /** The numbers of dates, cached: few dates occur a million times. */
  readonly #numbers = new Map<string, number>();
  /** Texts, each once: a page occurs on every day. */
  readonly #texts = new KeptTexts();
  readonly #customEvents = new Map<number, number>();
  #size = 0;

  /** @param valuesMax the maximum number of values of days */
  constructor(readonly valuesMax = SUMS_GATHERED_MAX) {}

  /** Notes that a file holds these days of the dimensions, also those without a row. */
  hold(file: string, dimensions: readonly Held[], first: string, last: string): void {
    const held = this.#held.getOrInsertComputed(
      file,
      () => ({ what: new Set<Held>(), first: Infinity, last: -Infinity }),
    );
    for (const dimension of dimensions) held.what.add(dimension);
    held.first = Math.min(held.first, this.#numberOf(first));
    held.last = Math.max(held.last, this.#numberOf(last));
  }

  #numberOf(date: string): number {
    return this.#numbers.getOrInsertComputed(date, dayNumber);
  }

  /** Adds figures. Throws FileProblem where another file has this day, and where there are too many values. */
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

  /** Adds custom events of a day, which are added to its page views as events. */
  addEvents(file: string, date: string, events: number): void {
    const day = this.#claim(file, date, "customEvents");
    this.#customEvents.set(day, (this.#customEvents.get(day) ?? 0) + events);
  }

  /** Notes that the day's sums come from this file. @returns the day's number */
  #claim(file: string, date: string, what: Held): number {
    const day = this.#numberOf(date);
    const files = this.#fileOf.getOrInsertComputed(what, () => new Map());
    const known = files.get(day);
    if (known === undefined) {
      files.set(day, file);
      this.hold(file, [what], date, date);
    } else if (known !== file) {
      throw new FileProblem(
        file,
        `${date} stands in ${known} too, and would count twice: import one export at a time.`,
      );
    }
    return day;
  }

  /** The dimensions that have values, and their number of values. */
  get dimensions(): readonly { dimension: ImportedDimension; values: number }[] {
    return [...this.#values].map(([dimension, { size }]) => ({ dimension, values: size }));
  }

  /** Returns the dimensions that are told: those that have values, and whole days where pages have. */
  #told(): ImportedDimension[] {
    const own = [...this.#values.keys()];
    return this.#values.has("path") && !this.#values.has("all") ? [...own, "all"] : own;
  }

  /** Returns the days of which a file holds one of these. */
  #spansOf(...wanted: readonly ImportedDimension[]): DaySpan[] {
    const known = wanted.filter((dimension) => this.#values.has(dimension));
    return joinedSpans(
      [...this.#held.values()].filter(({ what }) => known.some((dimension) => what.has(dimension))),
    );
  }

  /** Returns the days of a dimension that are told: whole days also where only their pages are held. */
  #daysOf(dimension: ImportedDimension): DaySpan[] {
    return dimension === "all" ? this.#spansOf("all", "path") : this.#spansOf(dimension);
  }

  /** The days of which anything is told. */
  get #toldSpans(): DaySpan[] {
    return this.#spansOf(...this.#values.keys());
  }

  /** The first and the last day; null: there is none. */
  get extent(): { readonly first: string; readonly last: string } | null {
    const spans = this.#toldSpans;
    const [first, last] = [spans[0]?.first, spans.at(-1)?.last];
    if (first === undefined || last === undefined) return null;
    return { first: dateOfDay(first).toString(), last: dateOfDay(last).toString() };
  }

  /** Counts the days of which anything is told, or those of them before a date. */
  countDays(before: string | null = null): number {
    const end = before === null ? Infinity : this.#numberOf(before);
    return dayCountOf(this.#toldSpans, end);
  }

  /** How many days have custom events and no page views in any file: nothing of them is told. */
  get eventDaysAlone(): number {
    const whole = this.#daysOf("all");
    return [...this.#customEvents].filter(([day, events]) => events > 0 && !holdsDay(whole, day))
      .length;
  }

  /** The number of `days`. */
  get dayCount(): number {
    return this.#told().reduce((sum, dimension) => sum + dayCountOf(this.#daysOf(dimension)), 0);
  }

  /** Yields every day that files hold of each dimension; a day without a row had no traffic. */
  *days(only?: ImportedDimension): Generator<ImportedDay> {
    const ownWhole = this.#spansOf("all");
    for (const dimension of this.#told()) {
      if (only !== undefined && dimension !== only) continue;
      for (const day of daysIn(this.#daysOf(dimension))) {
        const rows = dimension === "all"
          ? [this.#wholeDay(day, holdsDay(ownWhole, day))]
          : [...this.#values.get(dimension)!.rowsOf(day)];
        yield { day: dateOfDay(day).toString(), dimension, rows };
      }
    }
  }

  /**
   * Returns the sums of a whole day.
   * @param isHeld whether a file of whole days holds the day
   */
  #wholeDay(day: number, isHeld: boolean): ImportedRow {
    const [told] = this.#values.get("all")?.rowsOf(day) ?? [];
    const whole = told ?? this.#untoldDay(day, isHeld);
    const events = this.#customEvents.get(day) ?? 0;
    return { ...whole, events: whole.events === null ? null : whole.events + events };
  }

  /** Returns a whole day that no row tells: the page views of its pages; without these it had no traffic. */
  #untoldDay(day: number, isHeld: boolean): ImportedRow {
    const own = this.#values.get("all");
    const pages = [...this.#values.get("path")?.rowsOf(day) ?? []];
    return own !== undefined && isHeld && pages.length === 0 ? own.nothing() : wholeOf(pages);
  }

  /** Returns the first whole days, for people to look at. */
  sample(days: number): readonly { readonly day: string; readonly whole: ImportedRow }[] {
    const found: { day: string; whole: ImportedRow }[] = [];
    for (const { day, rows } of this.days("all")) {
      found.push({ day, whole: rows[0]! });
      if (found.length === days) break;
    }
    return found;
  }
}

/** Returns what the pages of a day tell of it as a whole. */
function wholeOf(pages: readonly ImportedRow[]): ImportedRow {
  const views = pages.reduce((sum, { pageviews }) => sum + (pageviews ?? 0), 0);
  const untold = { visitors: null, visits: null, bounces: null, seconds: null };
  return { value: null, ...untold, pageviews: views, events: views };
}

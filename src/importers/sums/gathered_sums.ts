import type { ImportedDay, ImportedDimension, ImportedRow } from "../../imported/imported_sums.ts";
import { dateOfDay, dayNumber } from "../../query/local_dates.ts";
import { FileProblem } from "../file_problem.ts";
import { SUMS_GATHERED_MAX } from "../importer_limits.ts";
import { DayValues, type Figures } from "./day_values.ts";
import { KeptTexts } from "./kept_texts.ts";

/**
 * Adds up sums of days from files, such as those of a browser's versions, or of a day's hours. A dimension of
 * a day must come from one file: sums in two exports would count twice.
 */
export class GatheredSums {
  readonly #values = new Map<ImportedDimension, DayValues>();
  /** By dimension (or custom events), then by day: the file that the sums come from. */
  readonly #fileOf = new Map<string, Map<number, string>>();
  /** The numbers of dates, cached: few dates occur a million times. */
  readonly #numbers = new Map<string, number>();
  /** Texts, each once: a page occurs on every day. */
  readonly #texts = new KeptTexts();
  readonly #customEvents = new Map<number, number>();
  #size = 0;
  #first = Infinity;
  #last = -Infinity;

  /** @param valuesMax the maximum number of values of days */
  constructor(readonly valuesMax = SUMS_GATHERED_MAX) {}

  /** Extends the days to those that the files claim to hold, also without a row. */
  widen(first: string, last: string): void {
    this.#first = Math.min(this.#first, this.#numberOf(first));
    this.#last = Math.max(this.#last, this.#numberOf(last));
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
  #claim(file: string, date: string, what: string): number {
    const day = this.#numberOf(date);
    const files = this.#fileOf.getOrInsertComputed(what, () => new Map());
    const known = files.get(day);
    if (known === undefined) {
      files.set(day, file);
      this.widen(date, date);
    } else if (known !== file) {
      throw new FileProblem(
        file,
        `${date} stands in ${known} too, and would count twice: import one export at a time.`,
      );
    }
    return day;
  }

  /** The first and the last day; null: there is none. */
  get extent(): { readonly first: string; readonly last: string } | null {
    if (this.#first > this.#last) return null;
    return { first: dateOfDay(this.#first).toString(), last: dateOfDay(this.#last).toString() };
  }

  /** The dimensions that have values, and their number of values. */
  get dimensions(): readonly { dimension: ImportedDimension; values: number }[] {
    return [...this.#values].map(([dimension, { size }]) => ({ dimension, values: size }));
  }

  /** Returns the sums of whole days; where the files have none, the page views of all pages. */
  #wholeDays(): DayValues | undefined {
    const own = this.#values.get("all");
    const pages = this.#values.get("path");
    if (own !== undefined || pages === undefined) return own;
    const whole = new DayValues(this.#texts);
    for (const day of pages.days()) {
      let views = 0;
      for (const { pageviews } of pages.rowsOf(day)) views += pageviews ?? 0;
      whole.add(day, null, { pageviews: views, events: views });
    }
    return whole;
  }

  /** Returns each dimension that has values. */
  #told(): Map<ImportedDimension, DayValues> {
    const told = new Map(this.#values);
    const whole = this.#wholeDays();
    if (whole !== undefined) told.set("all", whole);
    return told;
  }

  /** The number of `days`. */
  get dayCount(): number {
    const days = Math.max(0, this.#last - this.#first + 1);
    const isWholeMade = this.#values.has("path") && !this.#values.has("all");
    return this.#values.size === 0 ? 0 : days * (this.#values.size + (isWholeMade ? 1 : 0));
  }

  /** Yields every day from the first to the last of each dimension; a day without a row had no traffic. */
  *days(only?: ImportedDimension): Generator<ImportedDay> {
    for (const [dimension, values] of this.#told()) {
      if (only !== undefined && dimension !== only) continue;
      for (let day = this.#first; day <= this.#last; day++) {
        const rows = [...values.rowsOf(day)];
        if (dimension === "all") {
          const whole = rows[0] ?? values.nothing();
          const events = this.#customEvents.get(day) ?? 0;
          rows[0] = { ...whole, events: whole.events === null ? null : whole.events + events };
        }
        yield { day: dateOfDay(day).toString(), dimension, rows };
      }
    }
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

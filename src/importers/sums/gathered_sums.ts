import {
  type Figure,
  FIGURES,
  type ImportedDay,
  type ImportedDimension,
  type ImportedRow,
} from "../../imported/imported_sums.ts";
import { dateOfDay, dayNumber } from "../../query/local_dates.ts";
import { FileProblem } from "../file_problem.ts";
import { SUMS_GATHERED_MAX } from "../importer_limits.ts";

/** What one row adds to a value; what is absent is not told. */
export type Figures = Readonly<Partial<Record<Figure, number>>>;

type Sums = Partial<Record<Figure, number>>;

/** One dimension: by day, by value. */
type Days = Map<number, Map<string | null, Sums>>;

/**
 * Sums of days as files tell them, added up: versions of one browser, hours of one day. A dimension of
 * a day comes from one file, as what stands in two exports would count twice.
 */
export class GatheredSums {
  readonly #days = new Map<ImportedDimension, Days>();
  /** By what is told, by day: the file that tells it. */
  readonly #fileOf = new Map<string, Map<number, string>>();
  /** Few dates come a million times. */
  readonly #numbers = new Map<string, number>();
  /** A page is told of each day: its text is kept once. */
  readonly #texts = new Map<string, string>();
  readonly #customEvents = new Map<number, number>();
  #sums = 0;
  #first = Infinity;
  #last = -Infinity;

  /** `valuesMax`: values of days that are taken. */
  constructor(readonly valuesMax = SUMS_GATHERED_MAX) {}

  /** The days that the files say to hold, those without a row included. */
  widen(first: string, last: string): void {
    this.#first = Math.min(this.#first, this.#numberOf(first));
    this.#last = Math.max(this.#last, this.#numberOf(last));
  }

  #numberOf(date: string): number {
    return this.#numbers.getOrInsertComputed(date, dayNumber);
  }

  /** Throws FileProblem where another file told of this day, and where there is too much. */
  add(
    file: string,
    date: string,
    dimension: ImportedDimension,
    value: string | null,
    figures: Figures,
  ): void {
    const day = this.#claim(file, date, dimension);
    const days = this.#days.getOrInsertComputed(dimension, () => new Map());
    const values = days.getOrInsertComputed(day, () => new Map());
    let sums = values.get(value);
    if (sums === undefined) {
      if (++this.#sums > this.valuesMax) {
        throw new FileProblem(
          file,
          `one import holds at most ${this.valuesMax} values of days: cut the export by dates.`,
        );
      }
      const text = value === null ? null : this.#texts.getOrInsertComputed(value, () => value);
      values.set(text, sums = {});
    }
    for (const figure of FIGURES) {
      const count = figures[figure];
      if (count !== undefined) sums[figure] = (sums[figure] ?? 0) + count;
    }
  }

  /** Custom events of a day: they count beside its page views. */
  addEvents(file: string, date: string, events: number): void {
    const day = this.#claim(file, date, "customEvents");
    this.#customEvents.set(day, (this.#customEvents.get(day) ?? 0) + events);
  }

  /** That this file tells of the day. @returns its number */
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

  /** First and last day; null: there is none. */
  get extent(): { readonly first: string; readonly last: string } | null {
    if (this.#first > this.#last) return null;
    return { first: dateOfDay(this.#first).toString(), last: dateOfDay(this.#last).toString() };
  }

  /** What is told, each with its days and values. */
  get dimensions(): readonly { dimension: ImportedDimension; values: number }[] {
    return [...this.#days].map(([dimension, days]) => ({
      dimension,
      values: [...days.values()].reduce((sum, values) => sum + values.size, 0),
    }));
  }

  /** Page views of the pages, where nothing tells of the whole day. */
  #wholeDays(): Days | undefined {
    const own = this.#days.get("all");
    const pages = this.#days.get("path");
    if (own !== undefined || pages === undefined) return own;
    const whole: Days = new Map();
    for (const [day, values] of pages) {
      const views = [...values.values()].reduce((sum, { pageviews = 0 }) => sum + pageviews, 0);
      whole.set(day, new Map([[null, { pageviews: views, events: views }]]));
    }
    return whole;
  }

  #daysOf(dimension: ImportedDimension): Days | undefined {
    return dimension === "all" ? this.#wholeDays() : this.#days.get(dimension);
  }

  /** Every day from the first to the last, of each dimension that is told: one without a row had nothing. */
  *days(): Generator<ImportedDay> {
    const dimensions = new Set<ImportedDimension>(this.#days.keys());
    if (this.#wholeDays() !== undefined) dimensions.add("all");
    for (const dimension of dimensions) {
      const days = this.#daysOf(dimension)!;
      const told = toldFigures(days);
      for (let day = this.#first; day <= this.#last; day++) {
        const values = days.get(day);
        const rows = [...values ?? []].map(([value, sums]) => rowOf(value, sums, told));
        if (dimension === "all") {
          const whole = rows[0] ?? rowOf(null, {}, told);
          const events = this.#customEvents.get(day) ?? 0;
          rows[0] = { ...whole, events: whole.events === null ? null : whole.events + events };
        }
        yield { day: dateOfDay(day).toString(), dimension, rows };
      }
    }
  }

  /** What some days come to as a whole, for people to look at. */
  sample(days: number): readonly { readonly day: string; readonly whole: ImportedRow }[] {
    const found: { day: string; whole: ImportedRow }[] = [];
    for (const { day, dimension, rows } of this.days()) {
      if (dimension !== "all") continue;
      found.push({ day, whole: rows[0]! });
      if (found.length === days) break;
    }
    return found;
  }
}

/** What any value of a dimension tells: what another one lacks of it is nothing. */
function toldFigures(days: Days): ReadonlySet<Figure> {
  const told = new Set<Figure>();
  for (const values of days.values()) {
    for (const sums of values.values()) {
      for (const figure of Object.keys(sums)) told.add(figure as Figure);
    }
  }
  return told;
}

function rowOf(value: string | null, sums: Sums, told: ReadonlySet<Figure>): ImportedRow {
  const of = (figure: Figure) => told.has(figure) ? sums[figure] ?? 0 : null;
  return {
    value,
    visitors: of("visitors"),
    visits: of("visits"),
    pageviews: of("pageviews"),
    bounces: of("bounces"),
    seconds: of("seconds"),
    events: of("events"),
  };
}

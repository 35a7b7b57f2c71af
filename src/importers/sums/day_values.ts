import { type Figure, FIGURES, type ImportedRow } from "../../imported/imported_sums.ts";
import { GrowingColumn } from "./growing_column.ts";
import type { KeptTexts } from "./kept_texts.ts";
import { PlaceIndex, spread } from "./place_index.ts";

/** What one row adds to a value. Figures that the row does not state are missing or undefined. */
export type Figures = Readonly<Partial<Record<Figure, number | undefined>>>;

/** The places of the first and the last value of a day. */
interface Chain {
  readonly first: number;
  last: number;
}

/** Stands for the number of a text if the value is null. */
const NO_TEXT = -1;
const END = -1;

/**
 * The values of one dimension with their days and figures, in columns: a value takes 8 bytes for each figure
 * that the source has, and about 24 more to be found.
 */
export class DayValues {
  readonly #texts: KeptTexts;
  /** For each value: the number of its text, its day, and the place of the day's next value. */
  readonly #text = new GrowingColumn(Int32Array);
  readonly #day = new GrowingColumn(Int32Array);
  readonly #next = new GrowingColumn(Int32Array);
  /** The figures that at least one value has; they are 0 for the others. */
  readonly #figures = new Map<Figure, GrowingColumn>();
  readonly #days = new Map<number, Chain>();
  readonly #index = new PlaceIndex((place) =>
    spread(Math.imul(this.#day.at(place), 31) + spread(this.#text.at(place)))
  );
  #size = 0;

  constructor(texts: KeptTexts) {
    this.#texts = texts;
  }

  /** The number of values. */
  get size(): number {
    return this.#size;
  }

  /** Adds figures to a value of a day. */
  add(day: number, value: string | null, figures: Figures): void {
    const text = value === null ? NO_TEXT : this.#texts.numberOf(value);
    const hash = spread(Math.imul(day, 31) + spread(text));
    const isSame = (place: number) => this.#text.at(place) === text && this.#day.at(place) === day;
    const place = this.#index.placeOf(hash, isSame, this.#size);
    if (place === this.#size) this.#append(day, text);
    for (const figure of FIGURES) {
      const count = figures[figure];
      if (count === undefined) continue;
      const column = this.#figures.getOrInsertComputed(
        figure,
        () => new GrowingColumn(Float64Array),
      );
      column.set(place, column.at(place) + count);
    }
  }

  #append(day: number, text: number): void {
    const place = this.#size++;
    this.#text.set(place, text);
    this.#day.set(place, day);
    this.#next.set(place, END);
    const chain = this.#days.get(day);
    if (chain === undefined) this.#days.set(day, { first: place, last: place });
    else {
      this.#next.set(chain.last, place);
      chain.last = place;
    }
  }

  /** Returns the days that have a value. */
  days(): Iterable<number> {
    return this.#days.keys();
  }

  /** Yields the values of a day, in the order in which they were added. */
  *rowsOf(day: number): Generator<ImportedRow> {
    for (
      let place = this.#days.get(day)?.first ?? END;
      place !== END;
      place = this.#next.at(place)
    ) {
      const text = this.#text.at(place);
      yield this.#row(text === NO_TEXT ? null : this.#texts.textOf(text), place);
    }
  }

  /** Returns a row for a day without values: the figures that the source has are 0. */
  emptyRow(): ImportedRow {
    return this.#row(null, null);
  }

  #row(value: string | null, place: number | null): ImportedRow {
    const of = (figure: Figure) => {
      const column = this.#figures.get(figure);
      return column === undefined ? null : place === null ? 0 : column.at(place);
    };
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
}

import { GrowingList } from "../store/growing_list.ts";
import { PropertyColumn } from "./property_columns.ts";

/** The events that lists have room for at first: most properties are of few of a segment's events. */
const FIRST_EVENTS = 1_024;

/** Collects the values of a property, event by event in their order. */
export class PropertyBuilder {
  readonly #places: GrowingList<Uint32Array>;
  readonly #codes: GrowingList<Int32Array>;
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];

  /** @param events how many events may have a value */
  constructor(private readonly events: number) {
    const first = Math.min(FIRST_EVENTS, events);
    this.#places = new GrowingList(new Uint32Array(first), events);
    this.#codes = new GrowingList(new Int32Array(first), events);
  }

  /** Adds a text. @returns its code */
  addText(text: string): number {
    return this.#texts.push(text) - 1;
  }

  /** Adds a number. @returns its code, negative: the final one follows those of all texts */
  addNumber(number: number): number {
    return -this.#numbers.push(number);
  }

  /** Gives an event a value; it comes after all events that have one. */
  append(place: number, code: number): void {
    this.#places.add(place);
    this.#codes.add(code);
  }

  end(): PropertyColumn {
    const texts = this.#texts.length;
    const found = this.#codes.taken();
    for (let i = 0; i < found.length; i++) {
      if (found[i]! < 0) found[i] = texts - 1 - found[i]!;
    }
    const codes = new Uint32Array(found.buffer, 0, found.length);
    // Lists of all events have no room left over that a copy would save.
    const isFull = found.length === this.events;
    return new PropertyColumn(
      isFull ? this.#places.taken() : this.#places.all(),
      isFull ? codes : codes.slice(),
      this.#texts,
      Float64Array.from(this.#numbers),
    );
  }
}

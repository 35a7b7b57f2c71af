import { GrowingList } from "../store/growing_list.ts";
import { PropertyColumn } from "./property_columns.ts";

/** The events that lists have room for at first: most properties are of few of a segment's events. */
const FIRST_EVENTS = 1_024;

/** Collects the values of a property, event by event in their order. */
export class PropertyBuilder {
  readonly #places = new GrowingList(new Uint32Array(FIRST_EVENTS));
  readonly #codes = new GrowingList(new Int32Array(FIRST_EVENTS));
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];

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
    const codes = new Uint32Array(found.length);
    for (let i = 0; i < codes.length; i++) {
      const code = found[i]!;
      codes[i] = code < 0 ? texts - 1 - code : code;
    }
    const places = this.#places.all();
    return new PropertyColumn(places, codes, this.#texts, Float64Array.from(this.#numbers));
  }
}

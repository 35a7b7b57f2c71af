import { PropertyColumn } from "./property_columns.ts";

/** Collects the values of a property, event by event in their order. */
export class PropertyBuilder {
  readonly #places: Uint32Array;
  readonly #codes: Int32Array;
  readonly #texts: string[] = [];
  readonly #numbers: number[] = [];
  #count = 0;

  /** @param events how many events may have a value */
  constructor(events: number) {
    this.#places = new Uint32Array(events);
    this.#codes = new Int32Array(events);
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
    this.#places[this.#count] = place;
    this.#codes[this.#count++] = code;
  }

  end(): PropertyColumn {
    const texts = this.#texts.length;
    const places = this.#places.slice(0, this.#count);
    const codes = new Uint32Array(this.#count);
    for (let i = 0; i < codes.length; i++) {
      const code = this.#codes[i]!;
      codes[i] = code < 0 ? texts - 1 - code : code;
    }
    return new PropertyColumn(places, codes, this.#texts, Float64Array.from(this.#numbers));
  }
}

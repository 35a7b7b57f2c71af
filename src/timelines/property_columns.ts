/** The memory that a short text takes in addition to its characters. */
const TEXT_OVERHEAD_BYTES = 24;
const NO_NUMBERS = new Float64Array(0);

/** Whether a JSON value is a number: only numbers begin with a digit or a minus. */
function isJsonNumber(value: string): boolean {
  return /^[-\d]/.test(value);
}

/** One property of a segment's events. A value's code is its place in the texts followed by the numbers. */
export class PropertyColumn {
  #values: readonly string[] | null = null;

  constructor(
    /** The events that have it, ascending. */
    readonly places: Uint32Array,
    /** The code of each of these events' values. */
    readonly codes: Uint32Array,
    /** Values as JSON, of any kind. */
    readonly texts: readonly string[],
    /** Values that are numbers, without a text; they may repeat. */
    readonly numbers: Float64Array = NO_NUMBERS,
  ) {}

  get size(): number {
    return this.texts.length + this.numbers.length;
  }

  /** All values as JSON, by code. */
  get values(): readonly string[] {
    if (this.numbers.length === 0) return this.texts;
    return this.#values ??= [...this.texts, ...Array.from(this.numbers, String)];
  }

  /** Returns a value as a number; NaN where it is not one. */
  numberAt(code: number): number {
    // Checked first, since reading beyond the end of a list is slow.
    if (code >= this.texts.length) return this.numbers[code - this.texts.length]!;
    const text = this.texts[code]!;
    return isJsonNumber(text) ? Number(text) : NaN;
  }

  get bytes(): number {
    const { places, codes, texts, numbers } = this;
    const textBytes = texts.reduce((sum, { length }) => sum + TEXT_OVERHEAD_BYTES + length, 0);
    return places.byteLength + codes.byteLength + numbers.byteLength + textBytes;
  }

  /** Returns the column of some events, renumbered from 0. @param picked their places, ascending */
  picked(picked: Uint32Array): PropertyColumn {
    const places: number[] = [];
    const codes: number[] = [];
    for (let i = 0, at = 0; i < this.places.length && at < picked.length;) {
      const difference = this.places[i]! - picked[at]!;
      if (difference === 0) {
        places.push(at);
        codes.push(this.codes[i]!);
      }
      if (difference <= 0) i++;
      if (difference >= 0) at++;
    }
    return new PropertyColumn(
      Uint32Array.from(places),
      Uint32Array.from(codes),
      this.texts,
      this.numbers,
    );
  }
}

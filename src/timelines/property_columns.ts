/** What a short text takes in memory beside its characters. */
const TEXT_OVERHEAD_BYTES = 24;
const NO_NUMBERS = new Float64Array(0);

/** JSON numbers alone begin like this. */
export function isJsonNumber(value: string): boolean {
  return /^[-\d]/.test(value);
}

/** One property of a segment's events. Its values are told by codes: first texts, then numbers. */
export class PropertyColumn {
  /** The events that have it, ascending. */
  readonly places: Uint32Array;
  /** Of each of these, which of the values is its. */
  readonly codes: Uint32Array;
  /** Values as JSON, whatever they are. */
  readonly texts: readonly string[];
  /** Values that are numbers, so many of them different that each event has one of its own. */
  readonly numbers: Float64Array;
  #values: readonly string[] | null = null;

  constructor(
    places: Uint32Array,
    codes: Uint32Array,
    texts: readonly string[],
    numbers: Float64Array = NO_NUMBERS,
  ) {
    this.places = places;
    this.codes = codes;
    this.texts = texts;
    this.numbers = numbers;
  }

  /** How many values there are. */
  get size(): number {
    return this.texts.length + this.numbers.length;
  }

  /** All values as JSON, by their codes. */
  get values(): readonly string[] {
    if (this.numbers.length === 0) return this.texts;
    return this.#values ??= [...this.texts, ...Array.from(this.numbers, String)];
  }

  /** A value as a number; NaN where it is none. */
  numberAt(code: number): number {
    // What lies behind the end of a list is looked for slowly.
    if (code >= this.texts.length) return this.numbers[code - this.texts.length]!;
    const text = this.texts[code]!;
    return isJsonNumber(text) ? Number(text) : NaN;
  }

  get bytes(): number {
    const { places, codes, texts, numbers } = this;
    const ofTexts = texts.reduce((sum, { length }) => sum + TEXT_OVERHEAD_BYTES + length, 0);
    return places.byteLength + codes.byteLength + numbers.byteLength + ofTexts;
  }

  /** Of some events alone, which are numbered through then; `picked`: their places, ascending. */
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

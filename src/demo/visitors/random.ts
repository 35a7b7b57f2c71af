/** Returns the four 32-bit words of a generator's first state: FNV-1a of the text, from four offsets. */
function seedWords(text: string): [number, number, number, number] {
  const words: [number, number, number, number] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35];
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    for (let w = 0; w < 4; w++) words[w] = Math.imul(words[w]! ^ unit, 0x01000193 + 2 * w);
  }
  return words;
}

/**
 * Reproducible randomness: sfc32 (Chris Doty-Humphrey, PractRand), seeded by a text. The same text makes the same
 * sequence on every machine. Not for secrets.
 */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #counter: number;

  constructor(seed: string) {
    [this.#a, this.#b, this.#c, this.#counter] = seedWords(seed);
    // The author's advice, because the first outputs are not random enough.
    for (let i = 0; i < 15; i++) this.word();
  }

  /** A whole number from 0 to 2³² − 1. */
  word(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }

  /** From 0 up to, and without, 1. */
  fraction(): number {
    return this.word() / 0x1_0000_0000;
  }

  /** A whole number, both ends included. */
  integer(min: number, max: number): number {
    return min + Math.floor(this.fraction() * (max - min + 1));
  }

  chance(probability: number): boolean {
    return this.fraction() < probability;
  }

  /** Exponentially distributed with this mean. */
  exponential(mean: number): number {
    return -mean * Math.log(1 - this.fraction());
  }

  /** Roughly normal: the sum of four uniforms, so never more than 3.5 deviations off. */
  normal(mean: number, deviation: number): number {
    const sum = this.fraction() + this.fraction() + this.fraction() + this.fraction();
    return mean + deviation * Math.sqrt(3) * (sum - 2);
  }

  pick<T>(items: readonly T[]): T {
    const item = items[this.integer(0, items.length - 1)];
    if (item === undefined) throw new RangeError("Nothing to pick from");
    return item;
  }

  /** One of `items`, each with a probability in proportion to its `weight`. */
  weighted<T extends { readonly weight: number }>(items: readonly T[]): T {
    let rest = this.fraction() * items.reduce((sum, item) => sum + item.weight, 0);
    for (const item of items) {
      rest -= item.weight;
      if (rest < 0) return item;
    }
    return this.pick(items);
  }

  /** `digits` hexadecimal digits. */
  hex(digits: number): string {
    let text = "";
    while (text.length < digits) text += this.word().toString(16).padStart(8, "0");
    return text.slice(0, digits);
  }

  /** A UUID of version 7 (RFC 9562, 5.7): the time in milliseconds, then 74 random bits. */
  uuidAt(timeMs: number): string {
    const time = timeMs.toString(16).padStart(12, "0");
    const variant = (8 + this.integer(0, 3)).toString(16);
    return `${time.slice(0, 8)}-${time.slice(8)}-7${this.hex(3)}-${variant}${this.hex(3)}-${
      this.hex(12)
    }`;
  }
}

import { createHash } from "node:crypto";

/** V8 hashes longer texts by their length only, so a map would compare each with all others of its length. */
const HASHED_LENGTH_MAX = 16_383;

/**
 * A map with texts as keys. The time of a lookup grows with the length of the text only, however similar the
 * texts are.
 */
export class TextMap<V> {
  readonly #lengthMax: number;
  readonly #values = new Map<string, V>();
  /** Those of long texts, by their digests. */
  readonly #long = new Map<string, V>();

  /** @param lengthMax of longer texts, only digests are kept */
  constructor(lengthMax = HASHED_LENGTH_MAX) {
    this.#lengthMax = Math.min(lengthMax, HASHED_LENGTH_MAX);
  }

  get(text: string): V | undefined {
    return text.length <= this.#lengthMax ? this.#values.get(text) : this.#long.get(digestOf(text));
  }

  /** Returns the value of a text; one that has none gets what `make` returns. */
  getOrInsertComputed(text: string, make: (text: string) => V): V {
    let value = this.get(text);
    if (value === undefined) this.set(text, value = make(text));
    return value;
  }

  set(text: string, value: V): void {
    if (text.length <= this.#lengthMax) this.#values.set(text, value);
    else this.#long.set(digestOf(text), value);
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest("base64");
}

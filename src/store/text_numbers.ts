import { createHash } from "node:crypto";

/** V8 hashes longer texts by their length alone: a map of them compares each with all of its length. */
const HASHED_LENGTH_MAX = 16_383;

/** Numbers of texts, found in a time that grows with the text's length, however alike the texts are. */
export class TextNumbers {
  readonly #numbers = new Map<string, number>();
  /** Those of long texts, by their digests. */
  readonly #long = new Map<string, number>();

  get size(): number {
    return this.#numbers.size + this.#long.size;
  }

  get(text: string): number | undefined {
    return text.length <= HASHED_LENGTH_MAX
      ? this.#numbers.get(text)
      : this.#long.get(digestOf(text));
  }

  set(text: string, number: number): void {
    if (text.length <= HASHED_LENGTH_MAX) this.#numbers.set(text, number);
    else this.#long.set(digestOf(text), number);
  }
}

function digestOf(text: string): string {
  return createHash("sha256").update(text, "utf16le").digest("base64");
}

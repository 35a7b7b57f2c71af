/** Letters that Unicode does not take apart, as they are written without their strokes. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  ø: "o",
  ł: "l",
  đ: "d",
  ı: "i",
};
/** Scripts that write no space between words. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|\p{Script=Hangul}/u;

/**
 * Text by its words alone: lower case, without accents, whatever is no letter and no digit being
 * one space. `Sign-In…` and `sign in` are the same.
 */
export function folded(text: string): string {
  return text.toLowerCase().normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßæøłđı]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Phrases to look for in text of any language; `word*` stands for all words that begin so. */
export class PhraseSet {
  readonly #phrases: readonly string[];

  constructor(phrases: readonly string[]) {
    this.#phrases = phrases.map((phrase) => {
      const text = folded(phrase);
      if (UNSPACED.test(phrase)) return text;
      return phrase.endsWith("*") ? ` ${text}` : ` ${text} `;
    });
  }

  /** Whether one of the phrases stands in the text, whole words of it. */
  isIn(text: string): boolean {
    const words = ` ${folded(text)} `;
    return this.#phrases.some((phrase) => words.includes(phrase));
  }
}

/** The parts of a path as people read them; what cannot be decoded stays as it is. */
export function segmentsOf(path: string): string[] {
  return path.split(/\/|%2f/i).filter((segment) => segment !== "").map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

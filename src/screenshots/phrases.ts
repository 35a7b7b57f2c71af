/** Plain spellings of letters that Unicode does not decompose. */
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
 * Returns only the words of a text: in lower case, without accents, and with one space in place of everything
 * but letters and digits. `Sign-In…` and `sign in` are the same.
 */
export function folded(text: string): string {
  return text.toLowerCase().normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .replaceAll(/[ßæøłđı]/g, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** Phrases to search for in text of any language; `word*` stands for all words that begin with it. */
export class PhraseSet {
  readonly #phrases: readonly string[];

  constructor(phrases: readonly string[]) {
    this.#phrases = phrases.map((phrase) => {
      const text = folded(phrase);
      if (UNSPACED.test(phrase)) return text;
      return phrase.endsWith("*") ? ` ${text}` : ` ${text} `;
    });
  }

  /** Whether the text contains one of the phrases as whole words. */
  isIn(text: string): boolean {
    const words = ` ${folded(text)} `;
    return this.#phrases.some((phrase) => words.includes(phrase));
  }
}

/** Returns the segments of a path, decoded if possible. */
export function segmentsOf(path: string): string[] {
  return path.split(/\/|%2f/i).filter((segment) => segment !== "").map((segment) => {
    try {
      return decodeURIComponent(segment);
    } catch {
      return segment;
    }
  });
}

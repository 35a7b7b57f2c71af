const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;

/** Scans the top-level members of JSON objects, as PostgreSQL and JavaScript write them. */
export class MemberScanner {
  /** Where the key (with quotes) and the value of the current member are in the text. */
  keyFrom = 0;
  keyTo = 0;
  from = 0;
  to = 0;
  #end = 0;
  #at = 0;

  /** @param text holds the objects */
  constructor(private readonly text: string) {}

  /** Begins at an object from `start` to before `end`. @returns whether one begins there */
  open(start: number, end: number): boolean {
    this.#end = end;
    this.#at = start + 1;
    return this.text.charCodeAt(start) === OPEN_BRACE;
  }

  /** Goes to the next member; false: there is none, or the text is not JSON (see `isDone`). */
  next(): boolean {
    const { text } = this;
    this.#skipSpaces();
    if (text.charCodeAt(this.#at) === COMMA) this.#at++;
    this.#skipSpaces();
    if (this.#at >= this.#end || text.charCodeAt(this.#at) !== QUOTE) return false;
    this.keyFrom = this.#at;
    this.keyTo = this.#at = this.#stringEnd(this.#at);
    this.#skipSpaces();
    if (text.charCodeAt(this.#at++) !== COLON) return false;
    this.#skipSpaces();
    this.from = this.#at;
    this.to = this.#at = this.#valueEnd(this.#at);
    return this.to <= this.#end;
  }

  /** Whether `next` found no further member because the object ended. */
  get isDone(): boolean {
    return this.#at === this.#end - 1 && this.text.charCodeAt(this.#at) === CLOSE_BRACE;
  }

  #skipSpaces(): void {
    while (this.text.charCodeAt(this.#at) === SPACE) this.#at++;
  }

  /** Returns the end of the string that begins at `start`; past the object if it does not end. */
  #stringEnd(start: number): number {
    for (let at = start;;) {
      at = this.text.indexOf('"', at + 1);
      if (at < 0 || at >= this.#end) return this.#end + 1;
      let before = at;
      while (this.text.charCodeAt(before - 1) === BACKSLASH) before--;
      // An escaped quote has an odd number of backslashes before it.
      if ((at - before) % 2 === 0) return at + 1;
    }
  }

  #valueEnd(start: number): number {
    const { text } = this;
    const first = text.charCodeAt(start);
    if (first === QUOTE) return this.#stringEnd(start);
    let depth = 0;
    for (let at = start; at < this.#end;) {
      const character = text.charCodeAt(at);
      if (character === QUOTE) {
        at = this.#stringEnd(at);
        continue;
      }
      const closes = character === CLOSE_BRACE || character === CLOSE_BRACKET;
      if (depth === 0 && (closes || character === COMMA || character === SPACE)) return at;
      if (character === OPEN_BRACE || character === OPEN_BRACKET) depth++;
      if (closes) depth--;
      at++;
    }
    return this.#end + 1;
  }
}

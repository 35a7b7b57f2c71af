import {
  PATTERN_ANCHORS_MAX,
  PATTERN_LENGTH_MAX,
  PATTERN_LEVELS_MAX,
  PATTERN_REPETITION_MAX,
  PATTERN_STATES_MAX,
} from "../limits.ts";

/** A refused pattern; the message tells the pattern's author why. */
export class PatternRefused extends Error {
  override readonly name = "PatternRefused";
}

interface Part {
  readonly sql: string;
  /** At most how many states of an automaton it needs. */
  readonly states: number;
  /** Whether it can match the empty text. */
  readonly empty: boolean;
  /** How many of `^`, `$`, `\b` and `\B` it contains. */
  readonly anchors: number;
}

/** A character class as pairs of first and last code point, both inclusive. */
type Spans = readonly (readonly [number, number])[];

const codeOf = (character: string): number => character.codePointAt(0)!;
const span = (from: string, to: string): [number, number] => [codeOf(from), codeOf(to)];

// ASCII on both engines: PostgreSQL's own \d and \w depend on the locale of the database.
const SHORTHANDS: Readonly<Record<string, Spans>> = {
  d: [span("0", "9")],
  w: [span("0", "9"), span("A", "Z"), span("_", "_"), span("a", "z")],
  s: [span("\t", "\n"), span("\f", "\r"), span(" ", " ")],
};
const CONTROLS: Readonly<Record<string, string>> = {
  t: "\t",
  n: "\n",
  r: "\r",
  f: "\f",
  v: "\v",
};
const WORD = bracket(SHORTHANDS.w!, false);
const BETWEEN: Readonly<Record<string, string>> = {
  b: `(?:(?<=${WORD})(?!${WORD})|(?<!${WORD})(?=${WORD}))`,
  B: `(?:(?<=${WORD})(?=${WORD})|(?<!${WORD})(?!${WORD}))`,
};

/** Writes a character so that it is valid outside and inside brackets: as its code if it could be syntax. */
function literal(code: number): string {
  const character = String.fromCodePoint(code);
  return code >= 128 || /[A-Za-z0-9]/.test(character)
    ? character
    : `\\u${code.toString(16).padStart(4, "0")}`;
}

function bracket(spans: Spans, negated: boolean): string {
  const members = spans.map(([from, to]) =>
    from === to ? literal(from) : `${literal(from)}-${literal(to)}`
  );
  return `[${negated ? "^" : ""}${members.join("")}]`;
}

/** Adds the other case of each letter; in ranges, of ASCII letters only. */
function inBothCases(spans: Spans): Spans {
  return spans.flatMap(([from, to]) => {
    if (from === to) {
      const character = String.fromCodePoint(from);
      return [...new Set([character, character.toLowerCase(), character.toUpperCase()])]
        .filter((other) => [...other].length === 1)
        .map((other) => span(other, other));
    }
    const shifted = ([["A", "Z", 32], ["a", "z", -32]] as const).flatMap(([first, last, shift]) => {
      const low = Math.max(from, codeOf(first));
      const high = Math.min(to, codeOf(last));
      return low <= high ? [[low + shift, high + shift] as [number, number]] : [];
    });
    return [[from, to] as const, ...shifted];
  });
}

/** Reads a pattern from left to right and writes PostgreSQL's advanced regular expression. */
class Translation {
  #at = 0;
  readonly #characters: readonly string[];
  readonly #anyCase: boolean;

  constructor(pattern: string) {
    this.#anyCase = pattern.startsWith("(?i)");
    this.#characters = [...this.#anyCase ? pattern.slice(4) : pattern];
  }

  whole(): string {
    const { sql, states, anchors } = this.#alternatives(1);
    if (this.#at < this.#characters.length) throw new PatternRefused("Escape ) as \\).");
    if (anchors > PATTERN_ANCHORS_MAX) {
      throw new PatternRefused(`Use at most ${PATTERN_ANCHORS_MAX} of ^, $, \\b and \\B.`);
    }
    if (states > PATTERN_STATES_MAX) {
      throw new PatternRefused(
        `Repeat less: written out, it comes to more than ${PATTERN_STATES_MAX} characters.`,
      );
    }
    return sql;
  }

  get #next(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(expected: string): boolean {
    const found = this.#next === expected;
    if (found) this.#at++;
    return found;
  }

  #alternatives(level: number): Part {
    const branches = [this.#sequence(level)];
    while (this.#take("|")) branches.push(this.#sequence(level));
    return {
      sql: branches.map(({ sql }) => sql).join("|"),
      states: branches.reduce((sum, { states }) => sum + states, 0),
      empty: branches.some(({ empty }) => empty),
      anchors: branches.reduce((sum, { anchors }) => sum + anchors, 0),
    };
  }

  #sequence(level: number): Part {
    let [sql, states, empty, anchors] = ["", 1, true, 0];
    while (this.#next !== undefined && this.#next !== "|" && this.#next !== ")") {
      const part = this.#repeated(this.#single(level));
      sql += part.sql;
      states += part.states;
      empty &&= part.empty;
      anchors += part.anchors;
    }
    return { sql: sql === "" ? "(?:)" : sql, states, empty, anchors };
  }

  #single(level: number): Part {
    const character = this.#characters[this.#at++]!;
    if (character === "(") return this.#group(level);
    if (character === "[") return this.#class();
    if (character === "\\") return this.#escape();
    if (character === ".") return this.#characterClass([span("\n", "\n")], true);
    if (character === "^" || character === "$") {
      return { sql: character, states: 1, empty: true, anchors: 1 };
    }
    if ("*+?{}]".includes(character)) {
      throw new PatternRefused(`Escape ${character} as \\${character}, or repeat something.`);
    }
    return this.#characterClass([span(character, character)], false);
  }

  #group(level: number): Part {
    if (level >= PATTERN_LEVELS_MAX) {
      throw new PatternRefused(`Nest groups at most ${PATTERN_LEVELS_MAX - 1} deep.`);
    }
    if (this.#take("?") && !this.#take(":")) {
      throw new PatternRefused(
        "Of groups, only (…) and (?:…) are supported, and (?i) at the start.",
      );
    }
    const inner = this.#alternatives(level + 1);
    if (!this.#take(")")) throw new PatternRefused("A group is not closed.");
    return { ...inner, sql: `(?:${inner.sql})` };
  }

  #escape(): Part {
    const character = this.#characters[this.#at++];
    if (character !== undefined && Object.hasOwn(BETWEEN, character)) {
      return { sql: BETWEEN[character]!, states: 10, empty: true, anchors: 1 };
    }
    const lower = character?.toLowerCase();
    if (lower !== undefined && Object.hasOwn(SHORTHANDS, lower)) {
      return this.#characterClass(SHORTHANDS[lower]!, character !== lower);
    }
    const escaped = this.#escaped(character);
    return this.#characterClass([span(escaped, escaped)], false);
  }

  /** Returns the character that an escape stands for. */
  #escaped(character: string | undefined): string {
    if (character !== undefined && Object.hasOwn(CONTROLS, character)) return CONTROLS[character]!;
    if (character !== undefined && /[!-/:-@[-`{-~ ]/.test(character)) return character;
    throw new PatternRefused(`The escape \\${character ?? ""} is not supported.`);
  }

  #class(): Part {
    const negated = this.#take("^");
    if (this.#next === "]") throw new PatternRefused("Escape ] as \\] in a class.");
    const spans: (readonly [number, number])[] = [];
    while (!this.#take("]")) {
      const from = this.#member();
      if (typeof from !== "string") spans.push(...from);
      else if (this.#next === "-" && this.#characters[this.#at + 1] !== "]") {
        this.#at++;
        const to = this.#member();
        if (typeof to !== "string" || codeOf(to) < codeOf(from)) {
          throw new PatternRefused("A range in a class goes from one character up to another.");
        }
        spans.push(span(from, to));
      } else spans.push(span(from, from));
    }
    return this.#characterClass(spans, negated);
  }

  /** Reads one character of a class, or the spans of a shorthand such as \d. */
  #member(): string | Spans {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new PatternRefused("A class is not closed.");
    if (character === "[" && /^[:.=]$/.test(this.#next ?? "")) {
      throw new PatternRefused("Named classes such as [:alpha:] are not supported.");
    }
    if (character !== "\\") return character;
    const escaped = this.#characters[this.#at++];
    if (escaped !== undefined && Object.hasOwn(SHORTHANDS, escaped)) return SHORTHANDS[escaped]!;
    return this.#escaped(escaped);
  }

  #characterClass(spans: Spans, negated: boolean): Part {
    const matched = this.#anyCase ? inBothCases(spans) : spans;
    const [first] = matched;
    const single = !negated && matched.length === 1 && first![0] === first![1];
    const sql = single ? literal(first![0]) : bracket(matched, negated);
    return { sql, states: 1, empty: false, anchors: 0 };
  }

  #repeated(part: Part): Part {
    const [min, max] = this.#repetition() ?? [1, 1];
    if (min === 1 && max === 1) return part;
    // Without this bound a few dozen characters make PostgreSQL take gigabytes.
    if (part.empty || part.anchors > 0) {
      throw new PatternRefused("Repeat only what has characters, and no ^, $, \\b or \\B in it.");
    }
    // Drops the `?` of a lazy repetition: it does not change whether there is a match.
    this.#take("?");
    if (this.#repetition() !== null) throw new PatternRefused("Group what is repeated twice.");
    const states = part.states * (max === Infinity ? min + 1 : max) + 1;
    const shortest = max === Infinity ? min === 0 ? "*" : min === 1 ? "+" : `{${min},}` : "";
    const sql = part.sql + (shortest || `{${min},${max}}`);
    return { sql, states, empty: min === 0, anchors: 0 };
  }

  /** Reads `*`, `+`, `?` or `{n,m}` as its bounds; null: there is no repetition. */
  #repetition(): readonly [number, number] | null {
    if (this.#take("*")) return [0, Infinity];
    if (this.#take("+")) return [1, Infinity];
    if (this.#take("?")) return [0, 1];
    if (this.#next !== "{") return null;
    const rest = this.#characters.slice(this.#at, this.#at + 12).join("");
    const bounds = /^\{(\d{1,4})(?:(,)(\d{1,4})?)?\}/.exec(rest);
    if (bounds === null) throw new PatternRefused("Escape { as \\{, or write {2} or {2,5}.");
    const [text, min, comma, max] = bounds;
    this.#at += text.length;
    const low = Number(min);
    const high = comma === undefined ? low : max === undefined ? Infinity : Number(max);
    if (Math.max(low, high === Infinity ? 0 : high) > PATTERN_REPETITION_MAX || high < low) {
      throw new PatternRefused(`Repeat at most ${PATTERN_REPETITION_MAX} times, as in {2,5}.`);
    }
    return [low, high];
  }
}

/**
 * Translates a pattern in the syntax that RE2 and JavaScript share into PostgreSQL's advanced regular
 * expression. It means the same in every locale: `\d`, `\w`, `\s` and `\b` are ASCII, `.` is anything
 * but a line feed, `^` and `$` are the ends of the text, and `(?i)` at the start ignores case. The
 * result only tells whether there is a match: `*?` becomes `*`.
 * @throws PatternRefused for patterns that are too long or too large, for syntax that is not shared, such
 * as backreferences and lookaround, and for repetitions of what can be empty, such as `(a*)*`.
 */
export function postgresPattern(pattern: string): string {
  if (pattern.length > PATTERN_LENGTH_MAX) {
    throw new PatternRefused(`Use at most ${PATTERN_LENGTH_MAX} characters.`);
  }
  return new Translation(pattern).whole();
}

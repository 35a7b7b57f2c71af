import fc from "fast-check";
import assert from "node:assert/strict";
import { arrayLiteral, type Sql } from "../../src/db/sql.ts";
import { PatternRefused, postgresPattern } from "../../src/query/pattern.ts";
import { onBothEngines } from "../support/databases.ts";

/** One pattern in the syntax that the API takes, and as a JavaScript expression of the same meaning. */
interface Both {
  readonly taken: string;
  readonly js: string;
}

const same = (text: string): Both => ({ taken: text, js: text });
const ALPHABET = ["a", "b", "z", "A", "Z", "é", "É", "ß", "1", "_", "-", "/", ".", " ", "\n", "😀"];

const plain = fc.constantFrom("a", "b", "Z", "é", "ß", "1", "_", "-", "/", " ", "😀").map(same);
const escaped = fc.constantFrom(..."\\.*+?()[]{}^$|/").map((character) => same(`\\${character}`));
const shorthand = fc.constantFrom<Both>(
  ...["\\d", "\\D", "\\w", "\\W", "\\n"].map(same),
  { taken: "\\s", js: "[\\t\\n\\f\\r ]" },
  { taken: "\\S", js: "[^\\t\\n\\f\\r ]" },
  { taken: ".", js: "[^\\n]" },
);
const member = fc.oneof(
  fc.constantFrom("a", "é", "ß", "_", "/", ".", "$", "*", "😀", "\\]", "\\^", "\\-", "\\\\"),
  fc.constantFrom("a-b", "A-Z", "0-9", "Z-a", "\\d", "\\w", "-"),
);
const characterClass = fc.tuple(fc.boolean(), fc.array(member, { minLength: 1, maxLength: 3 }))
  .map(([negated, members]) => {
    // A dash between two members would make a range of them.
    const ordered = [
      ...members.filter((one) => one !== "-"),
      ...members.includes("-") ? ["-"] : [],
    ];
    return same(`[${negated ? "^" : ""}${ordered.join("")}]`);
  });
const between = fc.constantFrom("^", "$", "\\b", "\\B").map(same);
const quantifier = fc.constantFrom("", "*", "+", "?", "{2}", "{1,}", "{0,2}", "*?", "{1,2}?");

const joined = (parts: readonly Both[], glue: string): Both => ({
  taken: parts.map(({ taken }) => taken).join(glue),
  js: parts.map(({ js }) => js).join(glue),
});

const group = (open: string, inner: Both, times: string): Both =>
  joined([same(open), inner, same(`)${times}`)], "");
const single = fc.oneof(plain, escaped, shorthand, characterClass);
const open = fc.constantFrom("(", "(?:");

/** `solid` has characters in each branch and no anchor, so that it may be repeated. */
const { pattern } = fc.letrec<{ pattern: Both; piece: Both; solid: Both; solidPiece: Both }>((
  tie,
) => ({
  piece: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    between,
    tie("solidPiece"),
    fc.tuple(open, tie("pattern")).map(([open, inner]) => group(open, inner, "")),
  ),
  solidPiece: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    fc.tuple(single, quantifier).map(([atom, times]) => joined([atom, same(times)], "")),
    fc.tuple(open, tie("solid"), quantifier).map((parts) => group(...parts)),
  ),
  solid: fc.array(
    fc.tuple(single, fc.array(tie("solidPiece"), { maxLength: 2 })),
    { minLength: 1, maxLength: 2 },
  ).map((branches) => joined(branches.map(([first, rest]) => joined([first, ...rest], "")), "|")),
  pattern: fc.array(fc.array(tie("piece"), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((branches) => joined(branches.map((pieces) => joined(pieces, "")), "|")),
}));

/** Whether the pattern is accepted; patterns that are too large are not tested here. */
function isTaken(pattern: string): boolean {
  try {
    return typeof postgresPattern(pattern) === "string";
  } catch (error) {
    assert.match(String(error), /Use at most|Repeat less|Nest groups/, pattern);
    return false;
  }
}

const text = fc.array(fc.constantFrom(...ALPHABET), { maxLength: 6 }).map((all) => all.join(""));

/** Which texts PostgreSQL finds the pattern in. */
async function matched(sql: Sql, taken: string, texts: readonly string[]): Promise<boolean[]> {
  const rows = await sql.query<{ found: boolean }>(
    `SELECT one ~ $2::text AS found FROM unnest($1::text::text[]) WITH ORDINALITY AS t (one, place)
    ORDER BY place`,
    [arrayLiteral(texts), postgresPattern(taken)],
  );
  return rows.map(({ found }) => found);
}

onBothEngines("pattern: accepted ones match as in JavaScript", async (t, db) => {
  const database = await db.open();
  for (const anyCase of [false, true]) {
    await t.step(anyCase ? "in any case" : "as written", async () => {
      let found = 0;
      const texts = fc.array(text, { minLength: 5, maxLength: 10 });
      await fc.assert(
        fc.asyncProperty(pattern, texts, async ({ taken, js }, texts) => {
          fc.pre(isTaken((anyCase ? "(?i)" : "") + taken));
          // V8 finds \\B between the two halves of one character, where there is no place to be.
          fc.pre(!js.includes("\\B") || !texts.some((one) => one.includes("😀")));
          const expression = new RegExp(js, anyCase ? "iu" : "u");
          const expected = texts.map((one) => expression.test(one));
          found += expected.filter(Boolean).length;
          const actual = await matched(database, (anyCase ? "(?i)" : "") + taken, texts);
          assert.deepEqual(actual, expected);
        }),
        { numRuns: 400 },
      );
      assert.ok(found > 1_000, `${found} matches`);
    });
  }

  await t.step("examples", async () => {
    const texts = ["/blog/2026", "/Blog/", "a\nb", "x", "", "ÄRA", "***:a", "(?x)"];
    const cases: [string, string[]][] = [
      ["^/blog/\\d{4}$", ["/blog/2026"]],
      ["(?i)^/blog/", ["/blog/2026", "/Blog/"]],
      ["a.b", []],
      ["(?i)ära", ["ÄRA"]],
      ["^$", [""]],
      ["^\\*\\*\\*:", ["***:a"]],
      ["^\\(\\?x\\)", ["(?x)"]],
      ["", texts],
      ["x|", texts],
    ];
    for (const [taken, expected] of cases) {
      const found = await matched(database, taken, texts);
      assert.deepEqual(texts.filter((_, i) => found[i]), expected, taken);
    }
  });

  await t.step("the largest patterns are compiled and run in time", async () => {
    const large = [
      "(?:a{10}b{10}){20}",
      "((a+b?)+c?)+",
      "(?:.*a){60}",
      "(.+){100}",
      "(.+,){60}",
      "(?:[a-z]+[0-9]?){60}z",
      "(.|a|b|c|d|e|f|g){30}",
      "a\\b.*\\b.*\\b.*\\b.*\\b.*\\b.*\\b.*\\b",
      "(|^)(|^)(|^)(|^)(|$)(|$)(|$)(|$)",
      `${"(a?)".repeat(25)}${"a".repeat(25)}`,
    ];
    for (const taken of large) {
      // What takes too long is cancelled by the limit of statements.
      await matched(database, taken, ["a".repeat(2048), "ab ".repeat(680)]);
    }
  });
});

Deno.test("pattern: syntax that is not shared, and patterns that are too large, are refused", () => {
  const refused = [
    ..."(a)\\1 (?=a) (?!a) (?<=a) (?<!a) (?<n>a) (?P<n>a) (?i:a) a(?i) (?x)a".split(" "),
    ..."\\pL \\x41 \\u0041 \\A \\Z \\z \\Q \\1 \\k<n> \\cA \\y \\m \\M \\é \\".split(" "),
    ..."( ) a) (a [ [a []a] [^] [b-a] [a-\\d] [\\D] [[:alpha:]] [[.a.]] [[=a=]]".split(" "),
    ..."* + ? a** a+* a{2}{3} ^* $+ \\b? (|*a) a{ a{,2} a{2,1} a{101} a{1000} a} ]".split(" "),
    "***=a",
    "***:a",
    `${"(".repeat(10)}a${")".repeat(10)}`,
    "(a{100}){5}",
    ..."(a*)* (a|)+ (^a)* (a\\b){2} ((a?b?){2}) (?:){3} (a|b*){2,}".split(" "),
    "^".repeat(9),
    "((a{50}){50}){50}",
    "a".repeat(201),
  ];
  for (const pattern of refused) {
    assert.throws(() => postgresPattern(pattern), PatternRefused, pattern);
  }
  for (const pattern of ["a".repeat(200), "(a{100}){4}", `${"(".repeat(9)}a${")".repeat(9)}`]) {
    assert.equal(typeof postgresPattern(pattern), "string", pattern);
  }
});

Deno.test("pattern: any text is either translated or refused", () => {
  const pieces = fc.constantFrom(..."ab\\()[]{}?*+|^$.-,:=!<>idwsPQ0129é😀\n");
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 30 }), (all) => {
      try {
        assert.equal(typeof postgresPattern(all.join("")), "string");
      } catch (error) {
        assert.ok(error instanceof PatternRefused, String(error));
      }
    }),
    { numRuns: 3_000 },
  );
});

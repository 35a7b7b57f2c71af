import assert from "node:assert/strict";
import fc from "fast-check";
import { parseJson } from "../src/json_text.ts";

/** JSON in which each key is spelt as it is given. */
function spelt(value: unknown, spell: (key: string) => string): string {
  if (Array.isArray(value)) return `[${value.map((item) => spelt(item, spell)).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).map(([k, v]) => `${spell(k)} : ${spelt(v, spell)}`);
  return `{${members.join(",\n")}}`;
}

const asUnits = (key: string) =>
  `"${key.split("").map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")}"`;

/** What no two different values share. */
function entriesOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(entriesOf);
  if (typeof value !== "object" || value === null) return value;
  return { members: Object.entries(value).map(([key, member]) => [key, entriesOf(member)]) };
}

Deno.test("parseJson: a key is read correctly, whatever object was read before", () => {
  for (const [before, key] of [["\\", '"'], ["\\", "\n"], ["a\\", "a\t"], ["\\u", "\u0007k"]]) {
    parseJson(JSON.stringify({ here: [], [before!]: 0 }));
    const text = JSON.stringify({ here: 1, [key!]: 2 });
    assert.deepEqual(Object.keys(parseJson(text) as object), ["here", key]);
  }
});

Deno.test("parseJson: any value comes back, in its order, however its keys are written", () => {
  const piece = fc.constantFrom(...'k":,{}[]5 \\\nж\u{1f600}\ud800', "__proto__", ": ", "0");
  const word = fc.array(piece, { maxLength: 3 }).map((pieces) => pieces.join(""));
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      word,
      fc.constantFrom(null, true, 0, -1.5e-9),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.array(fc.tuple(word, tie("value")), { maxLength: 4 }).map(Object.fromEntries),
    ),
  }));
  const spelling = fc.constantFrom<(key: string) => string>(JSON.stringify, asUnits);
  fc.assert(
    fc.property(value, spelling, (value, spelling) => {
      assert.deepEqual(entriesOf(parseJson(spelt(value, spelling))), entriesOf(value));
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("parseJson: the last of two members with one name counts, however they are written", () => {
  for (
    const text of [
      String.raw`{"a": 1, "b": 2, "\u0061": 3}`,
      String.raw`{"\u0061": 1, "b": 2, "a": 3}`,
    ]
  ) {
    assert.deepEqual(Object.entries(parseJson(text) as object), [["a", 3], ["b", 2]]);
  }
  assert.deepEqual(parseJson(String.raw`{"\n": 1, "\u000a": 2}`), { "\n": 2 });
});

Deno.test("parseJson: invalid JSON is refused, also with escaped keys", () => {
  const broken = [
    "",
    "{",
    "\\",
    '"\\',
    '{"a\\": 1}',
    '{"\\x": 1}',
    '{"\\n": 1,}',
    '{"\\n": 1',
    '{"\\n"}',
    '{"\\n\n": 1}',
    '{"\\n": "\n"}',
    '["\\n": 1]',
    '\\"\\n":',
  ];
  for (const text of broken) {
    assert.throws(() => JSON.parse(text), SyntaxError);
    assert.throws(() => parseJson(text), SyntaxError, text);
  }
});

Deno.test("parseJson: long and deep texts of escapes are read in one pass", () => {
  const long = "\n".repeat(5_000_000);
  assert.equal(parseJson(JSON.stringify(long)), long);
  assert.deepEqual(parseJson(JSON.stringify({ [long]: long })), { [long]: long });
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`\n${i}`, "\\"]));
  assert.deepEqual(parseJson(JSON.stringify(many)), many);
  const levels = 100_000;
  let at = parseJson('{"\\n":'.repeat(levels) + "1" + "}".repeat(levels));
  for (let i = 0; i < levels; i++) at = (at as Record<string, unknown>)["\n"];
  assert.equal(at, 1);
});

import assert from "node:assert/strict";
import { SUGGESTIONS_MAX } from "../../src/limits.ts";
import { countryCode, countryName } from "../../src/query/country_names.ts";
import { editDistance, nearestOf } from "../../src/query/nearest_values.ts";

const values = (texts: readonly string[]) => texts.map((value) => ({ value }));
const nearest = (text: string, texts: readonly string[]) =>
  nearestOf(text, values(texts)).map(({ value }) => value);

Deno.test("edit distance: exact up to its bound, and one more beyond it", () => {
  const cases: [string, string, number][] = [
    ["germny", "germany", 1],
    ["kitten", "sitting", 3],
    ["", "abc", 3],
    ["abc", "abc", 0],
    ["abc", "cab", 2],
    ["abcdef", "fedcba", 4],
    ["abc", "abcdefgh", 4],
  ];
  for (const [a, b, distance] of cases) {
    assert.equal(editDistance(a, b, 3), distance, `${a} ${b}`);
    assert.equal(editDistance(b, a, 3), distance, `${b} ${a}`);
  }
});

Deno.test("nearest values: misspelt ones, other cases, beginnings and parts are near; others are not", () => {
  const browsers = ["Chrome", "Firefox", "Mobile Safari", "Safari"];
  assert.deepEqual(nearest("chrome", browsers), ["Chrome"]);
  assert.deepEqual(nearest("Chorme", browsers), ["Chrome"]);
  assert.deepEqual(nearest("saf", browsers), ["Safari", "Mobile Safari"]);
  assert.deepEqual(nearest("Opera", browsers), []);
  assert.deepEqual(nearest("", browsers), []);
  assert.deepEqual(nearest("/pricng", ["/", "/pricing", "/docs"]), ["/pricing"]);
  assert.deepEqual(nearest("Sao Paulo", ["São Paulo", "Recife"]), ["São Paulo"]);
});

Deno.test("nearest values: codes are compared by name only, apart from their case", () => {
  const countries = ["DE", "DK", "US"].map((value) => ({ value, name: countryName(value)! }));
  assert.deepEqual(nearestOf("Germny", countries).map(({ value }) => value), ["DE"]);
  assert.deepEqual(nearestOf("de", countries).map(({ value }) => value), ["DE"]);
  assert.deepEqual(nearestOf("DX", countries), []);
});

Deno.test(`no more than ${SUGGESTIONS_MAX} values are near`, () => {
  const some = (count: number) => Array.from({ length: count }, (_, i) => `value${i}`);
  assert.equal(nearest("value", some(SUGGESTIONS_MAX)).length, SUGGESTIONS_MAX);
  assert.equal(nearest("value", some(SUGGESTIONS_MAX + 1)).length, SUGGESTIONS_MAX);
});

Deno.test("country codes: a country's whole name has the code in use", () => {
  for (
    const [name, code] of [
      ["Germany", "DE"],
      ["germany ", "DE"],
      ["France", "FR"],
      ["UK", "GB"],
      ["USA", "US"],
      ["Turkey", "TR"],
      ["Curacao", "CW"],
      ["Germny", undefined],
    ]
  ) assert.equal(countryCode(name!), code, name);
});

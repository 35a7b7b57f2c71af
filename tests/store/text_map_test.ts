import assert from "node:assert/strict";
import fc from "fast-check";
import { TextMap } from "../../src/store/text_map.ts";

Deno.test("text map: agrees with a map, whatever the texts' lengths", () => {
  const text = fc.oneof(
    fc.string(),
    fc.tuple(fc.integer({ min: 16_380, max: 16_390 }), fc.string({ unit: "binary", maxLength: 3 }))
      .map(([length, end]) => "x".repeat(length) + end),
  );
  fc.assert(fc.property(fc.array(text), (texts) => {
    const [numbers, map] = [new TextMap<number>(), new Map<string, number>()];
    for (const [i, one] of texts.entries()) {
      assert.equal(numbers.get(one), map.get(one));
      numbers.set(one, i);
      map.set(one, i);
      assert.equal(numbers.get(one), i);
    }
  }));
});

Deno.test("text map: a long text is not taken for its digest, nor one half of a pair for another", () => {
  const long = "y".repeat(20_000);
  const numbers = new TextMap<number>();
  numbers.set(`${long}\ud800`, 1);
  assert.equal(numbers.get(`${long}\ud801`), undefined);
  assert.equal(numbers.get(`${long}\ufffd`), undefined);
  assert.equal(numbers.get(`${long}\ud800`), 1);
});

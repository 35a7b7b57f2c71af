import fc from "fast-check";
import assert from "node:assert/strict";
import { addKeys, type CountedKeys, KeyCounts } from "../../src/scans/key_counts.ts";

function counted(keys: readonly number[]): CountedKeys {
  const counts = new KeyCounts();
  for (const key of keys) counts.add(key);
  return counts.result();
}

const sorted = ({ keys, counts }: CountedKeys): [number, number][] =>
  Array.from(keys, (key, i): [number, number] => [key, counts[i]!]).sort(([a], [b]) => a - b);

Deno.test("key counts: each key as often as it is met, in one table or in two", () => {
  const key = fc.oneof(fc.nat({ max: 500 }), fc.integer({ min: 2 ** 31 - 500, max: 2 ** 31 - 2 }));
  const keys = fc.array(key, { maxLength: 4_000, size: "max" });
  fc.assert(fc.property(keys, fc.nat(), (keys, cut) => {
    const expected = [...Map.groupBy(keys, (one) => one)]
      .map(([one, { length }]): [number, number] => [one, length]).sort(([a], [b]) => a - b);
    assert.deepEqual(sorted(counted(keys)), expected);
    const at = cut % (keys.length + 1);
    assert.deepEqual(
      sorted(addKeys(counted(keys.slice(0, at)), counted(keys.slice(at)))),
      expected,
    );
  }));
});

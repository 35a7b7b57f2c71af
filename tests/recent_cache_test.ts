import { deepStrictEqual, ok, strictEqual, throws } from "node:assert/strict";
import fc from "fast-check";
import { RecentCache } from "../src/recent_cache.ts";

Deno.test("RecentCache: an entry that is asked for again and again outlives a flood of others", () => {
  const cache = new RecentCache<string, number>(10);
  cache.set("kept", 1);
  for (let i = 0; i < 1000; i++) {
    cache.set(`other ${i}`, i);
    strictEqual(cache.get("kept"), 1);
  }
  strictEqual(cache.get("other 0"), undefined);
});

Deno.test("RecentCache: agrees with a Map as long as nothing was dropped, and never exceeds its limit", () => {
  const operation = fc.record({
    kind: fc.constantFrom("get", "set", "delete", "clear"),
    key: fc.integer({ min: 0, max: 12 }),
    value: fc.integer(),
  });
  fc.assert(fc.property(
    fc.array(operation, { maxLength: 200 }),
    fc.integer({ min: 2, max: 40 }),
    (operations, entriesMax) => {
      const cache = new RecentCache<number, number>(entriesMax);
      const model = new Map<number, number>();
      for (const { kind, key, value } of operations) {
        if (kind === "set") {
          cache.set(key, value);
          model.set(key, value);
          strictEqual(cache.get(key), value);
        } else if (kind === "get") {
          const found = cache.get(key);
          ok(found === model.get(key) || (found === undefined && entriesMax < 26));
        } else if (kind === "delete") {
          if (cache.delete(key)) ok(model.has(key));
          model.delete(key);
          strictEqual(cache.get(key), undefined);
        } else {
          cache.clear();
          model.clear();
        }
        ok(cache.size <= entriesMax && cache.size <= model.size);
      }
    },
  ));
});

Deno.test("RecentCache: null is a value, and a limit below two is refused", () => {
  const cache = new RecentCache<string, null>(2);
  cache.set("a", null);
  deepStrictEqual([cache.get("a"), cache.get("b")], [null, undefined]);
  for (const bound of [1, 0, -4, 2.5, NaN]) throws(() => new RecentCache(bound), RangeError);
});

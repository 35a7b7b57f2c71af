import assert from "node:assert/strict";
import fc from "fast-check";
import { CacheBudget, WeighedCache } from "../../src/timelines/weighed_cache.ts";

interface Weighed {
  readonly bytes: number;
}

function cacheOf(bytesMax: number): WeighedCache<string, Weighed> {
  return new WeighedCache(bytesMax, ({ bytes }) => bytes);
}

/** A list of pairs in the order of use. */
class NaiveCache {
  #pairs: (readonly [key: string, value: Weighed])[] = [];

  constructor(readonly bytesMax: number) {}

  get bytes(): number {
    return this.#pairs.reduce((sum, [, { bytes }]) => sum + bytes, 0);
  }

  get(key: string): Weighed | undefined {
    const pair = this.#pairs.find(([one]) => one === key);
    if (pair !== undefined) this.#pairs = [...this.#pairs.filter((one) => one !== pair), pair];
    return pair?.[1];
  }

  set(key: string, value: Weighed): void {
    if (value.bytes > this.bytesMax) return;
    this.#pairs = [...this.#pairs.filter(([one]) => one !== key), [key, value]];
    while (this.bytes > this.bytesMax) this.#pairs.shift();
  }
}

Deno.test("WeighedCache: agrees with a list in the order of use for any sequence of calls", () => {
  const key = fc.constantFrom("a", "b", "c", "d", "e");
  const step = fc.record({ key, bytes: fc.option(fc.nat({ max: 12 })) });
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60, size: "max" }),
      fc.nat({ max: 20 }),
      (steps, bytesMax) => {
        const cache = cacheOf(bytesMax);
        const naive = new NaiveCache(bytesMax);
        for (const { key, bytes } of steps) {
          if (bytes === null) assert.equal(cache.get(key), naive.get(key));
          else {
            const value = { bytes };
            cache.set(key, value);
            naive.set(key, value);
          }
          assert.equal(cache.bytes, naive.bytes);
          assert.ok(cache.bytes <= bytesMax);
        }
        for (const key of "abcde") assert.equal(cache.get(key), naive.get(key));
      },
    ),
    { numRuns: 500 },
  );
});

Deno.test("WeighedCache: what fits to the byte is kept; one byte more evicts the least recently used", () => {
  const cache = cacheOf(10);
  for (const [key, bytes] of [["a", 5], ["b", 5]] as const) cache.set(key, { bytes });
  assert.deepEqual([cache.get("b"), cache.get("a"), cache.bytes], [{ bytes: 5 }, { bytes: 5 }, 10]);
  cache.set("c", { bytes: 1 });
  assert.deepEqual([cache.get("a"), cache.get("b"), cache.bytes], [{ bytes: 5 }, undefined, 6]);
  cache.set("d", { bytes: 11 });
  assert.deepEqual([cache.get("d"), cache.bytes], [undefined, 6]);
  cache.set("e", { bytes: 10 });
  assert.deepEqual([cache.get("a"), cache.get("c"), cache.bytes], [undefined, undefined, 10]);
});

Deno.test("WeighedCache: a value that replaces another is weighed again", () => {
  const cache = cacheOf(10);
  cache.set("a", { bytes: 8 });
  cache.set("b", { bytes: 2 });
  cache.set("a", { bytes: 3 });
  assert.deepEqual([cache.get("a"), cache.get("b"), cache.bytes], [{ bytes: 3 }, { bytes: 2 }, 5]);
});

Deno.test("CacheBudget: evicts the least recently used of all caches", () => {
  const budget = new CacheBudget(10);
  const dropped: number[] = [];
  const [large, small] = [10, 4].map((bytesMax) =>
    new WeighedCache<string, Weighed>(
      bytesMax,
      ({ bytes }) => bytes,
      ({ bytes }) => dropped.push(bytes),
      budget,
    )
  );
  large!.set("a", { bytes: 5 });
  small!.set("b", { bytes: 4 });
  assert.equal(budget.bytes, 9);
  large!.get("a");
  large!.set("c", { bytes: 2 });
  assert.deepEqual(dropped, [4]);
  // Its own bound holds beside.
  assert.equal(small!.set("d", { bytes: 5 }), false);
  small!.set("e", { bytes: 3 });
  assert.deepEqual([large!.get("c"), small!.get("e"), budget.bytes], [
    { bytes: 2 },
    { bytes: 3 },
    10,
  ]);
  small!.set("f", { bytes: 1 });
  assert.deepEqual(dropped, [4, 5]);
  assert.equal(large!.set("g", { bytes: 11 }), false);
  large!.set("h", { bytes: 10 });
  assert.deepEqual([dropped, budget.bytes], [[4, 5, 2, 3, 1], 10]);
});

import fc from "fast-check";
import assert from "node:assert/strict";
import { quantilesOfTimes, Samples, select } from "../../src/scans/medians.ts";
import { median } from "../reference/statistics.ts";

const values = fc.oneof(
  fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 60 }),
  fc.array(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e12, max: 1e12 }), {
    minLength: 1,
    maxLength: 60,
  }),
);

/** Up and down again: the largest stand where pivots are looked for. */
function organPipe(length: number): number[] {
  return Array.from({ length }, (_, i) => Math.min(i, length - 1 - i));
}

/**
 * The two smallest that are left always stand first and in the middle, so that each pivot parts two
 * from all the others. Numbers are given out as the pivots are met, along with what they swap.
 */
function badPivots(length: number): number[] {
  const itemAt = Array.from({ length }, (_, i) => i);
  const numbers = new Array<number>(length);
  let next = 0;
  for (let first = 0; first + 3 < length; first += 2) {
    const mid = first + ((length - 1 - first) >> 1);
    numbers[itemAt[first]!] = next++;
    numbers[itemAt[mid]!] = next++;
    [itemAt[first + 1], itemAt[mid]] = [itemAt[mid]!, itemAt[first + 1]!];
  }
  for (let i = 0; i < length; i++) numbers[i] ??= next++;
  return numbers;
}

function assertSelected(numbers: readonly number[], place: number): void {
  const array = Float64Array.from([-1, ...numbers, -1]);
  select(array, 1, numbers.length + 1, place + 1);
  const sorted = numbers.toSorted((a, b) => a - b);
  assert.equal(array[place + 1], sorted[place]);
  assert.deepEqual([...array.slice(1, -1)].sort((a, b) => a - b), sorted);
  assert.deepEqual([array[0], array.at(-1)], [-1, -1]);
  for (const before of array.slice(1, place + 1)) assert.ok(before <= sorted[place]!);
  for (const behind of array.slice(place + 1, -1)) assert.ok(behind >= sorted[place]!);
}

Deno.test("select: the value of a place, and the others on their sides", () => {
  fc.assert(fc.property(values, fc.nat(), (numbers, at) => {
    // Zeros of both signs are equal, and the order of equal numbers does not matter.
    assertSelected(numbers.map((number) => number + 0), at % numbers.length);
  }));
});

Deno.test("select: orders that make for bad pivots", () => {
  for (const order of [organPipe, badPivots]) {
    for (const length of [3, 10, 1_001, 5_000]) {
      const numbers = order(length);
      for (const place of [0, length >> 1, length - 1]) assertSelected(numbers, place);
    }
  }
});

Deno.test("medians: exact, of each key by itself and of all, however large and near each other values are", () => {
  const value = fc.oneof(
    fc.integer({ min: 0, max: 86_400_000 }),
    fc.integer({ min: 4_000, max: 4_100 }),
    fc.double({ noNaN: true, min: 0, max: 1 }),
    fc.double({ noNaN: true, min: -1e12, max: 1e12 }),
    fc.constantFrom(0, 2 ** -10, 2 ** 22, 5e-324, Number.MAX_SAFE_INTEGER),
  );
  const keyed = fc.array(
    fc.tuple(fc.nat({ max: 5 }), value.map((number) => number + 0)),
    { maxLength: 200 },
  );
  fc.assert(fc.property(keyed, fc.uniqueArray(fc.nat({ max: 5 })), (samples, wanted) => {
    const held = new Samples(5);
    for (const [key, value] of samples) held.add(key, value);
    const told = wanted.flatMap((key): [number, number][] => {
      const middle = median(samples.filter(([of]) => of === key).map(([, value]) => value));
      return middle === null ? [] : [[key, middle]];
    });
    assert.deepEqual(held.mediansOf(wanted), new Map(told));
    // Asking changes nothing.
    const all = median(samples.flatMap(([of, value]) => wanted.includes(of) ? [value] : []));
    assert.deepEqual(held.mediansWithAll(wanted), { of: new Map(told), all });
  }));
});

Deno.test("medians: more samples than lie side by side", () => {
  const held = new Samples(3);
  for (let i = 0; i < 200_000; i++) held.add(i % 2 === 0 ? 1 : 3, (i * 7_919) % 200_000);
  // Even and odd numbers, shuffled: 0, 2, … 199998 and 1, 3, … 199999.
  const of = new Map([[1, 99_999], [3, 100_000]]);
  assert.deepEqual(held.mediansWithAll([1, 2, 3]), { of, all: 99_999.5 });
});

Deno.test("quantiles of times: those of sorted times, of few and many, equal ones and far ones", () => {
  const times = fc.oneof(
    fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 60 }),
    fc.array(fc.integer({ min: 0, max: 2 ** 34 }), { minLength: 1, maxLength: 300 }),
    fc.array(fc.double({ noNaN: true, min: 0, max: 1e12 }), { minLength: 1, maxLength: 60 }),
  );
  const fractions = [0, 0.5, 0.9, 1];
  fc.assert(fc.property(times, (ms) => {
    const sorted = ms.toSorted((a, b) => a - b);
    const expected = fractions.map((fraction) => {
      const place = fraction * (ms.length - 1);
      const [low, high] = [sorted[Math.floor(place)]!, sorted[Math.ceil(place)]!];
      return low + (place - Math.floor(place)) * (high - low);
    });
    assert.deepEqual(quantilesOfTimes(Float64Array.from(ms), fractions), expected);
  }));
});

import fc from "fast-check";
import assert from "node:assert/strict";
import { decimalOf, decimalOfNumber, DecimalSum } from "../../src/scans/decimal_sum.ts";

type Added = readonly (readonly [number: string, times: number])[];

function sumOf(added: Added): number {
  const sum = new DecimalSum();
  for (const [number, times] of added) sum.add(decimalOf(number)!, times);
  return sum.value;
}

/** Sums are told in units of 10^-400: no double's decimals reach further. */
const UNIT_DIGITS = 400;
/** Doubles are told in units of the least one, 2^-1074. */
const LEAST_POWER = 1_074n;

/** What was added, in units. */
function exactly(added: Added): bigint {
  let sum = 0n;
  for (const [number, times] of added) {
    const [digits = "", power = "0"] = number.toLowerCase().split("e");
    const [whole = "", fraction = ""] = digits.split(".");
    const zeros = UNIT_DIGITS + Number(power) - fraction.length;
    sum += BigInt(whole + fraction + "0".repeat(zeros)) * BigInt(times);
  }
  return sum;
}

/** The magnitude that the bits of a double stand for; the infinite one stands at 2^1024, where it would be next. */
function magnitudeOf(bits: bigint): bigint {
  const [power, fraction] = [bits >> 52n, bits & (2n ** 52n - 1n)];
  return power === 0n ? fraction : (2n ** 52n + fraction) << (power - 1n);
}

/** Fails unless no other double is nearer to a sum in units, nor as near and even. */
function assertNearest(value: number, sum: bigint): void {
  assert.ok(!Number.isNaN(value));
  if (value !== 0) assert.equal(value > 0, sum > 0n);
  const bits = new DataView(new Float64Array([Math.abs(value)]).buffer).getBigUint64(0, true);
  const magnitude = (sum < 0n ? -sum : sum) << LEAST_POWER;
  const distanceOf = (other: bigint) => {
    const distance = magnitudeOf(other) * 10n ** BigInt(UNIT_DIGITS) - magnitude;
    return distance < 0n ? -distance : distance;
  };
  const distance = distanceOf(bits);
  for (const other of [bits - 1n, bits + 1n]) {
    if (other < 0n || (Math.abs(value) === Infinity && other > bits)) continue;
    const isNearer = distance < distanceOf(other) ||
      (distance === distanceOf(other) && bits % 2n === 0n);
    assert.ok(isNearer, `${value} is not next to the sum`);
  }
}

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.integer({ min: -99_999, max: 99_999 }).map((cents) => cents / 100),
  fc.constantFrom(0, -0, 5e-324, -2.5e-323, 1e21, 1e-7, 2 ** 53, Number.MAX_VALUE, 1e308),
).map((double) => JSON.stringify(double));
const times = fc.oneof(
  fc.integer({ min: 1, max: 3 }),
  fc.integer({ min: 1, max: 10_000_000 }),
);

Deno.test("decimal of a number: what its JSON text says, whether arithmetic finds it or not", () => {
  const fewDecimals = fc.tuple(fc.maxSafeInteger(), fc.nat({ max: 9 }))
    .map(([whole, decimals]) => Number(`${whole}e-${decimals}`));
  const pixels = fc.integer({ min: -50_000_000, max: 50_000_000 }).map((cents) => cents / 100);
  const numbers = fc.oneof(
    fc.double({ noDefaultInfinity: true, noNaN: true }),
    fewDecimals,
    pixels,
  );
  fc.assert(
    fc.property(numbers, (number) => {
      // JSON knows no -0.
      const told = number === 0 ? 0 : number;
      assert.deepEqual(decimalOfNumber(told), decimalOf(JSON.stringify(told)));
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("DecimalSum: the double next to the sum of any numbers, each any number of times", () => {
  const added = fc.array(fc.tuple(number, times), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(added, (added) => {
      const value = sumOf(added);
      assertNearest(value, exactly(added));
      assert.equal(sumOf(added.toReversed()), value);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("DecimalSum: of many small numbers, which are together too large to be counted in one double", () => {
  const small = fc.integer({ min: -2, max: 2 }).map((off) => String(2 ** 53 - 3 + off));
  const added = fc.array(fc.tuple(fc.oneof(small, small.map((one) => `-${one}`)), times), {
    minLength: 1,
    maxLength: 6,
  });
  fc.assert(fc.property(added, (added) => assertNearest(sumOf(added), exactly(added))));
});

Deno.test("DecimalSum: decimals are summed as they are written", () => {
  assert.equal(sumOf([["0.1", 1], ["0.2", 1]]), 0.3);
  assert.equal(sumOf([["0.1", 10]]), 1);
  assert.equal(sumOf([["19.99", 3], ["-59.97", 1]]), 0);
  assert.equal(sumOf([["1e308", 1], ["1e-308", 1], ["-1e308", 1]]), 1e-308);
  assert.equal(sumOf([["9007199254740993", 1], ["-9007199254740992", 1]]), 1);
  assert.equal(sumOf([["-9007199254740990", 1], ["9007199254740993", 1]]), 3);
  assert.equal(sumOf([["9007199254740991", 1], ["1", 2], ["-9007199254740990", 1]]), 3);
  assert.equal(sumOf([["1E2", 1], ["1e+2", 1], ["-0.5e-1", 2]]), 199.9);
  assert.equal(sumOf([["1.7e308", 2]]), Infinity);
  assert.equal(sumOf([["-1.7e308", 2]]), -Infinity);
});

Deno.test("DecimalSum: nothing was added, or zeros", () => {
  assert.equal(sumOf([]), 0);
  assert.equal(sumOf([["0", 5], ["0.00", 1]]), 0);
});

Deno.test("DecimalSum: the mean of numbers whose sum no double holds", () => {
  const sum = new DecimalSum();
  for (const number of ["1e308", "1.5e308"]) sum.add(decimalOf(number)!);
  assert.equal(sum.value, Infinity);
  assert.equal(sum.mean(2), 1.25e308);
});

Deno.test("decimalOf: what is no number of JSON is none", () => {
  const refused = [
    "",
    "-",
    "a",
    "1.",
    ".5",
    "+1",
    "1e",
    "1e5.5",
    "--1",
    "1,5",
    "0x10",
    " 1",
    "1\n",
  ];
  for (const text of [...refused, "NaN", "Infinity", "true", "null", '"1"', "[1]", "1n", "1_0"]) {
    assert.equal(decimalOf(text), null, text);
  }
});

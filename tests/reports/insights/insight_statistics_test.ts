import assert from "node:assert/strict";
import {
  adjustedPValues,
  countDeviation,
  countDispersion,
  expectedCount,
  expectedShare,
  shareDeviation,
  shareDispersion,
  studentTwoSided,
} from "../../../src/reports/insights/insight_statistics.ts";

function close(actual: number, expected: number, relative = 1e-10): void {
  const error = Math.abs(actual - expected);
  assert.ok(error <= relative * Math.abs(expected), `${actual}, not ${expected}`);
}

const p = (t: number, degreesOfFreedom: number) => studentTwoSided({ t, degreesOfFreedom });

Deno.test("student: closed forms of 1, 2 and 4 degrees of freedom", () => {
  for (const t of [0.01, 0.3, 0.99, 1, 1.01, 2, 5, 12]) {
    close(p(t, 1), 1 - 2 * Math.atan(t) / Math.PI);
    close(p(t, 2), 1 - t / Math.sqrt(2 + t * t));
    const s = t / Math.sqrt(4 + t * t);
    close(p(t, 4), 1 - s * (1 + (1 - s * s) / 2));
    assert.equal(p(-t, 4), p(t, 4));
  }
  // Far out 1 - … has no digits left; the tail of one degree is atan(1 / t).
  close(p(1e9, 1), 2 * Math.atan(1e-9) / Math.PI);
  assert.equal(p(0, 21), 1);
  assert.equal(p(Infinity, 21), 0);
});

Deno.test("student: critical values of the printed tables", () => {
  const table: readonly (readonly [number, number, number])[] = [
    [12.7062, 1, 0.05],
    [2.5706, 5, 0.05],
    [2.0796, 21, 0.05],
    [2.8314, 21, 0.01],
    [3.8193, 21, 0.001],
    [2.0484, 28, 0.05],
    [1.9799, 120, 0.05],
    [3.3735, 120, 0.001],
  ];
  for (const [t, df, expected] of table) close(p(t, df), expected, 3e-4);
  // With many degrees of freedom, the normal tail: 2 × 2.866515719e-7 at 5.
  close(p(5, 10_000_000), 5.7330314e-7, 1e-4);
});

Deno.test("benjamini and hochberg: the example of their paper", () => {
  const pValues = [
    0.0001,
    0.0004,
    0.0019,
    0.0095,
    0.0201,
    0.0278,
    0.0298,
    0.0344,
    0.0459,
    0.324,
    0.4262,
    0.5719,
    0.6528,
    0.759,
    1,
  ];
  // The first four are rejected at 5 %, as the paper finds.
  const adjusted = adjustedPValues(pValues.toReversed()).toReversed();
  assert.deepEqual(adjusted.map((q) => q <= 0.05), pValues.map((_, i) => i < 4));
  close(adjusted[0]!, 0.0015);
  close(adjusted[3]!, 0.0095 * 15 / 4);
  assert.equal(adjusted[14], 1);
  // A larger p-value of a better rank lowers those before it.
  assert.deepEqual(adjustedPValues([0.04, 0.03, 0.05]).map((q) => q.toFixed(4)), [
    "0.0500",
    "0.0500",
    "0.0500",
  ]);
  assert.deepEqual(adjustedPValues([]), []);
});

Deno.test("dispersion of counts: Pearson's, floored", () => {
  // Means 10 and 20: (25 + 25) / 10 + (100 + 100) / 20 = 15, with two degrees of freedom.
  const days = [[5, 15], [10, 30]];
  assert.deepEqual(countDispersion(days, 1), { factor: 7.5, degreesOfFreedom: 2 });
  assert.deepEqual(countDispersion(days, 9), { factor: 9, degreesOfFreedom: 2 });
  assert.deepEqual(countDispersion([[10, 10], [0, 0]], 1), { factor: 1, degreesOfFreedom: 1 });
  assert.deepEqual(countDispersion([[0, 0, 0], [0, 0, 0]], 1), { factor: 1, degreesOfFreedom: 4 });
});

Deno.test("dispersion of shares", () => {
  // Half of 200: 10 off in each of two days of 100, (100 + 100) / 25.
  const uneven = [[{ hits: 40, trials: 100 }, { hits: 60, trials: 100 }]];
  assert.deepEqual(shareDispersion(uneven), { factor: 8, degreesOfFreedom: 1 });
  const certain = [[{ hits: 0, trials: 9 }, { hits: 0, trials: 9 }]];
  assert.deepEqual(shareDispersion(certain), { factor: 1, degreesOfFreedom: 1 });
});

Deno.test("the expectation by weekday, and its uncertainty", () => {
  const weeks = [[10, 12, 8, 10], [20, 20, 30, 10], [7, 7, 7, 7]];
  assert.deepEqual(expectedCount(weeks, [1, 1, 0]), { value: 30, uncertainty: 0.25 });
  assert.deepEqual(expectedCount(weeks, [4, 0, 0]), { value: 40, uncertainty: 1 });
  assert.deepEqual(expectedCount([[0, 0], [0, 0]], [1, 1]), { value: 0, uncertainty: 0.5 });
  const shares = [[{ hits: 1, trials: 4 }, { hits: 3, trials: 4 }]];
  assert.deepEqual(expectedShare(shares, [1]), {
    value: { hits: 2, trials: 4 },
    uncertainty: 0.5,
  });
});

Deno.test("deviation of counts", () => {
  const dispersion = { factor: 4, degreesOfFreedom: 21 };
  // 44 / √(4 × (100 + 144 ÷ 4)) and against one period 44 / √(4 × 244).
  close(countDeviation(144, { value: 100, uncertainty: 0.25 }, dispersion).t, 44 / Math.sqrt(544));
  close(countDeviation(144, { value: 100, uncertainty: 1 }, dispersion).t, 44 / Math.sqrt(976));
  assert.equal(countDeviation(0, { value: 0, uncertainty: 1 }, dispersion).t, 0);
});

Deno.test("deviation of shares: the two-proportion test", () => {
  const dispersion = { factor: 1, degreesOfFreedom: 21 };
  // 60 of 100 against 40 of 100: 0.2 / √(0.25 × 0.02) = 2.828….
  const before = { value: { hits: 40, trials: 100 }, uncertainty: 1 };
  close(shareDeviation({ hits: 60, trials: 100 }, before, dispersion).t, Math.sqrt(8));
  // The mean of four periods weighs as much as 400.
  const mean = { value: { hits: 40, trials: 100 }, uncertainty: 0.25 };
  const both = 220 / 500;
  const error = Math.sqrt(both * (1 - both) * (1 / 100 + 1 / 400));
  close(shareDeviation({ hits: 60, trials: 100 }, mean, dispersion).t, 0.2 / error);
  assert.equal(shareDeviation({ hits: 0, trials: 0 }, before, dispersion).t, 0);
});

import assert from "node:assert/strict";
import { compareWithWeeks } from "../../src/notifications/unusual.ts";

/** Numbers from 0 to 1 that are the same each time. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
}

/** A count about a mean, by the normal approximation of Poisson. */
function countOf(mean: number, random: () => number): number {
  const normal = Math.sqrt(-2 * Math.log(random())) * Math.cos(2 * Math.PI * random());
  return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal));
}

Deno.test("unusual: at most 10 of 5,000 histories without a change, and all doubled ones", () => {
  const random = randomFrom(20261123);
  let told = 0;
  let missed = 0;
  for (let i = 0; i < 5_000; i++) {
    const before = Array.from({ length: 8 }, () => countOf(200, random));
    if (compareWithWeeks(countOf(200, random), before, "any")?.isUnusual) told++;
    if (!compareWithWeeks(countOf(400, random), before, "any")?.isUnusual) missed++;
  }
  assert.ok(told <= 10, `${told} of 5,000`);
  assert.equal(missed, 0);
});

Deno.test("unusual: only in the requested direction", () => {
  const before = [100, 101, 99, 100, 100, 98];
  const of = (count: number, direction: "any" | "up" | "down") =>
    compareWithWeeks(count, before, direction)!.isUnusual;
  assert.deepEqual([of(300, "up"), of(300, "down"), of(300, "any")], [true, false, true]);
  assert.deepEqual([of(5, "up"), of(5, "down"), of(5, "any")], [false, true, true]);
});

Deno.test("unusual: not if the change is small, the count low, or there are fewer than four weeks", () => {
  const exact = [100_000, 100_000, 100_000, 100_000];
  assert.equal(compareWithWeeks(119_000, exact, "any")!.isUnusual, false, "less than a fifth off");
  assert.equal(compareWithWeeks(121_000, exact, "any")!.isUnusual, true);
  assert.equal(compareWithWeeks(9, [0, 0, 0, 0], "any")!.isUnusual, false, "fewer than ten off");
  assert.equal(compareWithWeeks(500, [1, 1, 1], "any"), null, "three weeks say nothing");
  assert.notEqual(compareWithWeeks(500, [1, 1, 1, 1], "any"), null);
});

Deno.test("unusual: the more the weeks differ, the more it takes", () => {
  assert.equal(
    compareWithWeeks(260, [20, 300, 90, 250, 10, 180, 60, 290], "any")!.isUnusual,
    false,
  );
});

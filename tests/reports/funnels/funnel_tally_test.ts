import assert from "node:assert/strict";
import { Attempts } from "../../../src/reports/funnels/counted_attempts.ts";
import { tallyAttempts } from "../../../src/reports/funnels/funnel_tally.ts";

/** An attempt that reached its steps at these moments, as a search tells it. */
const found = (ms: readonly number[], died = false) => ({
  ms: Float64Array.from(ms),
  depth: ms.length,
  died,
});

/** Dictionaries that know these values of ids. */
const knowing = (values: readonly (readonly [id: number, value: string])[]) => () =>
  Promise.resolve(new Map(values));

Deno.test("tally: steps, times between the nearest two, and how attempts ended", async () => {
  const attempts = new Attempts(3);
  attempts.add(found([1000, 1010, 1050]), 0, true);
  attempts.add(found([0, 20], true), 0, true);
  attempts.add(found([0, 40]), 0, true);
  attempts.add(found([0]), 0, true);
  attempts.add(found([0]), 0, false);
  assert.deepEqual(await tallyAttempts(attempts.all(), 3, null), {
    steps: [
      { actors: 5, medianMs: null, p90Ms: null },
      { actors: 3, medianMs: 20, p90Ms: 36 },
      { actors: 1, medianMs: 40, p90Ms: 40 },
    ],
    excluded: 1,
    open: 2,
    groups: null,
  });
});

Deno.test("tally: ids of one value are one group; equally large ones go by conversions, then value", async () => {
  const attempts = new Attempts(2);
  const reached = (id: number) => attempts.add(found([0, 5]), id, false);
  const left = (id: number) => attempts.add(found([0]), id, false);
  // Two attempts of each value but d: z converts twice; b, c and the missing value once.
  reached(7);
  reached(1);
  for (const id of [4, 9, 2]) left(id);
  for (const id of [3, 8, 6]) reached(id);
  reached(5);
  const textsOf = knowing([[3, "b"], [4, "b"], [2, "c"], [8, "c"], [5, "d"], [1, "z"], [7, "z"]]);
  const { groups } = await tallyAttempts(attempts.all(), 2, textsOf);
  assert.deepEqual(
    groups!.map(({ value, steps }) => [value, ...steps.map(({ actors }) => actors)]),
    [["z", 2, 2], ["b", 2, 1], ["c", 2, 1], [null, 2, 1], ["d", 1, 1]],
  );
});

Deno.test("tally: all groups but the largest 25 are one, whose times are taken together", async () => {
  const attempts = new Attempts(2);
  const values: [number, string][] = [];
  for (let id = 0; id < 27; id++) {
    values.push([id, `v${String(id).padStart(2, "0")}`]);
    attempts.add(found([0, 100 * id]), id, false);
  }
  const { groups } = await tallyAttempts(attempts.all(), 2, knowing(values));
  assert.deepEqual(groups!.map(({ value }) => value), [
    ...values.slice(0, 25).map(([, value]) => value),
    "$other",
  ]);
  assert.deepEqual(groups![25]!.steps, [
    { actors: 2, medianMs: null, p90Ms: null },
    { actors: 2, medianMs: 2550, p90Ms: 2590 },
  ]);
});

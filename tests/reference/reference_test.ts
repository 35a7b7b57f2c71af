import assert from "node:assert/strict";
import { CASES } from "../fixtures/cases.ts";
import { assertHolds, worldOf } from "../fixtures/read_case.ts";
import { REPORT_CASES } from "../fixtures/report_cases.ts";
import { reachedDepth } from "./heatmap.ts";
import { runRead } from "./reads.ts";

for (const one of CASES) {
  Deno.test(`reference: ${one.name}`, () => {
    assertHolds(runRead(worldOf(one), one.read, one.params, one.goals), one.expected);
  });
}

Deno.test("reference: a depth is reached at its very pixel, whatever the grid", () => {
  const world = worldOf(REPORT_CASES.find(({ name }) => name.includes("depth that they"))!);
  const params = { path: "/", device: "desktop", kind: "scroll", from: "2026-03-02" } as const;
  const reached = [0, 700, 701, 709, 710, 1200, 1201].map((depthPx) =>
    reachedDepth(world, { ...params, to: "2026-03-02" }, depthPx)
  );
  assert.deepEqual(reached, [3, 3, 2, 2, 1, 1, 0]);
});

Deno.test("fixtures: names are unique, and a wrong expectation is told by its place", () => {
  assert.equal(new Set(CASES.map(({ name }) => name)).size, CASES.length);
  const actual = { rows: [{ visitors: 1 }, { visitors: 2 }] };
  assertHolds(actual, { rows: [{}, { visitors: 2 }] });
  assert.throws(() => assertHolds(actual, { rows: [{}, { visitors: 3 }] }), /answer\.rows\.1/);
  assert.throws(() => assertHolds(actual, { rows: [{}] }), /answer\.rows: length/);
  assert.throws(() => assertHolds(actual, { rows: [{}, { sessions: 1 }] }), /sessions/);
  assert.throws(() => assertHolds({ value: 0 }, { value: null }), /answer\.value/);
});

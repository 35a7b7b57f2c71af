import assert from "node:assert/strict";
import { ACQUISITION_CASES } from "../fixtures/acquisition_cases.ts";
import { CALENDAR_CASES } from "../fixtures/calendar_cases.ts";
import { FUNNEL_CASES } from "../fixtures/funnel_cases.ts";
import { FUNNEL_ORDER_CASES } from "../fixtures/funnel_order_cases.ts";
import { MEANING_CASES } from "../fixtures/meaning_cases.ts";
import { PROPERTY_CASES } from "../fixtures/property_cases.ts";
import { assertHolds, type ReadCase, worldOf } from "../fixtures/read_case.ts";
import { REPORT_CASES } from "../fixtures/report_cases.ts";
import { RETENTION_CASES } from "../fixtures/retention_cases.ts";
import { SEGMENT_CASES } from "../fixtures/segment_cases.ts";
import { SESSION_CASES } from "../fixtures/session_cases.ts";
import { TECHNICAL_CASES } from "../fixtures/technical_cases.ts";
import { reachedDepth } from "./heatmap.ts";
import { runRead } from "./reads.ts";

const CASES: readonly ReadCase[] = [
  ...SESSION_CASES,
  ...CALENDAR_CASES,
  ...FUNNEL_CASES,
  ...FUNNEL_ORDER_CASES,
  ...RETENTION_CASES,
  ...ACQUISITION_CASES,
  ...REPORT_CASES,
  ...PROPERTY_CASES,
  ...MEANING_CASES,
  ...TECHNICAL_CASES,
  ...SEGMENT_CASES,
];

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

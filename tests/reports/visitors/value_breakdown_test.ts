import assert from "node:assert/strict";
import { topValues } from "../../../src/reports/visitors/value_breakdown.ts";
import type { ValueIds } from "../../../src/scans/event_value_ids.ts";

/** Ids from 0 of these texts, null for the missing one; and which of them were looked up. */
function idsOf(texts: readonly (string | null)[], areShared: boolean) {
  const looked: number[] = [];
  const values: ValueIds = {
    ...{ from: "path", idsFrom: 0, idMax: texts.length - 1, users: null },
    idsOf: areShared ? null : (values) =>
      Promise.resolve(
        new Map(values.flatMap((value) => {
          const id = texts.indexOf(value);
          return id < 0 ? [] : [[id, value]];
        })),
      ),
    textsOf: (ids) => {
      looked.push(...ids);
      return Promise.resolve(
        new Map(ids.flatMap((id) => texts[id] === null ? [] : [[id, texts[id]!]])),
      );
    },
  };
  return { values, looked };
}

const TEXTS = [null, ...Array.from({ length: 1_000 }, (_, id) => `/p${id}`)];
const COUNTS = Float64Array.from(TEXTS, (_, id) => id === 3 ? 0 : 1 + id % 2);
const ONLY = new Set(["/p1", "/p2", "/p4", "/unknown", null]);
const EXPECTED = [["/p4", 2, [5]], ["/p1", 1, [2]], [null, 1, [0]]];

for (const areShared of [false, true]) {
  Deno.test(`values that may have lines, ${areShared ? "with" : "without"} several ids each`, async () => {
    const { values, looked } = idsOf(TEXTS, areShared);
    const top = await topValues(values, COUNTS, ONLY);
    assert.deepEqual(top.map(({ text, count, ids }) => [text, count, ids]), EXPECTED);
    // The ids of few values are found by them: those of all others are not looked at.
    assert.equal(looked.length, areShared ? TEXTS.length - 1 : 0);
  });
}

Deno.test("value breakdown: values with several ids have the events of all of them", async () => {
  const texts = [null, ...Array.from({ length: 30 }, (_, i) => `c${i}`), "rare", "rare", null];
  const counts = Float64Array.from(texts, (text) => text === "rare" ? 3 : 5);
  const top = await topValues(idsOf(texts, true).values, counts, null);
  assert.deepEqual(top.slice(0, 2), [
    { text: null, ids: [0, 33], count: 10 },
    { text: "rare", ids: [31, 32], count: 6 },
  ]);
  assert.equal(top.length, 25);
});

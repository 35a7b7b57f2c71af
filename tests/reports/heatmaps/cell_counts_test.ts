import assert from "node:assert/strict";
import fc from "fast-check";
import { CellCounting } from "../../../src/reports/heatmaps/cell_counts.ts";
import { CELL_PLACED } from "../../../src/store/heatmap_cell.ts";

const POINT = 0xff00;

/** Events by hand: the numbers of events and of distinct actors by point, and actors by their highest point. */
function countedPlainly(actors: Int32Array, cells: Int32Array) {
  const points = new Map<number, number[]>();
  const highest = new Map<number, number>();
  for (const [i, actor] of actors.entries()) {
    const point = cells[i]! & POINT;
    points.set(point, [...points.get(point) ?? [], actor]);
    highest.set(actor, Math.max(highest.get(actor) ?? 0, point));
  }
  const byPoint = [...points].map(([point, who]) => [point, who.length, new Set(who).size]);
  const reached = Map.groupBy(highest.values(), (point) => point);
  return { byPoint, byHighest: [...reached].map(([point, { length }]) => [point, length]) };
}

const ascending = (rows: number[][]) => rows.sort(([a], [b]) => a! - b!);

/** Clicks of few people whose ids lie far apart or side by side, in any order. */
const CLICKS = fc.array(
  fc.tuple(
    fc.oneof(fc.integer({ min: 0, max: 5 }), fc.constantFrom(2_047, 2_048, 2 ** 22, 2 ** 31 - 1)),
    fc.integer({ min: 0, max: 3 }),
  ),
);

Deno.test("heat map cells: visitors are distinct in any order of events, whatever their ids", async () => {
  await fc.assert(fc.asyncProperty(CLICKS, async (clicks) => {
    const actors = Int32Array.from(clicks, ([actor]) => actor);
    const cells = Int32Array.from(clicks, ([, point]) => CELL_PLACED | point << 8);
    const { byPoint, byHighest } = countedPlainly(actors, cells);
    const people = new Set(actors).size;
    const counting = new CellCounting({ wanted: 0, point: POINT });
    await counting.add({ actors, cells, elements: new Int32Array(0) });
    const { events, visitors, points, highest } = counting.result();
    assert.deepEqual([events, visitors], [clicks.length, people]);
    const rows = Array.from(points.keys, (key, i) => [key, points.counts[i]!, points.visitors[i]!]);
    assert.deepEqual(ascending(rows), ascending(byPoint));
    const tops = Array.from(highest.keys, (key, i) => [key, highest.visitors[i]!]);
    assert.deepEqual(ascending(tops), ascending(byHighest));
  }));
});

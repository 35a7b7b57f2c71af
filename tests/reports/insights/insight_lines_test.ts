import assert from "node:assert/strict";
import type { Sql } from "../../../src/db/sql.ts";
import {
  eventsByNumber,
  linesOfAll,
  linesOfChosen,
} from "../../../src/reports/insights/insight_lines.ts";
import {
  CONTEXT_ID,
  ENTRY_PATH_ID,
  LineEvents,
  LineTally,
  Piece,
} from "../../../src/reports/insights/line_tally.ts";
import type { NumberedValues } from "../../../src/reports/visitors/session_values.ts";
import { numberValues } from "../../../src/reports/visitors/session_values.ts";

const PATHS = 5_000_000;
/** Contexts 0 to 2: none has a country, the first two devices are the same. */
const DEVICES: NumberedValues = {
  ...{ of: "context_id", idsFrom: 0, numberOf: Int32Array.of(0, 0, 1), idOf: Int32Array.of(0, 2) },
};

const values = new Map([
  ...await numberValues({} as Sql, 1, ["entryPath" as const], PATHS),
  ["device" as const, DEVICES] as const,
]);

function pieceAt(path: number, context: number, place = 1): Piece {
  const piece = new Piece();
  piece.ids[ENTRY_PATH_ID] = path;
  piece.ids[CONTEXT_ID] = context;
  piece.place = place;
  return piece;
}

Deno.test("insight lines: memory grows with the paths that occur, not with all paths of the project", async () => {
  const all = linesOfAll(values, ["entryPath", "device"]);
  const bytes = all.tables.reduce((sum, { linesOf }) => sum + linesOf.byteLength, 0);
  assert.ok(bytes < 100, `${bytes} bytes go to each thread`);
  const counted = new LineEvents(all);
  counted.add(pieceAt(4_999_999, 1), 3);
  counted.add(pieceAt(7, 2), 2);
  counted.add(pieceAt(7, 0), 1);
  counted.add(pieceAt(8, 0, 0), 1);
  // Two paths, two devices.
  assert.equal(counted.counts.size, 4);
  const found = await eventsByNumber(counted.counts.result(), all);
  const told = found.map(({ dimension, counts, idAt }) => [
    dimension,
    [...counts].map((count, place) => [idAt(place), count]).sort(([a], [b]) => a! - b!),
  ]);
  assert.deepEqual(told, [["entryPath", [[7, 3], [4_999_999, 3]]], ["device", [[0, 4], [1, 2]]]]);
});

Deno.test("insight lines: each chosen value has a line, and no other has one", () => {
  const chosen = linesOfChosen(values, [
    { dimension: "entryPath", numbers: [7, 4_999_999], values: ["/b", "/a"] },
    { dimension: "device", numbers: [1], values: ["mobile"] },
  ]);
  assert.equal(chosen.count, 4);
  const tally = new LineTally(chosen, 1);
  tally.add(pieceAt(4_999_999, 2), 5, 0);
  tally.add(pieceAt(8, 0), 1, 0);
  assert.deepEqual([0, 1, 2, 3].map((line) => tally.at(line, 1).events), [6, 0, 5, 5]);
});

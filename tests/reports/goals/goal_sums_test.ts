import assert from "node:assert/strict";
import fc from "fast-check";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { onBothEngines } from "../../support/databases.ts";
import { openWithProjects } from "../../support/event_rows.ts";
import { ask, event, ofRevenue, put } from "./goal_world.ts";

/** JSON values, and the sum of the numbers among them. The last sum is as large as can be. */
const SUMS: readonly (readonly [sent: readonly string[], amount: number])[] = [
  [["0.1", "0.2"], 0.3],
  [["0.1", "0.1", "0.1", "-0.3"], 0],
  [["1e+21", "1"], 1e21],
  [["1e+21", "-1e+21", "1"], 1],
  [["1e-7", "1e-7"], 2e-7],
  [["123456789012345680000", "-123456789012345680000", "0.5"], 0.5],
  [["9007199254740991", "9007199254740991", "2"], 18014398509481984],
  [["-5.25", "-0", "0"], -5.25],
  [["-0"], 0],
  [['"1"', '"1e1"', '"-2"', "3"], 3],
  [['"7"'], 0],
  [["null", "true", "false", "[1]", '{"revenue":1}', '""'], 0],
  [["5e-324", "1.7976931348623157e+308"], Number.MAX_VALUE],
];

onBothEngines("goals: sums are exact", async (_t, db) => {
  const database = await openWithProjects(db);
  const all = [...new Set(SUMS.slice(0, -1).flatMap(([sent]) => sent))];
  const several = fc.array(fc.constantFrom(...all), { minLength: 1, maxLength: 12 });
  const random = fc.sample(several, 30);
  const rows = [...SUMS.map(([sent]) => sent), ...random].flatMap((sent, i) =>
    sent.map((json, n) =>
      event(`u${n % 3}`, "02 10:00", `buy ${i}`, json, { path: n % 2 === 0 ? "/" : "/x" })
    )
  );
  // In turns, so that a name's events lie in several segments.
  for (let turn = 0; turn < 3; turn++) {
    const some = rows.filter((_, i) => i % 3 === turn);
    await insertEvents(database, some.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
    await createProjection(database).catchUp(1);
  }
  const goals = SUMS.length + random.length;
  for (let i = 0; i < goals; i++) {
    await put(database, `goal-${i}`, {
      title: "Sum",
      match: { name: `buy ${i}` },
      value: ofRevenue,
    });
  }
  const summed = await ask(database);
  for (const [i, [sent, amount]] of SUMS.entries()) {
    assert.deepEqual(summed[`goal-${i}`].value, { amount, currency: "EUR" }, sent.join(" + "));
  }
  const onPath = [{ field: "path", op: "is", values: ["/"] }] as const;
  const some = await ask(database, {}, { filters: onPath });
  assert.notDeepEqual(some["goal-0"].value, summed["goal-0"].value);
  const large = [{ field: "properties.revenue", op: "gte", values: [0.2, "1e21"] }] as const;
  assert.equal((await ask(database, {}, { filters: large }))["goal-0"].value.amount, 0.2);
});

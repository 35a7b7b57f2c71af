import assert from "node:assert/strict";
import type { EventRow } from "../../../src/store/event_row.ts";
import { onBothEngines } from "../../support/databases.ts";
import { event, linesOf, openTrends } from "./trend_world.ts";

const DONE: readonly EventRow[] = [
  event("ann", "02 10:00", "page_view", null, { path: "/sale", country: "DE" }),
  event("ann", "02 10:01", "buy", { price: 10, plan: "pro" }, { country: "DE" }),
  event("bob", "03 10:00", "buy", null, { country: "US", user_id: "Bob" }),
  event("bob", "04 10:00", "scroll", null, { country: "US" }),
];

/**
 * 32 values of every field, in February: of most there are as many events as of any other. Users and
 * others, with a robot among them; a host and a path that are missing.
 */
const SEEN: readonly EventRow[] = Array.from({ length: 32 }, (_, i) => {
  // In the order of bytes capitals come before small letters, and these before what is not English.
  const path = `/${"aÄA"[i % 3]}${i}`;
  return Array.from(
    { length: i < 30 ? 4 : 2 },
    (_, n) =>
      event(`seen${i}-${n}`, "01 00:00", "seen", null, {
        occurred_at: `2026-02-1${n % 2}T09:${10 + i}:00.000Z`,
        path: i === 5 ? null : path,
        user_id: n === 3 ? null : `user ${i}`,
        host: i === 7 ? null : `${path.slice(1)}.test`,
        // Values that several contexts share.
        country: `${"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[i % 26]}X`,
        device: i % 2 === 0 ? "d" : null,
        bot: i === 3 && n === 0,
        properties: i % 4 === 0 ? null : JSON.stringify({ plan: ["free", "pro"][i % 2] }),
      }),
  );
}).flat();

onBothEngines("trends: every kind of question", async (t, db) => {
  const ask = await openTrends(db, [...DONE, ...SEEN]);

  await t.step("by names, filters, properties and fields", async () => {
    const german = [{ field: "country", op: "is", values: ["DE"] }];
    const ofPlan = [{ field: "properties.plan", op: "is", values: ["pro"] }];
    const ofPointer = [{ field: "properties.x", op: "not_exists", values: [] }];
    const questions: Record<string, string>[] = [
      {},
      { event: "scroll" },
      { event: '["buy","scroll"]', measure: "perVisitor" },
      { event: "buy", filters: JSON.stringify(german) },
      { event: JSON.stringify({ name: "buy", filters: german }), measure: "visitors" },
      { event: "buy", by: "country" },
      { event: "buy", by: "source" },
      { event: "buy", by: "properties.plan" },
      { event: "buy", by: "title" },
      { event: "buy", by: "referrer" },
      { filters: JSON.stringify(ofPlan) },
      { event: "buy", filters: JSON.stringify(ofPlan), by: "country" },
      { event: JSON.stringify([{ name: "buy", filters: ofPlan }, "scroll"]) },
      { measure: "sum:properties.price" },
      { event: "buy" },
      { event: '["buy","tag"]', measure: "visitors" },
      { event: "buy", by: "properties.x" },
      { filters: JSON.stringify(ofPointer) },
    ];
    for (const parameters of questions) await ask(parameters);
  });

  await t.step("by each field that timelines have", async () => {
    const range = { from: "2026-02-10", to: "2026-02-11", interval: "day" };
    const { series } = await ask({ ...range, event: "seen", by: "path" });
    const most = [...new Set(SEEN.slice(0, 120).map(({ path }) => path))]
      .filter((path) => path !== null && path !== SEEN[12]!.path).sort();
    assert.equal(most.length, 28, "with four events each");
    assert.deepEqual(linesOf(series), [
      ...most.slice(0, 25).map((path) => ["seen", path, [2, 2]]),
      // Of three paths more, of none, of that of the robot, and of the last two.
      ["seen", "$other", [3 * 2 + 2 + 1 + 2, 3 * 2 + 2 + 2 + 2]],
    ]);
    const event = JSON.stringify([
      "seen",
      { name: "buy", filters: [{ field: "userId", op: "not_exists", values: [] }] },
      { name: null, filters: [{ field: "path", op: "contains", values: ["A", "Ä"] }] },
      { name: "seen", filters: [{ field: "properties.plan", op: "is_not", values: ["pro"] }] },
    ]);
    for (const by of ["name", "path", "host", "country", "region", "device", "userId"]) {
      for (const measure of ["total", "visitors", "perVisitor"]) {
        for (const bots of ["exclude", "include", "only"] as const) {
          await ask({ ...range, to: "2026-03-03", event, by, measure }, { bots });
          await ask({ ...range, by, measure, interval: "hour" }, { bots });
        }
      }
    }
  });
});

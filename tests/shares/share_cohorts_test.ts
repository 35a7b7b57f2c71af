import assert from "node:assert/strict";
import { type Json, sharedApp } from "../support/app.ts";
import type { RetentionResult } from "../reference/retention.ts";
import { NOON_MS, people, postCounted, read, share, SITE, tokenOf } from "./shared_shop.ts";

const app = sharedApp();
const DAY_MS = 86_400_000;

/** The retention that a share shows of people who come on several days, by the days before yesterday. */
async function recurring(days: ReadonlyMap<number, readonly string[]>, query: Json = {}) {
  const project = await app.project({ siteUrl: SITE });
  const events = [...days].flatMap(([daysAgo, some]) =>
    some.map((who) => ({
      eventId: crypto.randomUUID(),
      name: "page_view",
      anonymousId: who,
      timestamp: new Date(NOON_MS - daysAgo * DAY_MS).toISOString(),
      url: `${SITE}/`,
    }))
  );
  await postCounted(app, project, events);
  const token = await tokenOf(app, (await share(app, project, { views: ["retention"] })).id);
  const asked = { interval: "day", periods: "2", cohort: "recurring", ...query };
  const { status, body } = await read(app, token, "retention", asked);
  assert.equal(status, 200, JSON.stringify(body));
  const { cohorts, average } = body as Pick<RetentionResult, "cohorts" | "average">;
  return {
    cohorts: cohorts.filter(({ size }) => size > 0).map(({ label, size, cells }) => [
      label === "$other",
      size,
      cells.map(({ actors, rate }) => [actors, rate.denominator]),
    ]),
    average: average.map(({ rate }) => rate.value),
  };
}

Deno.test("share cohorts: who comes on many days is one of the people of $other", async () => {
  const days = new Map([[4, ["a", "b"]], [3, ["b", "c"]], [2, ["a", "c"]], [1, ["a"]]]);
  for (const criterion of ["on", "on_or_after"]) {
    const { cohorts, average } = await recurring(days, { criterion });
    assert.deepEqual(cohorts, [[true, 3, [[3, 3], [3, 3]]]], criterion);
    // The average is everybody's: of seven times that somebody came, who was there the next day or later.
    assert.deepEqual(average, [1, criterion === "on" ? 3 / 7 : 4 / 7]);
  }
});

Deno.test("share cohorts: one person who comes again and again is not told by $other or the average", async () => {
  const days = new Map<number, readonly string[]>([
    [6, people(5, "five")],
    [5, people(4, "four")],
    ...[4, 3, 2, 1].map((day) => [day, ["lonely"]] as const),
  ]);
  const { cohorts, average } = await recurring(days);
  assert.deepEqual(cohorts, [
    [false, 5, [[5, 5], [null, 0]]],
    [true, 5, [[5, 5], [null, 0]]],
  ]);
  assert.deepEqual(average, [1, null]);
});

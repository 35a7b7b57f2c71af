import assert from "node:assert/strict";
import * as fc from "fast-check";
import { FUNNELS } from "../../../src/reports/funnels/funnels.ts";
import { FUNNEL_CASES } from "../../fixtures/funnel_cases.ts";
import { FUNNEL_ORDER_CASES } from "../../fixtures/funnel_order_cases.ts";
import { assertHolds, worldOf } from "../../fixtures/read_case.ts";
import { type FunnelParams, readFunnel } from "../../reference/funnel.ts";
import type { World } from "../../reference/world.ts";
import { onBothEngines, onPostgres } from "../../support/databases.ts";
import { casesOn } from "../../support/engine_cases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { answerOf, queryOf, storeWorld } from "./funnel_world.ts";

// Both engines have them among the fixtures of all reads; here their names have ids that are alike.
onPostgres("funnels: cases that can be checked on paper", async (t, db) => {
  const database = await openWithProjects(db);
  for (const one of [...FUNNEL_CASES, ...FUNNEL_ORDER_CASES]) {
    await t.step(one.name, async () => {
      const world = worldOf(one);
      const projectId = await storeWorld(database, world);
      const query = queryOf({ ...one.params as FunnelParams });
      assertHolds(await answerOf(FUNNELS, database, projectId, query, world), one.expected);
    });
  }
});

const START_MS = Date.parse("2026-03-02T00:00:00Z");
const MINUTE_MS = 60_000;
const HOURS = 12;
const ACTORS = 40;
const AS_OF_MS = START_MS + 11 * 60 * MINUTE_MS;

const atMinute = (minute: number) => new Date(START_MS + minute * MINUTE_MS).toISOString();

/** Few names, places and minutes, so that events tie, repeat and match several steps. */
const anEvent = fc.record({
  actor: fc.nat(ACTORS - 1),
  minute: fc.nat(HOURS * 60 - 1),
  name: fc.constantFrom("page_view", "click", "scroll", "view", "cart", "buy", "cart", "view"),
  path: fc.constantFrom(null, "/a", "/b"),
  country: fc.constantFrom(null, "DE", "FR"),
  plan: fc.constantFrom(null, "free", "pro", 3),
  utm_campaign: fc.constantFrom(null, "spring", "autumn"),
  bot: fc.constantFrom(false, false, false, false, false, true),
});

const aFilter = fc.constantFrom(
  { field: "path", op: "is" as const, values: ["/a"] },
  { field: "path", op: "is_not" as const, values: ["/a"] },
  { field: "country", op: "is" as const, values: ["DE"] },
  { field: "properties.plan", op: "exists" as const },
  { field: "campaign", op: "is" as const, values: ["spring"] },
);
const aMatch = fc.record({
  name: fc.constantFrom("page_view", "page_view", "click", "view", "cart", "buy", "never"),
  filters: fc.oneof(fc.constant([]), fc.constant([]), fc.array(aFilter, { maxLength: 1 })),
});
const aFunnel: fc.Arbitrary<FunnelParams> = fc.record({
  steps: fc.array(aMatch, { minLength: 1, maxLength: 5 }),
  window: fc.constantFrom("1s", "5m", "40m", "2h", "1d"),
  order: fc.constantFrom(
    "ordered" as const,
    "ordered" as const,
    "strict" as const,
    "unordered" as const,
  ),
  entry: fc.constantFrom("any" as const, "any" as const, "first" as const),
  exclude: fc.oneof(fc.constant([]), fc.array(aMatch, { maxLength: 2 })),
  filters: fc.oneof(fc.constant([]), fc.constant([]), fc.array(aFilter, { maxLength: 1 })),
  bots: fc.constantFrom("exclude" as const, "exclude" as const, "include" as const),
  bounds: fc.tuple(fc.nat(5), fc.integer({ min: 6, max: HOURS })),
  by: fc.option(
    fc.constantFrom(
      ...["country", "path", "properties.plan", "userId"],
      ...["campaign", "entryPath", "exitPath"],
    ),
    { nil: undefined },
  ),
}).map(({ bounds: [from, to], by, ...params }) => ({
  ...params,
  ...by === undefined ? {} : { by },
  from: atMinute(from * 60),
  to: atMinute(to * 60),
}));

function randomWorld(seed: number, eventCount: number): World {
  const sampled = fc.sample(anEvent, { seed, numRuns: eventCount });
  const events = sampled.map(({ actor, minute, plan, ...members }, i) =>
    newRow({
      ...members,
      event_id: `00000000-0000-7000-8000-${String((i * 7919) % 1_000_003).padStart(12, "0")}`,
      user_id: `u${actor}`,
      occurred_at: atMinute(minute),
      properties: plan === null ? null : JSON.stringify({ plan }),
    })
  );
  return { project: { timezone: "UTC", siteUrl: null }, events, asOfMs: AS_OF_MS };
}

onBothEngines(
  "funnels: every variant answers as the definition followed event by event",
  async (t, db) => {
    const database = await openWithProjects(db);
    for (const [seed, eventCount] of [[1, 1_500], [2, 500]] as const) {
      const world = randomWorld(seed, eventCount);
      const projectId = await storeWorld(database, world);
      const seen = new Set<string>();
      await t.step(`${eventCount} events`, async () => {
        const numRuns = casesOn(database, 400);
        for (const params of fc.sample(aFunnel, { seed, numRuns })) {
          const expected = readFunnel(world, params);
          const actual = await answerOf(
            FUNNELS,
            database,
            projectId,
            queryOf({ ...params }),
            world,
          );
          try {
            assertHolds(actual, expected);
            assertHolds(expected, actual);
          } catch (error) {
            throw new Error(`${(error as Error).message} in ${JSON.stringify(params)}`);
          }
          const { order, entry } = params;
          seen.add(`${order} ${entry}`);
          if (expected.converted > 0 && params.steps.length > 2) seen.add(`${order} converted`);
          if (expected.excluded > 0) seen.add(`${order} excluded`);
          if (expected.open > 0) seen.add(`${order} open`);
        }
      });
      if (seed === 1) {
        // Asserts that every kind of result has been compared.
        const orders = ["ordered", "strict", "unordered"];
        const kinds = ["any", "first", "excluded", "open", "converted"];
        const missing = orders.flatMap((order) => kinds.map((kind) => `${order} ${kind}`))
          .filter((kind) => !seen.has(kind));
        assert.deepEqual(missing, []);
      }
    }
  },
);

import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import fc from "fast-check";
import type { EventRow } from "../../src/store/event_row.ts";
import { type FunnelParams, readFunnel } from "../reference/funnel.ts";
import type { World } from "../reference/world.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { differenceOf, toldOf } from "./answers.ts";
import { Store } from "./stored_world.ts";

/**
 * Funnels of actors who do little else: each is one way through the same steps, excluded events and
 * windows, and one read tells every one's way by itself.
 */
const WORLDS = { postgres: 25, embedded: 5 } as const;
const QUESTIONS_OF_EACH_WORLD = 12;
/** Which histories can tell and which not: their actors are followed in different ways. */
const KNOWN = [{ field: "path", op: "is" as const, values: ["/a"] }];
const MARKED = [{ field: "properties.plan", op: "is" as const, values: ["pro"] }];
const UNKNOWN = [{ field: "title", op: "is" as const, values: ["pro"] }];
/** As many groups as a read tells apart. */
const ACTORS = 25;

const { values: given } = parseArgs({
  args: Deno.args,
  options: { runs: { type: "string" }, seed: { type: "string" } },
  strict: false,
});
const SEED = Number(given.seed ?? Date.now() % 1_000_000_000);

const START_MS = Date.parse("2026-03-02T08:00:00Z");
const MINUTE_MS = 60_000;
const SPOTS = 16;

const names = fc.constantFrom("view", "view", "cart", "buy", "click");

/** Steps of five minutes, several events at one time among them. */
const way = fc.array(
  fc.record({
    spot: fc.nat({ max: SPOTS }),
    restMs: fc.constantFrom(0, 0, 0, 1, -1),
    idPrefix: fc.nat({ max: 15 }),
    name: names,
    plan: fc.constantFrom("free", "pro"),
    path: fc.constantFrom("/a", "/b", null),
    bot: fc.constantFrom(false, false, false, false, false, false, true),
  }),
  { minLength: 1, maxLength: 14, size: "max" },
);

const ways: fc.Arbitrary<readonly EventRow[]> = fc.noBias(
  fc.array(way, { minLength: ACTORS, maxLength: ACTORS }),
).map((all) =>
  all.flatMap((events, actor) =>
    events.map(({ spot, restMs, idPrefix, name, plan, path, bot }, i) => {
      const at = new Date(START_MS + spot * 5 * MINUTE_MS + restMs).toISOString();
      const id = [idPrefix, actor, i].map((part) => part.toString(16).padStart(4, "0"));
      return newRow({
        event_id: `${id[0]}${id[1]}-0000-4000-8000-00000000${id[2]}`,
        occurred_at: at,
        received_at: at,
        name,
        path,
        user_id: `u${String(actor).padStart(2, "0")}`,
        bot,
        title: plan,
        properties: JSON.stringify({ plan }),
      });
    })
  )
);

const step = fc.record({
  name: names,
  filters: fc.constantFrom([], [], [], KNOWN, MARKED, UNKNOWN),
});
const instant = (spot: number) => new Date(START_MS + spot * 5 * MINUTE_MS).toISOString();

const question: fc.Arbitrary<FunnelParams> = fc.noBias(fc.record({
  from: fc.constantFrom(-1, 0, 2, 4).map(instant),
  to: fc.constantFrom(6, 10, SPOTS + 2).map(instant),
  steps: fc.array(step, { minLength: 1, maxLength: 4, size: "max" }),
  window: fc.constantFrom("1s", "300s", "10m", "25m", "1h", "7d"),
  order: fc.constantFrom(
    "ordered" as const,
    "ordered" as const,
    "strict" as const,
    "unordered" as const,
  ),
  entry: fc.constantFrom("any" as const, "any" as const, "first" as const),
  exclude: fc.oneof(
    fc.constant([]),
    fc.array(step, { minLength: 1, maxLength: 2 }),
  ),
  bots: fc.constantFrom("exclude" as const, "include" as const),
  filters: fc.constantFrom([], [], [], [], KNOWN, MARKED),
  by: fc.constantFrom(
    ...["userId", "userId", "userId", "properties.plan", "name", "path", "entryPath", "exitPath"],
  ),
}));

onBothEngines("funnels: every actor's way is the reference's", async (_t, db) => {
  const store = await Store.open(db);
  const share = WORLDS[store.engine] / WORLDS.postgres;
  const runs = given.runs === undefined
    ? WORLDS[store.engine]
    : Math.ceil(Number(given.runs) * share);
  for (let seed = SEED; seed < SEED + runs; seed++) {
    const [events] = fc.sample(ways, { seed, numRuns: 1 });
    const project = { timezone: "UTC", siteUrl: null };
    const world: World = { project, events: events!, asOfMs: START_MS + 45 * MINUTE_MS };
    const stored = await store.projectOf(world);
    for (const params of fc.sample(question, { seed, numRuns: QUESTIONS_OF_EACH_WORLD })) {
      const answer = toldOf("funnels", await store.ask(stored, world.asOfMs, "funnels", params));
      const difference = differenceOf(answer, readFunnel(world, params));
      assert.equal(difference, null, `seed ${seed}: ${JSON.stringify(params)}`);
    }
  }
});

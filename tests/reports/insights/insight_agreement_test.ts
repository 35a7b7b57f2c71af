import assert from "node:assert/strict";
import type { EventRow } from "../../../src/store/event_row.ts";
import type { InsightsResult } from "../../reference/insights.ts";
import { runRead } from "../../reference/reads.ts";
import type { SegmentDefinition } from "../../reference/segments.ts";
import type { GoalDefinition } from "../../reference/goals.ts";
import { differenceOf, toldOf } from "../../reads/answers.ts";
import { Store } from "../../reads/stored_world.ts";
import { onBothEngines } from "../../support/databases.ts";
import { chosenOn } from "../../support/engine_cases.ts";
import { newRow } from "../../support/event_rows.ts";
import { diceOf } from "./insight_world.ts";
import { PLANTED_RANGE, plantedWorld, someCauses } from "./planted_world.ts";

const GOALS: readonly GoalDefinition[] = [
  { slug: "buy", title: "Buy", match: { name: "buy" } },
  {
    slug: "deep",
    title: "Read on",
    match: { name: "page_view", filters: [{ field: "path", op: "is_not", values: ["/"] }] },
  },
];
const SEGMENTS: readonly SegmentDefinition[] = [
  { slug: "buyers", title: "Buyers", actors: { did: "buy" } },
  {
    slug: "back",
    title: "Back",
    filters: [{ field: "device", op: "is_not", values: ["tablet"] }],
    actors: { not: { did: "page_view", atMost: 1, within: "30d" } },
  },
];
/**
 * Of everything, of an unfinished day, of a filter on events and on sessions, with bots, and of segments whose
 * people are others in each range.
 */
const QUESTIONS = [
  { ...PLANTED_RANGE, limit: 100 },
  { from: "2026-04-07", to: "2026-04-10" },
  {
    ...PLANTED_RANGE,
    bots: "include" as const,
    filters: [{ field: "device", op: "is_not" as const, values: ["tablet"] }],
  },
  { ...PLANTED_RANGE, filters: [{ field: "channel", op: "is" as const, values: ["Direct"] }] },
  { ...PLANTED_RANGE, segment: "buyers" },
  { from: "2026-04-07", to: "2026-04-10", segment: "buyers" },
  { from: "2026-03-30", to: "2026-04-09", segment: "back" },
];

/** Some buy, some are bots, some go on in another browser or country, and some events are of no visit. */
function livened(seed: number, rows: readonly EventRow[]): EventRow[] {
  const dice = diceOf(seed);
  return rows.flatMap((row): EventRow[] => {
    const own = { ...row, bot: dice() < 0.05 };
    const later = (ms: number) => new Date(Date.parse(row.occurred_at) + ms).toISOString();
    const more = dice();
    if (more > 0.3) return [own];
    const next = newRow({
      ...own,
      event_id: crypto.randomUUID(),
      name: more < 0.1 ? "buy" : "page_view",
      occurred_at: later(7_000),
      in_session: more > 0.03,
      ...more > 0.25 ? { country: "FR", browser: "Safari" } : {},
    });
    return [own, next];
  });
}

onBothEngines("insights: joint counts agree with the reference", async (_t, db) => {
  const store = await Store.open(db);
  for (const seed of chosenOn(store.database, [3, 4])) {
    const planted = plantedWorld(seed, someCauses(seed, 3));
    const world = { ...planted, events: livened(seed, planted.events), segments: SEGMENTS };
    const project = await store.projectOf(world, GOALS);
    let found = 0;
    for (const question of QUESTIONS) {
      const answer = await store.ask(project, world.asOfMs, "insights", question);
      const expected = runRead(world, "insights", question, GOALS) as InsightsResult;
      assert.equal(differenceOf(toldOf("insights", answer), expected), null);
      found += expected.findings.length;
    }
    assert.ok(found >= 6, `${found} findings`);
  }
});

import assert from "node:assert/strict";
import fc from "fast-check";
import type { CountedKeys } from "../../../src/scans/key_counts.ts";
import type { Read } from "../../../src/scans/read.ts";
import { type JourneyQuestion, scanJourneys } from "../../../src/reports/journeys/journey_scan.ts";
import {
  addLinks,
  hasKeys,
  keyOf,
  LinkCounts,
  linkOf,
} from "../../../src/reports/journeys/link_counts.ts";
import { DAY_MS } from "../../../src/limits.ts";
import { onBothEngines } from "../../support/databases.ts";
import { timelinesOf } from "../../support/read_timelines.ts";
import { openWithHistory, randomHistory, WORLD_DAYS, WORLD_FROM_MS } from "../session_world.ts";

const SPACE = { steps: 4, codes: 30, linksMax: 5_000 };
const link = fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 29 }), fc.nat({ max: 30 }));

function counted(space: typeof SPACE, keys: readonly number[]): CountedKeys | null {
  const links = new LinkCounts(space);
  for (const key of keys) links.add(key);
  return links.result();
}

function sorted({ keys, counts }: CountedKeys): [number, number][] {
  return Array.from(keys, (key, i): [number, number] => [key, counts[i]!])
    .sort(([a], [b]) => a - b);
}

Deno.test("link counts: each link is counted as often as it occurs, in one table or in two", () => {
  fc.assert(fc.property(fc.array(link, { maxLength: 3_000 }), fc.nat(), (links, cut) => {
    const keys = links.map(([step, from, to]) => keyOf(SPACE, step, from, to));
    keys.forEach((key, i) => assert.deepEqual(linkOf(SPACE, key), links[i]));
    const expected = [...Map.groupBy(keys, (key) => key)]
      .map(([key, { length }]): [number, number] => [key, length]).sort(([a], [b]) => a - b);
    const at = cut % (keys.length + 1);
    const two = [keys.slice(0, at), keys.slice(at)].map((some) => counted(SPACE, some));
    assert.deepEqual(sorted(counted(SPACE, keys)!), expected);
    assert.deepEqual(sorted(addLinks(SPACE, two[0]!, two[1]!)!), expected);
  }));
});

Deno.test("link counts: too many distinct links, or too large keys, are not counted", () => {
  const space = { ...SPACE, linksMax: 600 };
  const keys = Array.from({ length: 2_000 }, (_, key) => key);
  assert.equal(counted(space, keys.slice(0, 513))?.keys.length, 513);
  assert.equal(counted(space, keys), null);
  assert.equal(addLinks(space, counted(space, []), null), null);
  // 46,340 × 46,341 is the last product below 2^31.
  assert.equal(hasKeys({ steps: 1, codes: 46_340, linksMax: 1 }), true);
  assert.equal(hasKeys({ steps: 1, codes: 46_341, linksMax: 1 }), false);
});

const QUESTION: JourneyQuestion = {
  ...{ start: null, end: null, by: "path", steps: 4, top: 2, of: "session", windowMs: DAY_MS },
};
const QUESTIONS: readonly JourneyQuestion[] = [
  QUESTION,
  { ...QUESTION, by: "both", steps: 8, top: 20 },
  { ...QUESTION, end: { name: "buy", filters: [] }, by: "name" },
  { ...QUESTION, start: { name: "page_view", filters: [] }, of: "actor", by: "both" },
];

onBothEngines("journeys: links are the same from one scan or two", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(150));
  const range = {
    from: new Date(WORLD_FROM_MS),
    to: new Date(WORLD_FROM_MS + WORLD_DAYS * DAY_MS),
  } as Read["range"];
  const scope = { projectId: 1, siteHost: null, bots: "exclude", filters: [] } as const;
  const read = { sql: database, scope, range, timelines: timelinesOf(database) };
  for (const question of QUESTIONS) {
    const once = await scanJourneys(read, question);
    assert.ok(once.links.length > 3);
    assert.deepEqual(await scanJourneys(read, question, 0), once);
  }
});

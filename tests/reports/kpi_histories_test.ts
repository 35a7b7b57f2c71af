import fc from "fast-check";
import assert from "node:assert/strict";
import { readKpis, type Source } from "../../src/reports/kpis.ts";
import { type Field, SESSION_FIELDS } from "../../src/selection/filters.ts";
import type { BotChoice, Scope, Span } from "../../src/selection/selection.ts";
import { onBothEngines } from "../support/databases.ts";
import { followedHistories, NO_HISTORIES } from "../support/read_histories.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "./session_world.ts";

const DAY_MS = 86_400_000;

const history = randomHistory(300);
/** Just when something happens, and just after: often within a session. */
const moment = fc.tuple(fc.constantFrom(...history), fc.nat({ max: 1 }))
  .map(([{ occurred_at }, after]) => Date.parse(occurred_at) + after);
const boundsOfEvents = fc.uniqueArray(moment, { minLength: 2, maxLength: 6 })
  .map((moments): Span[] => {
    const sorted = moments.toSorted((a, b) => a - b);
    return sorted.slice(1).map((toMs, i) => ({ fromMs: sorted[i]!, toMs }));
  });
/** Up to twelve buckets of all lengths, some of them very short, without gaps. */
const anyBounds = fc.tuple(
  fc.integer({ min: -DAY_MS, max: (WORLD_DAYS + 1) * DAY_MS }),
  fc.array(fc.oneof(fc.integer({ min: 1, max: 20 * DAY_MS }), fc.constantFrom(1, DAY_MS)), {
    minLength: 1,
    maxLength: 12,
  }),
).map(([after, lengths]): Span[] => {
  let toMs = WORLD_FROM_MS + after;
  return lengths.map((length) => ({ fromMs: toMs, toMs: toMs += length }));
});
const buckets = fc.oneof(anyBounds, boundsOfEvents);
const filters = fc.oneof(
  fc.constant([]),
  fc.array(randomFilter(TOLD_FIELDS), { maxLength: 2 }),
  fc.array(randomFilter(SESSION_FIELDS), { maxLength: 2 }),
  fc.array(randomFilter([...TOLD_FIELDS, ...SESSION_FIELDS]), { maxLength: 3 }),
);
const bots = fc.constantFrom<BotChoice>("exclude", "include", "only");

onBothEngines("kpis: histories tell what facts and sessions tell", async (_t, db) => {
  const database = await openWithHistory(db, history);
  const { histories, followed } = followedHistories(database);
  let told = 0;
  const asked = fc.asyncProperty(buckets, filters, bots, async (buckets, filters, bots) => {
    const scope: Scope = { projectId: 1, siteHost: null, bots, filters };
    const before = followed();
    const kpis = await readKpis({ sql: database, scope, histories }, buckets);
    assert.ok(followed() > before);
    const ofFacts: Source = { sql: database, scope, histories: NO_HISTORIES };
    assert.deepEqual(kpis, await readKpis(ofFacts, buckets));
    if (kpis.totals.sessions > 0 && filters.length > 0) told++;
  });
  await fc.assert(asked, { numRuns: 150 });
  assert.ok(told > 0);
});

onBothEngines("kpis: what histories do not hold is counted from the facts", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(20));
  const { histories } = followedHistories(database);
  const span = { fromMs: WORLD_FROM_MS, toMs: WORLD_FROM_MS + WORLD_DAYS * DAY_MS };
  for (const field of ["properties.x", "properties.selector"] satisfies Field[]) {
    const scope: Scope = {
      projectId: 1,
      siteHost: null,
      bots: "include",
      filters: [{ field, op: "not_exists", values: [] }],
    };
    const refused: Source["histories"] = () => assert.fail(`${field} is in no history`);
    const { totals } = await readKpis({ sql: database, scope, histories: refused }, [span]);
    const all = { ...scope, filters: [] };
    assert.deepEqual(
      totals,
      (await readKpis({ sql: database, scope: all, histories }, [span])).totals,
    );
    assert.ok(totals.events > 0);
  }
});

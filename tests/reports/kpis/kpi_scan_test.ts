import fc from "fast-check";
import assert from "node:assert/strict";
import { type KpiSource, readKpis } from "../../../src/reports/kpis/kpis.ts";
import { SESSION_FIELDS } from "../../../src/query/filters.ts";
import type { BotChoice, Scope, Span } from "../../../src/query/selection.ts";
import { onBothEngines } from "../../support/databases.ts";
import { timelinesOf } from "../../support/read_timelines.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "../session_world.ts";

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

/** The figures that events add up to, bucket by bucket. */
type Figures = Record<"events" | "pageviews", number | null>;

const sumOf = (figures: readonly Readonly<Figures>[]) =>
  figures.reduce(
    (sum, { events, pageviews }) => ({
      events: sum.events! + events!,
      pageviews: sum.pageviews! + pageviews!,
    }),
    { events: 0, pageviews: 0 },
  );

onBothEngines("kpis: each bucket is counted by itself, and the whole as one", async (_t, db) => {
  const database = await openWithHistory(db, history);
  const timelines = timelinesOf(database);
  let told = 0;
  const asked = fc.asyncProperty(buckets, filters, bots, async (buckets, filters, bots) => {
    const scope: Scope = { projectId: 1, siteHost: null, bots, filters };
    const source: KpiSource = { sql: database, scope, timelines };
    const { totals, series } = await readKpis(source, buckets);
    for (const [i, bucket] of buckets.entries()) {
      assert.deepEqual(series[i], (await readKpis(source, [bucket])).totals, `bucket ${i}`);
    }
    const whole: Span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
    assert.deepEqual(await readKpis(source, [whole]), { totals, series: [totals] });
    const { events, pageviews } = totals;
    assert.deepEqual(sumOf(series), { events, pageviews });
    if (totals.sessions! > 0 && filters.length > 0) told++;
  });
  await fc.assert(asked, { numRuns: database.engine === "postgres" ? 60 : 20 });
  // Of 20 one in fifty has none by chance.
  if (database.engine === "postgres") assert.ok(told > 0);
});

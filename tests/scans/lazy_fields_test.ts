import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import type { LazyField } from "../../src/timelines/lazy_columns.ts";
import { loadLazies } from "../../src/timelines/lazy_loader.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import type { Field, Filter, FilterOp } from "../../src/query/filters.ts";
import type { Span } from "../../src/query/selection.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { loadFilteredTimelines } from "../../src/scans/filtered_timelines.ts";
import { idsFrom } from "../../src/scans/value_ids.ts";
import { lazyColumnsOf, lazyValueIds } from "../../src/scans/field_value_ids.ts";
import { WORD_BITS } from "../../src/scans/filter_bits.ts";
import { SegmentTable } from "../store/segment_table.ts";
import { segmentOf } from "../store/segment_world.ts";
import { onBothEngines, type TestDatabase } from "../support/databases.ts";
import { chosenOn } from "../support/engine_cases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { IN_PLACE } from "../support/in_place.ts";
import { eventTestOf, segmentsOf } from "../support/read_timelines.ts";

const FROM_MS = Date.parse("2026-03-02T00:00:00Z");
const EVER: Span = { fromMs: FROM_MS, toMs: FROM_MS + 86_400_000 };

/** Events of one actor, in order; `a` to `h`. */
const TOLD: readonly Partial<EventRow>[] = [
  { name: "a", title: "Home", referrer: "https://www.news.test/today", host: "shop.test" },
  { name: "b", title: "b", referrer: "https://news.test/", host: "shop.test" },
  { name: "c", title: null, referrer: null, host: "shop.test" },
  { name: "d", title: "Home page", referrer: "https://shop.test/cart", host: "www.shop.test" },
  { name: "e", title: "", referrer: "https://shop.test/cart", host: "blog.test" },
  { name: "f", title: "home", referrer: "android-app://org.news.reader", host: null },
  { name: "g", title: "d", referrer: "not an address", host: null },
  { name: "h", title: "Home", referrer: "https://NEWS.test./today", host: "shop.test" },
];

async function openTold(db: TestDatabase): Promise<Database> {
  const database = await openWithProjects(db);
  const rows = TOLD.map((members, at) =>
    newRow({
      ...members,
      anonymous_id: "ann",
      occurred_at: new Date(FROM_MS + at * 60_000).toISOString(),
    })
  );
  await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);
  return database;
}

interface Case {
  readonly field: Field;
  readonly op: FilterOp;
  readonly values: readonly string[];
  readonly siteHost?: string;
  /** The names of the events that pass. */
  readonly passes: string;
}

const CASES: readonly Case[] = [
  { field: "title", op: "is", values: ["Home"], passes: "ah" },
  { field: "title", op: "is_not", values: ["Home"], passes: "bcdefg" },
  { field: "title", op: "is", values: ["c", "d"], passes: "g" },
  { field: "title", op: "contains", values: ["ome"], passes: "adfh" },
  { field: "title", op: "not_contains", values: ["ome"], passes: "bceg" },
  { field: "title", op: "exists", values: [], passes: "abdefgh" },
  { field: "title", op: "not_exists", values: [], passes: "c" },
  { field: "referrer", op: "is", values: ["news.test"], passes: "abh" },
  { field: "referrer", op: "is", values: ["https://news.test/"], passes: "b" },
  { field: "referrer", op: "is", values: ["shop.test"], passes: "e" },
  { field: "referrer", op: "is", values: ["shop.test"], siteHost: "www.shop.test", passes: "" },
  { field: "referrer", op: "is_not", values: ["shop.test"], passes: "abcdfgh" },
  { field: "referrer", op: "is", values: ["https://shop.test/cart"], passes: "de" },
  { field: "referrer", op: "exists", values: [], passes: "abefh" },
  { field: "referrer", op: "exists", values: [], siteHost: "shop.test", passes: "abfh" },
  { field: "referrer", op: "not_exists", values: [], siteHost: "shop.test", passes: "cdeg" },
  { field: "referrer", op: "starts_with", values: ["org."], passes: "f" },
];

function accessTo(sql: Database) {
  const segments = new SegmentCache(1_000_000);
  return { sql, segments, pool: IN_PLACE, use: segments.memory.enter() };
}

/** How many filters have bits before the one that is looked at. */
const OTHERS = [7, 0, 8, 16, WORD_BITS - 1, WORD_BITS, 2 * WORD_BITS];

/** Filters that have the first bits. */
const othersOf = (count: number): Filter[] =>
  Array.from({ length: count }, (_, i) => ({ field: "title", op: "is", values: [`other ${i}`] }));

onBothEngines("titles and referrers: which events pass, by their filterBits", async (t, db) => {
  const database = await openTold(db);
  const access = accessTo(database);
  for (const { siteHost = null, passes, ...filter } of CASES) {
    const site = siteHost === null ? "" : `, of ${siteHost}`;
    await t.step(`${filter.field} ${filter.op} ${filter.values}${site}`, async () => {
      const scope = { projectId: 1, siteHost };
      for (const others of chosenOn(database, OTHERS)) {
        const filters = [...othersOf(others), filter];
        const timelines = await loadFilteredTimelines({ ...access, scope }, EVER, filters);
        const test = await eventTestOf(database, scope, "include", [filter], timelines);
        const [segment, ...more] = await segmentsOf(timelines);
        assert.equal(more.length, 0);
        const passing = TOLD.filter((_, at) => test.passes(1, 0, 0, 0, segment!.filterBits[at]!));
        assert.equal(passing.map(({ name }) => name).join(""), passes, `behind ${others}`);
      }
    });
  }
});

onBothEngines("titles and referrers: the values of the timelines", async (_t, db) => {
  const database = await openTold(db);
  const access = accessTo(database);
  const valuesOf = async (by: "title" | "referrer", siteHost: string | null) => {
    const scope = { projectId: 1, siteHost, bots: "include", filters: [] } as const;
    const columns = lazyColumnsOf(by);
    const timelines = await loadFilteredTimelines({ ...access, scope }, EVER, [], columns);
    const { from, idMax, textsOf } = await lazyValueIds({ sql: database, scope }, by);
    const ids = [...idsFrom(from)((await segmentsOf(timelines))[0]!)!];
    assert.ok(ids.every((id) => id >= 0 && id <= idMax));
    const told = await textsOf(ids);
    return ids.map((id) => told.get(id) ?? null);
  };
  assert.deepEqual(await valuesOf("title", null), TOLD.map(({ title }) => title));
  const [news, app] = ["news.test", "org.news.reader"];
  assert.deepEqual(
    await valuesOf("referrer", null),
    [news, news, null, null, "shop.test", app, null, news],
  );
  assert.deepEqual(
    await valuesOf("referrer", "shop.test"),
    [news, news, null, null, null, app, null, news],
  );
});

Deno.test("titles and referrers: columns are kept by segment and name", async () => {
  const numbers = { identity: 1, name: 1, path: 0, context: 1, traffic: 1 };
  const event = { ...numbers, ms: FROM_MS, id: new Uint8Array(16), row: newRow() };
  const sql = new SegmentTable(
    new Map([[1, segmentOf([{ ...event, title: 7, referrer: 8 }])]]),
  );
  const cache = new SegmentCache(1_000);
  const load = (segmentId: number, ...fields: LazyField[]) => {
    const scope = cache.memory.enter();
    return loadLazies(sql, cache, scope, 1, [{ segmentId, slice: null }], fields);
  };
  assert.deepEqual(await load(1, "title"), [[Uint8Array.of(7)]]);
  assert.deepEqual(await load(1, "title"), [[Uint8Array.of(7)]]);
  assert.deepEqual(sql.asked, [[1]]);
  // Several columns at once: the missing ones are fetched together.
  assert.deepEqual(await load(1, "referrer", "title"), [[Uint8Array.of(8)], [Uint8Array.of(7)]]);
  assert.deepEqual(sql.asked, [[1], [1]]);
  await assert.rejects(load(9, "title"), /Segment 9 is gone/);
});

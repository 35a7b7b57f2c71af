import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { columnText, type IntegerColumn } from "../../src/histories/column.ts";
import { SegmentCache } from "../../src/histories/segment_cache.ts";
import { createSeldomCache, loadSeldomColumn } from "../../src/histories/seldom_columns.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import { PROPERTY_MARKS_MAX, PROPERTY_READ_BYTES_MAX } from "../../src/limits.ts";
import type { Field, Filter, FilterOp } from "../../src/selection/filters.ts";
import type { Span } from "../../src/selection/selection.ts";
import { SqlParams } from "../../src/selection/sql_params.ts";
import { createFold } from "../../src/sessions/fold.ts";
import { loadMarkedHistories, wantedMarks } from "../../src/walks/marked_histories.ts";
import { seldomValueIds } from "../../src/walks/seldom_value_ids.ts";
import { onBothEngines, type TestDatabase } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";

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
  await createFold(database).catchUp(1);
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

/** Filters that have the first bits. */
const othersOf = (count: number): Filter[] =>
  Array.from({ length: count }, (_, i) => ({ field: "title", op: "is", values: [`other ${i}`] }));

onBothEngines("titles and referrers: which events pass, by their marks", async (t, db) => {
  const database = await openTold(db);
  const cache = new SegmentCache(1_000_000);
  for (const { siteHost = null, passes, ...filter } of CASES) {
    const site = siteHost === null ? "" : `, of ${siteHost}`;
    await t.step(`${filter.field} ${filter.op} ${filter.values}${site}`, async () => {
      const scope = { projectId: 1, siteHost };
      for (const others of [0, 7, 8, 16, PROPERTY_MARKS_MAX - 1]) {
        const filters = [...othersOf(others), filter];
        const histories = await loadMarkedHistories(database, cache, scope, EVER, filters) ??
          assert.fail();
        const wanted = wantedMarks(histories.bits, [filter]);
        const [segment, ...more] = histories.segments;
        assert.equal(more.length, 0);
        const passing = TOLD.filter((_, at) => (segment!.marks[at]! & wanted) === wanted);
        assert.equal(passing.map(({ name }) => name).join(""), passes, `behind ${others}`);
      }
    });
  }
});

onBothEngines("titles and referrers: the values of the histories", async (_t, db) => {
  const database = await openTold(db);
  const cache = new SegmentCache(1_000_000);
  const valuesOf = async (by: "title" | "referrer", siteHost: string | null) => {
    const scope = { projectId: 1, siteHost, bots: "include", filters: [] } as const;
    const histories = await loadMarkedHistories(database, cache, scope, EVER, []) ?? assert.fail();
    const { idsOf, idMax, list } = await seldomValueIds({ sql: database, scope }, by, histories) ??
      assert.fail();
    const ids = [...idsOf(histories.segments[0]!)!];
    assert.ok(ids.every((id) => id >= 0 && id <= idMax));
    const params = new SqlParams();
    const { from, alias, value } = list(params, { ids, counts: ids.map(() => 1) });
    const rows = await database.query<{ id: number; value: string | null }>(
      `SELECT DISTINCT ${alias}.id AS id, ${value} AS value FROM ${from}`,
      params.values,
    );
    const told = new Map(rows.map(({ id, value }) => [id, value]));
    return ids.map((id) => told.get(id));
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

/** A database of columns by segment, that notes what it is asked for. */
function knowing(columns: ReadonlyMap<number, IntegerColumn>) {
  const asked: number[] = [];
  const refuse = () => Promise.reject(new Error("Nothing else is asked"));
  return {
    asked,
    query: <R>(_text: string, params: readonly unknown[] = []) => {
      const segmentId = Number(params[1]);
      asked.push(segmentId);
      const column = columns.get(segmentId);
      const rows = column === undefined ? [] : [{ ids: columnText(column) }];
      return Promise.resolve(rows as R[]);
    },
    script: refuse,
    transaction: refuse,
  };
}

Deno.test("titles and referrers: columns are kept by segment and name, and may be too large", async () => {
  const half = new Uint8Array(PROPERTY_READ_BYTES_MAX / 2);
  const sql = knowing(new Map([[1, Uint8Array.of(7)], [2, half], [3, half]]));
  const cache = createSeldomCache(2 * PROPERTY_READ_BYTES_MAX);
  const load = (name: "titles" | "referrers", ...segmentIds: number[]) =>
    loadSeldomColumn(sql, cache, 1, segmentIds.map((segmentId) => ({ segmentId })), name);
  assert.deepEqual(await load("titles", 1), [Uint8Array.of(7)]);
  assert.deepEqual(await load("titles", 1), [Uint8Array.of(7)]);
  assert.deepEqual(sql.asked, [1]);
  await load("referrers", 1);
  assert.deepEqual(sql.asked, [1, 1]);
  assert.equal((await load("titles", 2, 3))?.length, 2);
  assert.equal(await load("titles", 2, 1, 3), null);
  await assert.rejects(load("titles", 9), /Segment 9 of a history is gone/);
});

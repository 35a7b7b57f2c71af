import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { Filter } from "../../src/query/filters.ts";
import type { Done, ResolvedCondition } from "../../src/query/resolved_condition.ts";
import type { Span } from "../../src/query/selection.ts";
import { chosenActors } from "../../src/scans/chosen_actors.ts";
import { loadFilteredTimelines, type LoadTimelines } from "../../src/scans/filtered_timelines.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { IN_PLACE } from "../support/in_place.ts";

const FROM_MS = Date.parse("2026-03-02T00:00:00Z");
const HOUR_MS = 3_600_000;
const EVER: Span = { fromMs: FROM_MS, toMs: FROM_MS + 100 * HOUR_MS };
const CACHE_BYTES = 1_000_000;

type Event = readonly [who: string, name: string, hour: number];

const rowOf = ([who, name, hour]: Event): EventRow =>
  newRow({
    anonymous_id: who,
    name,
    occurred_at: new Date(FROM_MS + hour * HOUR_MS).toISOString(),
  });

const rowsOf = (...events: Event[]): EventRow[] => events.map(rowOf);

/** Each call makes one segment. */
async function store(database: Database, rows: EventRow[]): Promise<void> {
  await insertEvents(database, rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);
}

const did = (name: string, atLeast: number, filters: Filter[] = [], span = EVER): Done => ({
  ...{ did: { name, filters }, atLeast, atMost: null, span },
});

/** Returns the ids of the actors that a condition chooses, and how many segments were counted for it. */
async function chosen(
  database: Database,
  condition: ResolvedCondition,
  segments = new SegmentCache(CACHE_BYTES),
) {
  const { who, looked } = await chosenWithin(database, condition, segments);
  return { who, looked };
}

/** `chosen`, with the bytes of shared memory that are taken then, and those of the column that is returned. */
async function chosenWithin(
  database: Database,
  condition: ResolvedCondition,
  segments: SegmentCache,
) {
  const sql = database;
  const scope = { projectId: 1, siteHost: null, bots: "exclude", filters: [] } as const;
  const use = segments.memory.enter();
  let looked = 0;
  const load: LoadTimelines = (span, filters, columns, actors, only) => {
    looked += only?.size ?? 0;
    const access = { sql, scope, segments, pool: IN_PLACE, use };
    return loadFilteredTimelines(access, span, filters, columns, actors, only);
  };
  try {
    const holds = await chosenActors({ sql, scope, load, segments }, condition, use);
    const rows = await sql.query<{ actor_id: number; value: string }>(
      `SELECT identity_id AS actor_id, value FROM identities
      WHERE project_id = 1 AND kind <> 'h' AND actor_id = identity_id`,
    );
    const who = rows.filter(({ actor_id }) => holds[actor_id] === 1).map(({ value }) => value);
    return {
      who: who.toSorted(),
      looked,
      bytes: segments.memory.bytes,
      own: holds.buffer.byteLength,
    };
  } finally {
    await use.end();
  }
}

onBothEngines("done: what was counted of a segment is not counted again", async (_, db) => {
  const database = await openWithProjects(db);
  const segments = new SegmentCache(CACHE_BYTES);
  const twice = did("buy", 2);
  await store(database, rowsOf(["a", "buy", 1], ["b", "buy", 1], ["c", "page_view", 1]));
  assert.deepEqual(await chosen(database, twice, segments), { who: [], looked: 1 });
  assert.deepEqual(await chosen(database, twice, segments), { who: [], looked: 0 });
  await store(database, rowsOf(["a", "buy", 30], ["c", "buy", 31]));
  assert.deepEqual(await chosen(database, twice, segments), { who: ["a"], looked: 1 });
  assert.deepEqual(await chosen(database, did("buy", 1), segments), {
    who: ["a", "b", "c"],
    looked: 2,
  });
  // Of two conditions, one of which was counted before, both are counted.
  const both = { all: [twice, { not: did("page_view", 1) }] };
  assert.deepEqual(await chosen(database, both, segments), { who: ["a"], looked: 2 });
  assert.deepEqual(await chosen(database, both, segments), { who: ["a"], looked: 0 });
});

onBothEngines("done: who somebody is, is looked up each time", async (_, db) => {
  const database = await openWithProjects(db);
  const segments = new SegmentCache(CACHE_BYTES);
  const twice = did("buy", 2);
  await store(database, rowsOf(["a", "buy", 1], ["b", "buy", 2]));
  assert.deepEqual((await chosen(database, twice, segments)).who, []);
  // Both sign in, and are one.
  await store(database, ["a", "b"].map((who) => ({ ...rowOf([who, "hello", 3]), user_id: "ann" })));
  assert.deepEqual(await chosen(database, twice, segments), { who: ["ann"], looked: 1 });
  // The answer of a filter on user ids may change by then, so such a condition is never cached.
  const byUser = did("buy", 2, [{ field: "userId", op: "is", values: ["ann"] }]);
  for (let i = 0; i < 2; i++) {
    assert.deepEqual(await chosen(database, byUser, segments), { who: ["ann"], looked: 2 });
  }
});

onBothEngines("done: what finds the people is given back at once", async (_, db) => {
  const database = await openWithProjects(db);
  const segments = new SegmentCache(CACHE_BYTES);
  await store(database, rowsOf(["a", "buy", 1], ["b", "buy", 1], ["c", "page_view", 1]));
  const condition = { any: [{ not: did("buy", 1) }, { all: [did("buy", 1), did("other", 1)] }] };
  await chosenWithin(database, condition, segments);
  const before = segments.memory.bytes;
  const { who, bytes, own } = await chosenWithin(database, condition, segments);
  assert.deepEqual(who, ["c"]);
  assert.equal(bytes - before, own);
});

onBothEngines("done: a part of a segment is counted for its span alone", async (_, db) => {
  const database = await openWithProjects(db);
  const segments = new SegmentCache(CACHE_BYTES);
  const events: Event[] = [["a", "buy", 1], ["a", "buy", 5], ["b", "buy", 1], ["b", "buy", 9]];
  await store(database, rowsOf(...events));
  const until = (hour: number) =>
    did("buy", 2, [], { fromMs: FROM_MS, toMs: FROM_MS + hour * HOUR_MS });
  for (const [hour, who] of [[1, []], [5, []], [6, ["a"]], [9, ["a"]], [10, ["a", "b"]]] as const) {
    for (const cache of [segments, segments, new SegmentCache(CACHE_BYTES)]) {
      assert.deepEqual((await chosen(database, until(hour), cache)).who, who, `until ${hour}`);
    }
  }
  // A cache that keeps nothing answers the same.
  assert.deepEqual((await chosen(database, until(6), new SegmentCache(1))).who, ["a"]);
});

onBothEngines(
  "done: a session is whole, however it is cut by segments and the span",
  async (_, db) => {
    const database = await openWithProjects(db);
    const span: Span = { fromMs: FROM_MS + HOUR_MS, toMs: FROM_MS + 2 * HOUR_MS };
    // Before the span, within it, and after it: each call makes a segment.
    const entries = ["a", "b"].map((who) => ({
      ...rowOf([who, "page_view", 0.9]),
      path: `/${who}`,
      utm_source: who === "a" ? "ads" : null,
    }));
    const goods = ["a", "b"].flatMap((who) =>
      [1.2, 1.6].map((hour) => ({ ...rowOf([who, "buy", hour]), path: "/buy" }))
    );
    const more = ["a", "b", "c"].map((who) => ({ ...rowOf([who, "buy", 1.9]), path: "/more" }));
    const exits = ["a", "b"].map((who) => ({
      ...rowOf([who, "page_view", 2.1]),
      path: `/end-${who}`,
    }));
    for (const rows of [entries, goods, more, exits]) await store(database, rows);
    const by = (field: Filter["field"], value: string) =>
      did("buy", 1, [{ field, op: "is", values: [value] }], span);
    const whoOf = async (condition: ResolvedCondition) => (await chosen(database, condition)).who;
    assert.deepEqual(await whoOf(by("source", "ads")), ["a"]);
    assert.deepEqual(await whoOf({ not: by("source", "ads") }), ["b", "c"]);
    assert.deepEqual(await whoOf(by("entryPath", "/b")), ["b"]);
    assert.deepEqual(await whoOf(by("entryPath", "/buy")), []);
    assert.deepEqual(await whoOf(by("exitPath", "/end-a")), ["a"]);
  },
);

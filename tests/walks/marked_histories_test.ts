import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import type { PropertyColumn } from "../../src/histories/property_columns.ts";
import { SegmentCache } from "../../src/histories/segment_cache.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import {
  HISTORY_PROPERTIES_BYTES_MAX,
  PROPERTY_COMPARED_LENGTH_MAX,
  PROPERTY_MARKS_MAX,
} from "../../src/limits.ts";
import type { Filter } from "../../src/selection/filters.ts";
import type { Span } from "../../src/selection/selection.ts";
import { createFold } from "../../src/sessions/fold.ts";
import {
  loadMarkedHistories,
  type MarkedHistories,
  wantedMarks,
} from "../../src/walks/marked_histories.ts";
import { onBothEngines, type TestDatabase } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { historiesOf } from "../support/read_histories.ts";

const FROM_MS = Date.parse("2026-03-02T00:00:00Z");
const SCOPE = { projectId: 1, siteHost: null };
const EVER: Span = { fromMs: FROM_MS, toMs: FROM_MS + 86_400_000 };
const EVENTS = 40;
const ON_PATH: Filter = { field: "path", op: "is", values: ["/a"] };
const ON_POINTER: Filter = { field: "properties.x", op: "exists", values: [] };

/** The `at`th event of one actor. */
function step(at: number, properties: Record<string, unknown> | null) {
  return newRow({
    anonymous_id: "ann",
    occurred_at: new Date(FROM_MS + at * 60_000).toISOString(),
    properties: properties === null ? null : JSON.stringify(properties),
  });
}

/** A database with one segment, whose events have n: their place, but for each fifth. */
async function openWithPlaces(db: TestDatabase): Promise<Database> {
  const database = await openWithProjects(db);
  const rows = Array.from({ length: EVENTS }, (_, at) => step(at, at % 5 === 4 ? null : { n: at }));
  await insertEvents(database, rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createFold(database).catchUp(1);
  return database;
}

/** Filters of both kinds, each another, and whether an event of some place passes. */
function filtersOf(count: number): { filter: Filter; passes: (at: number) => boolean }[] {
  return Array.from({ length: count }, (_, k) =>
    k % 2 === 0
      ? {
        filter: { field: "properties.n", op: "is_not", values: [k] },
        passes: (at: number) => at % 5 === 4 || at !== k,
      }
      : {
        filter: { field: "properties.n", op: "gt", values: [k] },
        passes: (at: number) => at % 5 !== 4 && at > k,
      });
}

/** The places of the only segment whose events have all of these bits. */
function placesWith({ segments }: MarkedHistories, wanted: number): number[] {
  assert.equal(segments.length, 1);
  return [...segments[0]!.marks].flatMap((mark, at) => (mark & wanted) === wanted ? [at] : []);
}

const placesThat = (passes: (at: number) => boolean) =>
  Array.from({ length: EVENTS }, (_, at) => at).filter(passes);

onBothEngines("marked histories: a bit for each filter, however many there are", async (t, db) => {
  const database = await openWithPlaces(db);
  const histories = historiesOf(database);
  const load = (filters: readonly Filter[]) => histories(EVER, filters);

  for (const count of [1, 8, 9, 16, 17, PROPERTY_MARKS_MAX, 2]) {
    await t.step(`${count}`, async () => {
      const asked = filtersOf(count);
      const filters = asked.map(({ filter }) => filter);
      // What is asked twice has one bit, and what marks do not tell has none.
      const histories = await load([ON_PATH, ...filters, ...filters, ON_POINTER]);
      assert.ok(histories !== null);
      assert.equal(histories.bits.size, count);
      for (const { filter, passes } of asked) {
        const wanted = wantedMarks(histories.bits, [ON_PATH, filter, ON_POINTER]);
        assert.notEqual(wanted, 0);
        assert.deepEqual(placesWith(histories, wanted), placesThat(passes), JSON.stringify(filter));
      }
      assert.deepEqual(
        placesWith(histories, wantedMarks(histories.bits, filters)),
        placesThat((at) => asked.every(({ passes }) => passes(at))),
      );
    });
  }

  await t.step("one too many", async () => {
    const filters = filtersOf(PROPERTY_MARKS_MAX + 1).map(({ filter }) => filter);
    assert.equal(await load(filters), null);
  });

  await t.step("what is kept of a read is not the next one's", async () => {
    const [{ filter } = assert.fail()] = filtersOf(1);
    const unmarked = await load([ON_PATH, ON_POINTER]);
    assert.ok(unmarked !== null);
    assert.equal(wantedMarks(unmarked.bits, [ON_PATH, ON_POINTER]), 0);
    assert.throws(() => wantedMarks(unmarked.bits, [filter]), /not marked/);
    const marked = await load([filter]);
    assert.ok(marked !== null);
    // The same condition on another property is another filter.
    const other: Filter = { ...filter, field: "properties.m" };
    assert.throws(() => wantedMarks(marked.bits, [other]), /not marked/);
    const both = await load([filter, other]);
    assert.ok(both !== null);
    assert.equal(placesWith(both, wantedMarks(both.bits, [other])).length, EVENTS);
    assert.equal(placesWith(both, wantedMarks(both.bits, [filter])).length, EVENTS - 1);
  });
});

onBothEngines("marked histories: the properties of the histories", async (_t, db) => {
  const database = await openWithPlaces(db);
  const load = historiesOf(database);
  for (const { filters } of [{ filters: [] }, { filters: [filtersOf(1)[0]!.filter] }]) {
    const histories = await load(EVER, filters);
    assert.ok(histories !== null);
    const columns = await histories.property("n");
    const { places, codes, values } = columns?.get(histories.segments[0]!) ?? assert.fail();
    const told = [...places].map((place, i) => [place, values[codes[i]!]]);
    assert.deepEqual(told, placesThat((at) => at % 5 !== 4).map((at) => [at, String(at)]));
    assert.equal(await histories.property("x"), null, "it stands in a column of the events");
  }
});

onBothEngines("marked histories: what is too long is left to the facts", async (t, db) => {
  const database = await openWithPlaces(db);
  const [{ filter } = assert.fail()] = filtersOf(1);

  await t.step("the values of a property, together", async () => {
    const cache = new SegmentCache(1_000_000);
    const { segments } = await loadMarkedHistories(database, cache, SCOPE, EVER, []) ??
      assert.fail();
    const keep = (length: number) => {
      const column: PropertyColumn = {
        places: Uint32Array.of(3),
        codes: Uint32Array.of(0),
        values: [JSON.stringify("a".repeat(length - 2))],
        isPartial: false,
        bytes: 0,
      };
      cache.properties.set(`${segments[0]!.segmentId} n`, column);
    };
    const long: Filter = { field: "properties.n", op: "starts_with", values: ["aaa"] };
    const load = () => loadMarkedHistories(database, cache, SCOPE, EVER, [long]);
    keep(PROPERTY_COMPARED_LENGTH_MAX + 1);
    assert.equal(await load(), null);
    keep(PROPERTY_COMPARED_LENGTH_MAX);
    const marked = await load() ?? assert.fail();
    assert.deepEqual(placesWith(marked, wantedMarks(marked.bits, [long])), [3]);
  });

  await t.step("the properties of an event", async () => {
    const properties = { long: "a".repeat(HISTORY_PROPERTIES_BYTES_MAX) };
    await insertEvents(database, [step(EVENTS, properties)]);
    await createFold(database).catchUp(1);
    const load = historiesOf(database);
    // Of events before it too: which segment has it is not looked at.
    assert.equal(await load(EVER, [filter]), null);
    const unmarked = await load(EVER, [ON_PATH]);
    assert.ok(unmarked !== null);
    assert.equal(await unmarked.property("n"), null);
  });
});

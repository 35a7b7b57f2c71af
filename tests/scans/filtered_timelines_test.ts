import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import type { Database, Sql } from "../../src/db/sql.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import type { TimelinePart } from "../../src/timelines/timelines.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { Filter } from "../../src/query/filters.ts";
import type { Span } from "../../src/query/selection.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { WORD_BITS } from "../../src/scans/filter_bits.ts";
import { LAZY_COLUMNS_AT_ONCE } from "../../src/scans/scan_limits.ts";
import {
  type FilteredTimelines,
  loadFilteredTimelines,
} from "../../src/scans/filtered_timelines.ts";
import {
  decimalAt,
  type NumberColumn,
  numbersName,
  prepareNumbers,
} from "../../src/scans/number_columns.ts";
import { onBothEngines, type TestDatabase } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { IN_PLACE } from "../support/in_place.ts";
import { eventTestOf, segmentsOf, timelinesOf } from "../support/read_timelines.ts";

const FROM_MS = Date.parse("2026-03-02T00:00:00Z");
const SCOPE = { projectId: 1, siteHost: null };
const EVER: Span = { fromMs: FROM_MS, toMs: FROM_MS + 86_400_000 };
const EVENTS = 40;
const ON_PATH: Filter = { field: "path", op: "is", values: ["/a"] };

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
  await createProjection(database).catchUp(1);
  return database;
}

/** Filters of both kinds, each another, and whether an event of some place passes. */
function filtersOf(count: number): { filter: Filter; passes: (at: number) => boolean }[] {
  return Array.from({ length: count }, (_, k) =>
    k % 4 === 3
      // Among the others: the bits of each property are adjacent.
      ? {
        filter: { field: "properties.absent", op: "is_not", values: [k] },
        passes: () => true,
      }
      : k % 2 === 0
      ? {
        filter: { field: "properties.n", op: "is_not", values: [k] },
        passes: (at: number) => at % 5 === 4 || at !== k,
      }
      : {
        filter: { field: "properties.n", op: "gt", values: [k] },
        passes: (at: number) => at % 5 !== 4 && at > k,
      });
}

/** The places of the only segment whose events pass all of these filters. */
async function placesWith(
  sql: Sql,
  timelines: FilteredTimelines,
  filters: readonly Filter[],
): Promise<number[]> {
  const test = await eventTestOf(sql, SCOPE, "include", filters, timelines);
  const [segment, ...others] = await segmentsOf(timelines);
  assert.equal(others.length, 0);
  return [...segment!.filterBits].flatMap((eventBits, at) =>
    test.passes(1, 0, 0, 0, eventBits) ? [at] : []
  );
}

const placesThat = (passes: (at: number) => boolean) =>
  Array.from({ length: EVENTS }, (_, at) => at).filter(passes);

onBothEngines(
  "filtered timelines: a bit for each filter, however many there are",
  async (t, db) => {
    const database = await openWithPlaces(db);
    const timelines = timelinesOf(database);
    const load = (filters: readonly Filter[]) => timelines(EVER, filters);

    for (const count of [1, 8, 9, 16, 17, WORD_BITS, WORD_BITS + 1, 2 * WORD_BITS + 1, 2]) {
      await t.step(`${count}`, async () => {
        const asked = filtersOf(count);
        const filters = asked.map(({ filter }) => filter);
        // A filter that is asked for twice has one bit, and a filter that needs no bit has none.
        const timelines = await load([ON_PATH, ...filters, ...filters]);
        assert.equal(timelines.bits.count, count);
        assert.equal(timelines.bits.isWide, count > WORD_BITS);
        for (const { filter, passes } of asked) {
          const places = await placesWith(database, timelines, [filter]);
          assert.deepEqual(places, placesThat(passes), JSON.stringify(filter));
        }
        assert.deepEqual(
          await placesWith(database, timelines, filters),
          placesThat((at) => asked.every(({ passes }) => passes(at))),
        );
      });
    }

    for (const count of [LAZY_COLUMNS_AT_ONCE, LAZY_COLUMNS_AT_ONCE + 1]) {
      await t.step(`on ${count} properties, of which so many are read at once`, async () => {
        const filters: Filter[] = Array.from({ length: count - 1 }, (_, i) => ({
          field: `properties.absent${i}`,
          op: "is_not",
          values: [1],
        }));
        filters.push({ field: "properties.n", op: "gt", values: [3] });
        assert.deepEqual(
          await placesWith(database, await load(filters), filters),
          placesThat((at) => at % 5 !== 4 && at > 3),
        );
      });
    }

    await t.step("what is kept of a read is not the next one's", async () => {
      const [{ filter } = assert.fail()] = filtersOf(1);
      const unmarked = await load([ON_PATH]);
      assert.throws(() => unmarked.bits.wanted([filter]), /without bits/);
      const marked = await load([filter]);
      // The same condition on another property is another filter.
      const other: Filter = { ...filter, field: "properties.m" };
      assert.throws(() => marked.bits.wanted([other]), /without bits/);
      const both = await load([filter, other]);
      assert.equal((await placesWith(database, both, [other])).length, EVENTS);
      assert.equal((await placesWith(database, both, [filter])).length, EVENTS - 1);
    });
  },
);

onBothEngines("filtered timelines: the lazy columns that are asked for", async (_t, db) => {
  const database = await openWithPlaces(db);
  const load = timelinesOf(database);
  for (const filters of [[], [filtersOf(1)[0]!.filter]]) {
    const timelines = await load(EVER, filters, [{ property: "n" }]);
    const [segment] = await segmentsOf(timelines);
    const { places, codes, values } = segment!.property("n");
    const told = [...places].map((place, i) => [place, values[codes[i]!]]);
    assert.deepEqual(told, placesThat((at) => at % 5 !== 4).map((at) => [at, String(at)]));
    assert.throws(() => segment!.property("m"), /did not ask/);
    assert.throws(() => segment!.column("title"), /did not ask/);
  }
});

onBothEngines(
  "filtered timelines: a part holds texts of bounded length, too",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const LENGTH = 6_000;
    const textOf = (at: number) => randomBytes(LENGTH / 2).toString("hex") + at;
    const rows = Array.from({ length: 240 }, (_, at) => ({
      ...step(at, { long: textOf(at), short: "x" }),
      anonymous_id: `a${at % 60}`,
    }));
    await insertEvents(database, rows.sort((a, b) => a.event_id < b.event_id ? -1 : 1));
    await createProjection(database).catchUp(1);
    const PART_BYTES = 200_000;
    const load = timelinesOf(database, 1, PART_BYTES);
    const timelines = await load(EVER, [], [{ property: "long" }]);
    const parts = await Array.fromAsync(
      timelines.parts(),
      ({ segments }) => segments.flatMap((one) => one.property("long").values),
    );
    const stored = rows.map(({ properties }) => JSON.stringify(JSON.parse(properties!).long));
    assert.ok(isDeepStrictEqual(parts.flat().sort(), stored.sort()), "each text is in one part");
    // 1.4 MB of texts; each part is half of what may be in memory, as the next is read meanwhile.
    const largest = Math.max(...parts.map((part) => part.join("").length));
    assert.ok(parts.length > 10 && largest < PART_BYTES, `${parts.length} of up to ${largest}`);

    const long: Filter = { field: "properties.long", op: "contains", values: ["ff"] };
    const passing = async (timelines: FilteredTimelines) => {
      const found = await Array.fromAsync(
        timelines.parts(),
        ({ segments }) => segments.flatMap(({ filterBits }) => [...filterBits]),
      );
      return { parts: found.length, passing: found.flat().filter((bits) => bits === 1).length };
    };
    const whole = await passing(await timelinesOf(database, 1, 10_000_000)(EVER, [long]));
    const divided = await passing(await load(EVER, [long]));
    assert.equal(whole.parts, 1);
    assert.equal(divided.passing, whole.passing);
    assert.ok(divided.parts > 10);
    // Of reads that ask for none of them it makes no difference.
    assert.equal((await passing(await load(EVER, [ON_PATH]))).parts, 1);
  },
);

onBothEngines(
  "filtered timelines: numbers are made once, and kept for later reads",
  async (_t, db) => {
    const database = await openWithPlaces(db);
    const load = timelinesOf(database);
    const numbers = async () => {
      const timelines = await load(EVER, [], [{ property: "n" }]);
      prepareNumbers(timelines, "n");
      const [segment] = await segmentsOf(timelines);
      return segment!.column(numbersName("n")) as NumberColumn;
    };
    const made = await numbers();
    const told = [...made.places].map((
      place,
      i,
    ) => [place, decimalAt(made, made.codes[i]!)!.whole]);
    assert.deepEqual(told, placesThat((at) => at % 5 !== 4).map((at) => [at, at]));
    assert.equal(await numbers(), made);
    assert.ok(made.bytes >= made.memory.buffer.byteLength);
  },
);

onBothEngines(
  "filtered timelines: numbers that are kept stay in memory when the read that made them ends",
  async (_t, db) => {
    const sql = await openWithPlaces(db);
    const segments = new SegmentCache(1_000_000, 1_000_000);
    const use = segments.memory.enter();
    const access = { sql, scope: SCOPE, segments, pool: IN_PLACE, use };
    const timelines = await loadFilteredTimelines(access, EVER, [], [{ property: "n" }]);
    const before = segments.memory.bytes;
    prepareNumbers(timelines, "n");
    const [segment] = await segmentsOf(timelines);
    const made = segment!.column(numbersName("n")) as NumberColumn;
    await use.end();
    assert.equal(segments.memory.bytes, before + made.memory.buffer.byteLength);
  },
);

onBothEngines(
  "filtered timelines: parts are prepared once, before they are walked",
  async (_t, db) => {
    const database = await openWithPlaces(db);
    const timelines = await timelinesOf(database)(EVER, []);
    const prepared: TimelinePart[] = [];
    await segmentsOf(timelines);
    timelines.prepare((part) => {
      prepared.push(part);
      return Promise.resolve();
    });
    const [part] = await Array.fromAsync(timelines.parts());
    assert.equal(prepared[0], part);
    assert.deepEqual(await Array.fromAsync(timelines.parts()), [part]);
    assert.equal(prepared.length, 1);
  },
);

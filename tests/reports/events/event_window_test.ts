import assert from "node:assert/strict";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import type { ListPlace } from "../../../src/reports/events/list_place.ts";
import { newestFirst } from "../../../src/reports/newest/first_in_order.ts";
import {
  type NoWindow,
  pageRowsOf,
  readWindow,
  WINDOW_SIZES,
  type WindowSource,
} from "../../../src/reports/events/event_window.ts";
import { LineMemory, type PackedSizes } from "../../../src/reports/events/packed_lines.ts";
import { newestStored } from "../../../src/reports/events/stored_newest.ts";
import type { ExportedEvent } from "../../../src/event_file/exported_event.ts";
import { EXPORT_PAGE_BYTES_AIM, EXPORT_PAGE_ROWS } from "../../../src/limits.ts";
import { atOneMoment } from "../../../src/reports/answer/time_limit.ts";
import { withTimelines } from "../../../src/scans/filtered_timelines.ts";
import type { Database } from "../../../src/db/sql.ts";
import { pause } from "../../../src/turns/pause.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { YIELD_MS } from "../../../src/store/store_limits.ts";
import { SegmentCache } from "../../../src/timelines/segment_cache.ts";
import { onBothEngines } from "../../support/databases.ts";
import { chosenOn } from "../../support/engine_cases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { IN_PLACE } from "../../support/in_place.ts";

const EVENTS = 900;
const PEOPLE = 40;
/** Events of one millisecond. */
const TIES = 5;
const FROM_MS = Date.parse("2026-03-01T00:00:00Z");
/** Longer than the times of one segment reach. */
const DAYS = 60;
const SPAN = { fromMs: FROM_MS, toMs: FROM_MS + DAYS * 86_400_000 };
const END: ListPlace = { ms: SPAN.toMs, id: null };

const rowOf = (i: number): EventRow => {
  const share = (Math.floor(i / TIES) * TIES) / EVENTS;
  return newRow({
    user_id: `u${(7 * i) % PEOPLE}`,
    occurred_at: new Date(FROM_MS + Math.floor(share * DAYS * 86_400_000)).toISOString(),
    // Some lines are longer than all before them.
    properties: JSON.stringify({ i, text: "x".repeat(i % 100) }),
  });
};

/** A project's events as windows read them. */
function sourceOf(reads: Database, isFiltered = false): WindowSource {
  const services = { segments: new SegmentCache(1_000_000), pool: IN_PLACE };
  const scope = { projectId: 1, siteHost: null, bots: "include", filters: [] } as const;
  // Searched in many parts.
  const found = { firstEvents: 20, ...isFiltered ? {} : { newest: newestStored } };
  return {
    ...{ reads, projectId: 1, isFiltered },
    atOneMoment: (work) =>
      atOneMoment(
        reads,
        (sql) =>
          withTimelines(
            services,
            { sql, scope },
            (timelines) => work({ ...found, sql, scope, timelines }),
          ),
      ),
  };
}

const LINES = new TextDecoder();

/** Decodes handed lines into events, and checks their number. */
function eventsOf(bytes: Uint8Array, lines: number): ExportedEvent[] {
  const texts = LINES.decode(bytes).split("\n");
  assert.equal(texts.pop(), "");
  assert.equal(texts.length, lines);
  return texts.map((text) => JSON.parse(text));
}

/** Reads all windows behind a place, one after the other. */
async function readAll(source: WindowSource, rows: number, sizes: PackedSizes, from = END) {
  const read: ExportedEvent[] = [];
  const memory = new LineMemory(sizes);
  let windows = 0;
  for (let place: ListPlace | null = from; place !== null;) {
    const window = await readWindow(source, SPAN, place, rows, memory);
    assert.ok(window.handed !== null);
    const own = [...window.handed(Infinity)].flatMap(({ bytes, lines }) => {
      assert.ok(lines === 1 || bytes.length <= sizes.handedBytes);
      return eventsOf(bytes, lines);
    });
    read.push(...own);
    place = window.next;
    windows++;
  }
  return { read, windows };
}

const told = (id: string, at: string, user: string | null, i: unknown) =>
  `${at} ${id} ${user} ${i}`;
const shown = (events: readonly ExportedEvent[]) =>
  events.map(({ eventId, timestamp, userId, properties }) =>
    told(eventId, timestamp, userId, properties.i)
  );
const shownRows = (rows: readonly EventRow[]) =>
  rows.map(({ event_id, occurred_at, user_id, properties }) =>
    told(event_id, occurred_at, user_id, JSON.parse(properties!).i)
  );

onBothEngines(
  "windows: each event of a span once, the newest first, however it is cut",
  async (t, db) => {
    const database = await openWithProjects(db);
    const projection = createProjection(database);
    const rows = Array.from({ length: EVENTS }, (_, i) => rowOf(i));
    // In an order that has nothing to do with time.
    const mixed = rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1);
    for (let from = 0; from < EVENTS; from += EVENTS / 3) {
      await insertEvents(database, mixed.slice(from, from + EVENTS / 3));
      await projection.catchUp(1);
    }
    const expected = rows.toSorted(newestFirst);
    const source = sourceOf(database);
    const small = { ...WINDOW_SIZES, chunkRows: 7, openRows: 11 };

    await t.step("in windows and chunks of any size", async () => {
      const cuts: readonly (readonly [number, PackedSizes])[] = [
        [64, small],
        [6, WINDOW_SIZES],
        [5_000, { ...small, openBytes: 1 }],
        [5_000, { ...small, handedBytes: 1 }],
        [5_000, { ...WINDOW_SIZES, handedBytes: 2_000 }],
      ];
      for (const [wanted, sizes] of chosenOn(database, cuts)) {
        const { read } = await readAll(source, wanted, sizes);
        assert.deepEqual(shown(read), shownRows(expected));
      }
      // Each has as many as are asked for, and the last one nothing.
      const { windows } = await readAll(source, EVENTS / 10, WINDOW_SIZES);
      assert.equal(windows, 10 + 1);
    });

    await t.step("from an event in the middle, one of several of its moment", async () => {
      for (const at of [0, 453, EVENTS - 2]) {
        const { occurred_at, event_id: id } = expected[at]!;
        const place = { ms: Date.parse(occurred_at), id };
        const { read } = await readAll(source, 300, small, place);
        assert.deepEqual(shown(read), shownRows(expected.slice(at + 1)), `behind ${at}`);
      }
    });

    await t.step("what has no room is left to the next window, but never the newest", async () => {
      const cut = { ...WINDOW_SIZES, chunkRows: TIES, openRows: 20 };
      const whole = await readAll(source, EVENTS + 1, { ...cut, bytesMax: 10_000_000 });
      assert.equal(whole.windows, 1);
      const { read, windows } = await readAll(source, EVENTS + 1, { ...cut, bytesMax: 20_000 });
      assert.ok(windows > 2 && windows < EVENTS / TIES);
      assert.deepEqual(shown(read), shownRows(expected));
      // There is no room even for a single millisecond.
      const memory = new LineMemory({ ...cut, bytesMax: 100 });
      const none = await readWindow(source, SPAN, END, EVENTS, memory);
      assert.ok(none.handed === null && none.lineBytes! > 100);
    });

    await t.step("no more lines are handed on than requested", async () => {
      const memory = new LineMemory({ ...small, handedBytes: 5_000 });
      for (const linesMax of [1, 7, 8, EVENTS]) {
        const window = await readWindow(source, SPAN, END, EVENTS, memory);
        const handed = [...window.handed!(linesMax)];
        const events = handed.flatMap(({ bytes, lines }) => eventsOf(bytes, lines));
        assert.deepEqual(shown(events), shownRows(expected.slice(0, linesMax)));
      }
    });

    await t.step(
      "what is not projected is left to pages, unless filters leave it out",
      async () => {
        const memory = new LineMemory(WINDOW_SIZES);
        const has = async (source: WindowSource, from: ListPlace) =>
          (await readWindow(source, SPAN, from, 64, memory)).handed !== null;
        const late = newRow({ occurred_at: expected[10]!.occurred_at });
        await insertEvents(database, [late]);
        assert.ok(!await has(source, END));
        assert.ok(await has(sourceOf(database, true), END));
        const older = { ms: Date.parse(expected[20]!.occurred_at), id: null };
        assert.ok(await has(source, older));
        await projection.catchUp(1);
        assert.ok(await has(source, END));
      },
    );

    await t.step("nothing more is read once its reader has gone", async () => {
      const gone = new AbortController();
      const reads: Database = {
        ...database,
        async transaction(work, ...others) {
          const read = await database.transaction(work, ...others);
          gone.abort();
          // Long enough for a yield to be due.
          await pause(YIELD_MS);
          return read;
        },
      };
      const left = { ...source, reads, gone: gone.signal };
      const memory = new LineMemory(WINDOW_SIZES);
      await assert.rejects(readWindow(left, SPAN, END, 64, memory), { name: "AbortError" });
    });

    await t.step("a segment that is gone meanwhile", async () => {
      const gone: WindowSource = {
        ...source,
        async atOneMoment(work) {
          const found = await source.atOneMoment(work);
          await database.query("DELETE FROM segments WHERE project_id = 1");
          return found;
        },
      };
      const none: NoWindow = { handed: null, lineBytes: null };
      assert.deepEqual(await readWindow(gone, SPAN, END, 64, new LineMemory(WINDOW_SIZES)), none);
    });
  },
);

Deno.test("a page in place of a window: fewer events if their lines are long", () => {
  assert.equal(pageRowsOf(0), EXPORT_PAGE_ROWS);
  assert.equal(pageRowsOf(EXPORT_PAGE_BYTES_AIM / EXPORT_PAGE_ROWS), EXPORT_PAGE_ROWS);
  assert.equal(pageRowsOf(2 * EXPORT_PAGE_BYTES_AIM / EXPORT_PAGE_ROWS), EXPORT_PAGE_ROWS / 2);
  assert.equal(pageRowsOf(2 * EXPORT_PAGE_BYTES_AIM), 1);
});

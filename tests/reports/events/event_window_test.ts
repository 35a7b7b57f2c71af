import assert from "node:assert/strict";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { byPlace, type ListPlace } from "../../../src/reports/events/event_list.ts";
import {
  readWindow,
  WINDOW_SIZES,
  type WindowSizes,
  type WindowSource,
} from "../../../src/reports/events/event_window.ts";
import { atOneMoment } from "../../../src/reports/time_limit.ts";
import { withTimelines } from "../../../src/scans/filtered_timelines.ts";
import type { Database } from "../../../src/db/sql.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { SegmentCache } from "../../../src/timelines/segment_cache.ts";
import { onBothEngines } from "../../support/databases.ts";
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
    properties: JSON.stringify({ i }),
  });
};

/** A project's events as windows read them. */
function sourceOf(reads: Database, isFiltered = false): WindowSource {
  const services = { segments: new SegmentCache(1_000_000), pool: IN_PLACE };
  const scope = { projectId: 1, siteHost: null, bots: "include", filters: [] } as const;
  return {
    ...{ reads, projectId: 1, isFiltered },
    atOneMoment: (work) =>
      atOneMoment(
        reads,
        (sql) =>
          withTimelines(services, { sql, scope }, (timelines) => work({ sql, scope, timelines })),
      ),
  };
}

/** What all windows behind a place hold, one after the other. */
async function readAll(source: WindowSource, rows: number, sizes: WindowSizes, from = END) {
  const read: EventRow[] = [];
  for (let place: ListPlace | null = from; place !== null;) {
    const window = await readWindow(source, SPAN, place, rows, sizes);
    assert.ok(window !== null);
    const own = [...window.chunks()].flat();
    // From the end, no part of a moment is missing.
    assert.ok(own.length >= rows || window.next === null || place.id !== null);
    read.push(...own);
    place = window.next;
  }
  return read;
}

const shown = (rows: readonly EventRow[]) =>
  rows.map(({ event_id, occurred_at, user_id, properties }) =>
    `${occurred_at} ${event_id} ${user_id} ${properties}`
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
    const expected = rows.toSorted(byPlace);
    const source = sourceOf(database);
    const small = { ...WINDOW_SIZES, chunkRows: 7, openRows: 11 };

    await t.step("in windows and chunks of any size", async () => {
      const cuts = [[6, WINDOW_SIZES], [64, small], [5_000, { ...small, openLength: 1 }]] as const;
      for (const [wanted, sizes] of cuts) {
        assert.deepEqual(shown(await readAll(source, wanted, sizes)), shown(expected));
      }
    });

    await t.step("from an event in the midst, which is one of several of its moment", async () => {
      for (const at of [0, 453, EVENTS - 2]) {
        const { occurred_at, event_id: id } = expected[at]!;
        const place = { ms: Date.parse(occurred_at), id };
        const behind = shown(expected.slice(at + 1));
        assert.deepEqual(shown(await readAll(source, 300, small, place)), behind, `behind ${at}`);
      }
    });

    await t.step("events of one moment, and bytes, on both sides of their bounds", async () => {
      const read = (sizes: WindowSizes) => readWindow(source, SPAN, END, EVENTS, sizes);
      // A chunk of so many takes all of its last moment.
      const chunked = { ...WINDOW_SIZES, chunkRows: TIES };
      assert.ok(await read({ ...chunked, chunkRowsMax: TIES }) !== null);
      assert.equal(await read({ ...chunked, chunkRowsMax: TIES - 1 }), null);
      const compressed = { ...WINDOW_SIZES, openRows: 1 };
      assert.equal(await read({ ...compressed, bytesMax: 1_000 }), null);
      assert.ok(await read({ ...compressed, bytesMax: 10_000_000 }) !== null);
    });

    await t.step(
      "what is not projected is left to pages, unless filters leave it out",
      async () => {
        const late = newRow({ occurred_at: expected[10]!.occurred_at });
        await insertEvents(database, [late]);
        assert.equal(await readWindow(source, SPAN, END, 64), null);
        assert.ok(await readWindow(sourceOf(database, true), SPAN, END, 64) !== null);
        const older = { ms: Date.parse(expected[20]!.occurred_at), id: null };
        assert.ok(await readWindow(source, SPAN, older, 64) !== null);
        await projection.catchUp(1);
        assert.ok(await readWindow(source, SPAN, END, 64) !== null);
      },
    );

    await t.step("a segment that is gone by then", async () => {
      const gone: WindowSource = {
        ...source,
        async atOneMoment(work) {
          const found = await source.atOneMoment(work);
          await database.query("DELETE FROM segments WHERE project_id = 1");
          return found;
        },
      };
      assert.equal(await readWindow(gone, SPAN, END, 64), null);
    });
  },
);

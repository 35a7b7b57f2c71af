import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { compareIds } from "../../src/store/id_codec.ts";
import { allBlocks } from "../../src/store/segment_head.ts";
import { partsOf } from "../../src/store/segment_tiers.ts";
import {
  addEvents,
  deleteFromSegmentsBefore,
  eraseFromSegments,
} from "../../src/store/segments.ts";
import { rowsOfIdentities } from "../../src/store/identity_events.ts";
import { type KeptBlock, rowsAt } from "../../src/store/rows_by_place.ts";
import { SEGMENT_SPAN_MS } from "../../src/store/store_limits.ts";
import {
  ALWAYS,
  fetchBlocks,
  fetchHeads,
  type StoredHead,
} from "../../src/store/stored_segments.ts";
import { COLUMNS } from "../../src/store/segment_columns.ts";
import { mergeOnce } from "../../src/projection/merging.ts";
import { batchOf } from "../support/event_batch.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { fakeSql, withMembersInside } from "../support/fake_sql.ts";
import { readEvents, type SegmentEvent } from "../support/segment_events.ts";

const PROJECT = 1;
const START_MS = 1_750_000_000_000;

/** An event whose number tells the rest. */
function eventOf(number: number, members: Partial<EventRow> = {}): SegmentEvent {
  const id = new Uint8Array(16);
  new DataView(id.buffer).setUint32(12, Math.imul(number, 2_654_435_761) >>> 0);
  const ms = START_MS + Math.imul(number, 7919) % 100_000;
  const row = newRow({
    event_id: id.toHex().replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"),
    occurred_at: new Date(ms).toISOString(),
    received_at: new Date(ms + number).toISOString(),
    path: `/${number % 7}`,
    properties: JSON.stringify({ number }),
    ...members,
  });
  return {
    ...{ identity: 1 + number % 11, ms, id, name: 5, path: 10 + number % 7, context: 1 },
    ...{ traffic: 1, title: 0, referrer: 0, row },
  };
}

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, i) => eventOf(from + i));

function inTime(events: readonly SegmentEvent[]): SegmentEvent[] {
  return events.toSorted((a, b) => a.ms - b.ms || compareIds(a.id, 0, b.id, 0));
}

async function storedEvents(database: Database): Promise<SegmentEvent[]> {
  const heads = await fetchHeads(database, PROJECT);
  const wanted = heads.map((stored) => ({ ...stored, blocks: allBlocks(stored.head) }));
  const readers = await fetchBlocks(database, PROJECT, wanted, COLUMNS);
  const events = readers.map((reader) => readEvents(reader, PROJECT));
  return inTime((await Promise.all(events)).flat());
}

onBothEngines(
  "segments: what is added in many parts is there once, in few segments",
  async (_t, db) => {
    const database = await openWithProjects(db);
    for (let from = 0; from < 300; from += 10) {
      await database.transaction((tx) =>
        addEvents(tx, PROJECT, batchOf(numbered(from, from + 10)))
      );
      while (await mergeOnce(database, PROJECT));
    }
    const all = numbered(0, 300);
    assert.deepEqual(await storedEvents(database), inTime(all));
    const heads = await fetchHeads(database, PROJECT);
    assert.ok(heads.length < 15, `${heads.length} segments`);

    const ofTwo = all.filter(({ identity }) => identity === 3 || identity === 7);
    assert.deepEqual(
      await rowsOfIdentities(database, PROJECT, new Set([3, 7, 99]), ALWAYS),
      inTime(ofTwo).map(({ row }) => row),
    );
    assert.deepEqual(await rowsOfIdentities(database, PROJECT, new Set([99]), ALWAYS), []);
    assert.deepEqual(await rowsOfIdentities(database, 2, new Set([3]), ALWAYS), []);

    const [{ segmentId, head }] = heads as [typeof heads[0]];
    const [reader] = await fetchBlocks(
      database,
      PROJECT,
      [{ segmentId, head, blocks: allBlocks(head) }],
      COLUMNS,
    );
    for (const [name, bytes] of reader!.bytesOf(COLUMNS, { first: 0, end: 1 })) {
      assert.equal(bytes.buffer.byteLength, bytes.length, `${name}: handed over without the rest`);
    }
    const own = await readEvents(reader!, PROJECT);
    const places = [own.length - 1, 0, 3].map((place) => ({ segmentId, place }));
    const meant = places.map(({ place }) => own[place]!.row);
    assert.deepEqual(await rowsAt(database, PROJECT, places), meant);
    const kept = new Map<string, KeptBlock>();
    const keptHeads = new Map<number, StoredHead>();
    const cache = {
      blocks: {
        get: (key: string) => kept.get(key),
        set: (key: string, block: KeptBlock) => kept.set(key, block).size > 0,
      },
      heads: {
        get: (id: number) => keptHeads.get(id),
        set: (id: number, head: StoredHead) => keptHeads.set(id, head).size > 0,
      },
    };
    for (const [i, one] of places.entries()) {
      assert.deepEqual(await rowsAt(database, PROJECT, [one], cache), [meant[i]]);
    }
    const [[key, { bytes }]] = [...kept] as [[string, KeptBlock]];
    assert.deepEqual([kept.size, key], [1, `${segmentId} 0`]);
    assert.ok(bytes > 0);
    // What is kept is not fetched.
    assert.deepEqual(await rowsAt(fakeSql({}), PROJECT, places, cache), meant);
    await assert.rejects(rowsAt(fakeSql({}), PROJECT, places), /Nothing is to call binary/);
  },
);

onBothEngines("segments: what is before an instant goes, and what somebody did", async (_t, db) => {
  const database = await openWithProjects(db);
  const old = { ...eventOf(500), ms: START_MS - 2 * SEGMENT_SPAN_MS };
  const oldRow = { ...old.row, occurred_at: new Date(old.ms).toISOString() };
  const all = [{ ...old, row: oldRow }, ...numbered(0, 200)];
  await database.transaction((tx) => addEvents(tx, PROJECT, batchOf(all)));
  assert.equal((await fetchHeads(database, PROJECT)).length, 2);

  const beforeMs = START_MS + 50_000;
  const left = all.filter(({ ms }) => ms >= beforeMs);
  await database.transaction((tx) => deleteFromSegmentsBefore(tx, PROJECT, beforeMs));
  assert.deepEqual(await storedEvents(database), inTime(left));

  const others = left.filter(({ identity }) => identity !== 2 && identity !== 5);
  await database.transaction((tx) => eraseFromSegments(tx, PROJECT, new Set([2, 5, 99])));
  assert.deepEqual(await storedEvents(database), inTime(others));
});

onBothEngines(
  "segments: a batch of many spans of time takes what its events do",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const spans = 300;
    const events = numbered(0, spans).map((event, i): SegmentEvent => {
      const ms = START_MS - i * SEGMENT_SPAN_MS;
      return { ...event, ms, row: { ...event.row, occurred_at: new Date(ms).toISOString() } };
    });
    const batch = batchOf(events);
    const made = new Map<string, number>();
    for (const kind of ["numbers", "flags"] as const) {
      const make = batch.columns[kind].bind(batch.columns) as (name: string) => never;
      batch.columns[kind] = (name: string) => {
        made.set(name, (made.get(name) ?? 0) + 1);
        return make(name);
      };
    }
    let statements = 0;
    const counted = withMembersInside(database, (sql) => ({
      query: async (text, params) => {
        statements++;
        return await sql.query(text, params);
      },
    }));
    await counted.transaction((tx) => addEvents(tx, PROJECT, batch));
    assert.equal(statements, 1);
    // Places are in a column of their own, too.
    assert.ok(Math.max(...made.values()) <= 2, "no column is made for each segment");
    assert.equal((await fetchHeads(database, PROJECT)).length, spans);
    assert.deepEqual(await storedEvents(database), inTime(events));

    for (const part of partsOf(batch)) {
      const { ends, codes } = part.texts("properties");
      assert.deepEqual([ends.length, ...codes], [1, 1], "no text of another segment is encoded");
    }
  },
);

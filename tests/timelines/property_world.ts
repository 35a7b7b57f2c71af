import assert from "node:assert/strict";
import fc from "fast-check";
import type { Database, Sql } from "../../src/db/sql.ts";
import { MemoryScope, SharedMemory } from "../../src/timelines/shared_memory.ts";
import { createLazyCache, type LazyCache, loadLazies } from "../../src/timelines/lazy_loader.ts";
import { PropertyColumn } from "../../src/timelines/property_columns.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { COLUMNS } from "../../src/store/segment_columns.ts";
import { allBlocks } from "../../src/store/segment_head.ts";
import { fetchBlocks, fetchHeads } from "../../src/store/stored_segments.ts";
import { readRows } from "../../src/store/whole_events.ts";
import { yielding } from "../../src/store/yielding.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { newRow, storedRows } from "../support/event_rows.ts";

export const START_MS = Date.parse("2026-03-01T12:00:00Z");
export const MINUTE_MS = 60_000;
/** A property of whole segments. */
export async function loadProperty(
  sql: Sql,
  cache: LazyCache,
  projectId: number,
  segments: readonly { readonly segmentId: number }[],
  property: string,
): Promise<PropertyColumn[]> {
  const whole = segments.map(({ segmentId }) => ({ segmentId, slice: null }));
  const memory = new SharedMemory(0);
  const kept = { lazies: cache, memory };
  const scope = new MemoryScope(memory);
  const [columns] = await loadLazies(sql, kept, scope, projectId, whole, [{ property }]);
  return columns!.map((column) => column instanceof PropertyColumn ? column : assert.fail());
}

/** JSON by place. */
const jsonOf = ({ places, codes, values }: PropertyColumn) =>
  new Map([...places].map((place, i) => [place, values[codes[i]!]!]));

/** Fails unless a property of every other event is that of all events, at these. */
async function assertPicked(
  sql: Sql,
  projectId: number,
  segments: readonly { readonly segmentId: number }[],
  property: string,
  columns: readonly PropertyColumn[],
): Promise<void> {
  const heads = new Map((await fetchHeads(sql, projectId)).map((one) => [one.segmentId, one]));
  const slices = segments.map(({ segmentId }) => {
    const stored = heads.get(segmentId)!;
    const { events } = stored.head;
    const picked = Uint32Array.from({ length: Math.ceil(events / 2) }, (_, i) => 2 * i);
    return { stored, blocks: allBlocks(stored.head), firstPlace: 0, picked };
  });
  const memory = new SharedMemory(0);
  const kept = { lazies: createLazyCache(0, memory), memory };
  const scope = new MemoryScope(memory);
  const parts = slices.map((slice) => ({ segmentId: slice.stored.segmentId, slice }));
  const [some] = await loadLazies(sql, kept, scope, projectId, parts, [{ property }]);
  for (const [i, { picked }] of slices.entries()) {
    assert.deepEqual(jsonOf(some![i] as PropertyColumn), jsonOf(columns[i]!.picked(picked)));
  }
}

/** Longer than the times of one segment reach. */
export const LONG_AGO_MS = 60 * 86_400_000;

/** Keys that events have, and such as they do not. */
export const KEYS = ["plain", "__proto__", "", 'a"b', "ключ", "a b", "constructor"];
export const ABSENT_KEYS = ["toString", "Plain", "length", "0"];

const value: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, "", "true", "0", 'say "hi"', "\\", "a\nb", "\u2028"),
  fc.constantFrom(0, 0.1, -1.5, 1e21, 1e-7, 2 ** 53, 12_345_678_901_234_567_000),
  fc.constantFrom<unknown>([], {}, [1, [2, null]], { b: { c: "д" }, a: [] }, [["ж"], {}]),
  fc.constant(JSON.parse('{ "__proto__": { "plain": 1 } }')),
  fc.double({ noNaN: true, min: -1e9, max: 1e9 }),
  fc.string({ unit: "grapheme", maxLength: 9 }),
);

/** JSON text of a few keys, or of none; null: no properties. */
export const properties: fc.Arbitrary<string | null> = fc.option(
  fc.array(fc.tuple(fc.constantFrom(...KEYS), value), { maxLength: 4 })
    .map((entries) => JSON.stringify(Object.fromEntries(entries))),
  { freq: 6 },
);

/** Events of three visitors within 100 minutes, some of them long before. */
export function someRows(count: number): fc.Arbitrary<EventRow[]> {
  const row = fc.record({
    event_id: fc.uuid(),
    minute: fc.nat({ max: 100 }),
    isOld: fc.constantFrom(false, false, false, true),
    anonymous_id: fc.constantFrom("a1", "a2", "a3"),
    name: fc.constantFrom("page_view", "signup", "scroll"),
    title: fc.constantFrom(null, "Home", "signup", "/"),
    referrer: fc.constantFrom(null, "https://shop.test/", "https://www.news.test/today"),
    host: fc.constantFrom(null, "shop.test", "www.shop.test"),
    properties,
  }).map(({ minute, isOld, ...members }) => {
    const ms = START_MS + minute * MINUTE_MS - (isOld ? LONG_AGO_MS : 0);
    return newRow({ ...members, occurred_at: new Date(ms).toISOString() });
  });
  const selector = ({ event_id }: EventRow) => event_id;
  return fc.uniqueArray(row, { selector, minLength: count, maxLength: count });
}

export async function newProject(database: Database): Promise<number> {
  const [project] = await database.query<{ project_id: number }>(
    "INSERT INTO projects (public_id, name) VALUES ($1::text, 'Test') RETURNING project_id",
    [`prj_${crypto.randomUUID()}`],
  );
  return project!.project_id;
}

/** Stores rows as those of a project. */
export async function storeRows(
  database: Database,
  project_id: number,
  rows: readonly EventRow[],
): Promise<void> {
  await insertEvents(
    database,
    rows.map((row) => ({ ...row, project_id })).sort((a, b) => a.event_id < b.event_id ? -1 : 1),
  );
}

/** A stored segment, the ids of its events as hex. */
export interface IdentifiedSegment {
  readonly segmentId: number;
  readonly events: number;
  /** In hexadecimal digits. */
  readonly ids: string;
  /** The properties of its events, where they have any. */
  readonly texts: readonly string[];
}

/** All segments of a project in the order in which they were stored. */
export async function storedSegments(sql: Sql, projectId: number): Promise<IdentifiedSegment[]> {
  const heads = (await fetchHeads(sql, projectId)).sort((a, b) => a.segmentId - b.segmentId);
  const wanted = heads.map((stored) => ({ ...stored, blocks: allBlocks(stored.head) }));
  const readers = await fetchBlocks(sql, projectId, wanted, COLUMNS);
  return await Promise.all(readers.map(async (reader, i) => {
    const rowAt = await readRows(reader, projectId, yielding());
    const texts = Array.from({ length: reader.events }, (_, at) => rowAt(at).properties)
      .filter((text) => text !== null);
    const { segmentId } = heads[i]!;
    return { segmentId, events: reader.events, ids: reader.ids().toHex(), texts };
  }));
}

/** `jsonOf`. Fails unless places ascend and each value is told once, and had by some event. */
export function valuesOf(column: PropertyColumn): Map<number, string> {
  const { places, codes, values } = column;
  assert.equal(codes.length, places.length);
  for (let i = 1; i < places.length; i++) assert.ok(places[i - 1]! < places[i]!);
  assert.equal(new Set(values).size, values.length);
  assert.equal(new Set(codes).size, values.length);
  return jsonOf(column);
}

/** The properties of a project's events from an instant on, by id in hexadecimal digits. */
async function sentProperties(
  sql: Sql,
  projectId: number,
  fromMs: number,
): Promise<Map<string, Record<string, unknown> | null>> {
  const rows = (await storedRows(sql)).filter(({ project_id, occurred_at }) =>
    project_id === projectId && Date.parse(occurred_at) >= fromMs
  );
  return new Map(rows.map(({ event_id, properties }) => [
    event_id.replaceAll("-", ""),
    properties === null ? null : JSON.parse(properties),
  ]));
}

/**
 * Fails unless segments tell a property exactly as the stored events from an instant on do,
 * of every one once.
 * @returns how many events have it
 */
export async function assertColumn(
  sql: Sql,
  projectId: number,
  key: string,
  fromMs = -Infinity,
): Promise<number> {
  const left = await sentProperties(sql, projectId, fromMs);
  const segments = await storedSegments(sql, projectId);
  const cache = createLazyCache(1_000_000, new SharedMemory(0));
  const columns = await loadProperty(sql, cache, projectId, segments, key);
  assert.equal(columns?.length, segments.length);
  await assertPicked(sql, projectId, segments, key, columns);
  let found = 0;
  for (const [i, { events, ids }] of segments.entries()) {
    const values = valuesOf(columns![i]!);
    for (let at = 0; at < events; at++) {
      const id = ids.slice(32 * at, 32 * (at + 1));
      const held = values.get(at);
      assert.ok(left.has(id), `${id} is stored`);
      const told = left.get(id)!;
      const has = told !== null && Object.hasOwn(told, key);
      if (has) assert.deepEqual(JSON.parse(held ?? "-"), told[key]);
      else assert.equal(held, undefined, `${id} has no ${key}`);
      values.delete(at);
      left.delete(id);
      if (has) found++;
    }
    assert.equal(values.size, 0);
  }
  assert.equal(left.size, 0);
  return found;
}

/** Fails unless the segments hold the properties of all events from an instant on, and no more. */
export async function assertTexts(
  sql: Sql,
  projectId: number,
  fromMs = -Infinity,
): Promise<void> {
  const told = (await sentProperties(sql, projectId, fromMs)).values().filter((one) => one !== null)
    .map((one) => JSON.stringify(one)).toArray();
  const held = (await storedSegments(sql, projectId)).flatMap(({ texts }) => texts)
    .map((text) => JSON.stringify(JSON.parse(text)));
  assert.deepEqual(held.sort(), told.sort());
}

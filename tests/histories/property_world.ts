import assert from "node:assert/strict";
import fc from "fast-check";
import type { Database, Row, Sql } from "../../src/db/sql.ts";
import {
  createPropertyCache,
  loadProperty,
  type PropertyColumn,
} from "../../src/histories/property_columns.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/ingest/event_row.ts";
import { HISTORY_PROPERTIES_BYTES_MAX } from "../../src/limits.ts";
import { newRow } from "../support/event_rows.ts";

export const START_MS = Date.parse("2026-03-01T12:00:00Z");
export const MINUTE_MS = 60_000;
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
const properties: fc.Arbitrary<string | null> = fc.option(
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
export interface IdentifiedSegment extends Row {
  readonly segmentId: number;
  readonly events: number;
  readonly ids: string;
  readonly textBytes: number;
}

/** All segments of a project in the order in which they were stored. */
export async function storedSegments(sql: Sql, projectId: number): Promise<IdentifiedSegment[]> {
  return await sql.query<IdentifiedSegment>(
    `SELECT segment_id AS "segmentId", events, encode(ids, 'hex') AS ids,
      octet_length(texts) AS "textBytes"
    FROM history_segments WHERE project_id = $1::int ORDER BY segment_id`,
    [projectId],
  );
}

/** JSON by place. Fails unless places ascend and each value is told once, and had by some event. */
export function valuesOf({ places, codes, values }: PropertyColumn): Map<number, string> {
  assert.equal(codes.length, places.length);
  for (let i = 1; i < places.length; i++) assert.ok(places[i - 1]! < places[i]!);
  assert.equal(new Set(values).size, values.length);
  assert.equal(new Set(codes).size, values.length);
  return new Map([...places].map((place, i) => [place, values[codes[i]!]!]));
}

/**
 * Fails unless segments tell a property exactly as the stored events do, of every fact once.
 * @returns how many events have it
 */
export async function assertColumn(sql: Sql, projectId: number, key: string): Promise<number> {
  const facts = await sql.query<{ id: string; value: string | null }>(
    `SELECT replace(event_id::text, '-', '') AS id, (e.properties -> $2::text)::text AS value
    FROM facts f JOIN events e USING (project_id, event_id) WHERE project_id = $1::int`,
    [projectId, key],
  );
  const left = new Map(facts.map(({ id, value }) => [id, value]));
  const segments = await storedSegments(sql, projectId);
  const cache = createPropertyCache(1_000_000);
  const columns = await loadProperty(sql, cache, projectId, segments, key);
  assert.equal(columns?.length, segments.length);
  let found = 0;
  for (const [i, { events, ids }] of segments.entries()) {
    assert.equal(columns![i]!.isPartial, false);
    const values = valuesOf(columns![i]!);
    for (let at = 0; at < events; at++) {
      const id = ids.slice(32 * at, 32 * (at + 1));
      const [told, held] = [left.get(id), values.get(at)];
      assert.notEqual(told, undefined, `${id} is among the facts`);
      if (told === null) assert.equal(held, undefined, `${id} has no ${key}`);
      else assert.deepEqual(JSON.parse(held ?? "-"), JSON.parse(told!));
      values.delete(at);
      left.delete(id);
      if (told !== null) found++;
    }
    assert.equal(values.size, 0);
  }
  assert.equal(left.size, 0);
  return found;
}

/** Fails unless the segments hold the properties of all facts' events that may be held, and no more. */
export async function assertTexts(sql: Sql, projectId: number): Promise<void> {
  const [bytes] = await sql.query<{ held: number; told: number }>(
    `SELECT
      (SELECT coalesce(sum(octet_length(texts)), 0) FROM history_segments
        WHERE project_id = $1::int) AS held,
      (SELECT coalesce(sum(octet_length(e.properties::text)), 0)
        FROM facts f JOIN events e USING (project_id, event_id)
        WHERE project_id = $1::int AND octet_length(e.properties::text) <= $2::int) AS told`,
    [projectId, HISTORY_PROPERTIES_BYTES_MAX],
  );
  assert.equal(bytes!.held, bytes!.told);
}

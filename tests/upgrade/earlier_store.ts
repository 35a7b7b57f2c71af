import assert from "node:assert/strict";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { arrayLiteral, type Database } from "../../src/db/sql.ts";
import { EVENT_COLUMN_TYPES, type EventRow } from "../../src/store/event_row.ts";
import { COLUMNS as SEGMENT_COLUMNS } from "../../src/store/segment_columns.ts";
import { allBlocks } from "../../src/store/segment_head.ts";
import { fetchBlocks, fetchHeads } from "../../src/store/stored_segments.ts";
import { readRows } from "../../src/store/whole_events.ts";
import { yielding } from "../../src/store/yielding.ts";
import { EARLIER_COLUMNS } from "../../src/upgrade/earlier_rows.ts";
import { newRow } from "../support/event_rows.ts";

/** The last schema of before there were segments. */
const EARLIER_VERSION = 7;

const COLUMNS = EARLIER_COLUMNS;

/** A database as a program of before there were segments had made it, with two projects. */
export async function migrateEarlier(database: Database): Promise<void> {
  await migrate(database, MIGRATIONS.filter(({ version }) => version <= EARLIER_VERSION));
  await database.script(
    "INSERT INTO projects (public_id, name) VALUES ('prj_one', 'One'), ('prj_two', 'Two')",
  );
}

/** Stores events as that program did: a wide row each. */
export async function storeEarlier(database: Database, rows: readonly EventRow[]): Promise<void> {
  const arrays = COLUMNS.map((name, i) => `$${i + 1}::text::${EVENT_COLUMN_TYPES[name]}[]`);
  await database.query(
    `INSERT INTO events (${COLUMNS.join(", ")}) SELECT * FROM unnest(${arrays.join(", ")})`,
    COLUMNS.map((name) => arrayLiteral(rows.map((row) => row[name]))),
  );
}

const START_MS = Date.parse("2026-01-05T00:00:00Z");

/** An event with a value in most members, unlike its neighbours. */
export function earlierRow(i: number, project_id = 1): EventRow {
  return newRow({
    project_id,
    occurred_at: new Date(START_MS + (i * 7_919_000) % (90 * 86_400_000)).toISOString(),
    received_at: new Date(START_MS + 91 * 86_400_000 + i).toISOString(),
    name: ["page_view", "click", "buy", "$identify"][i % 4]!,
    in_session: i % 4 !== 3,
    anonymous_id: `a${i % 300}`,
    user_id: i % 9 === 0 ? `user ${i % 50}` : null,
    visitor_hash: `\\x${String(i).padStart(32, "0")}`,
    ip: i % 3 === 0 ? "2001:db8::1" : "203.0.113.7",
    located: i % 2 === 0,
    country: i % 2 === 0 ? "DE" : null,
    host: "shop.example",
    path: `/p/${i % 40}`,
    url_rest: i % 5 === 0 ? "?q=ä" : null,
    referrer: i % 4 === 0 ? "https://news.example/x" : null,
    title: `Page "${i % 40}"`,
    bot: [null, false, true][i % 3]!,
    pointer_x: i % 4 === 1 ? 1 / (i + 1) : null,
    viewport_width: 390 + i % 7,
    rage: i % 4 === 1 ? i % 8 === 1 : null,
    properties: i % 4 === 2
      ? JSON.stringify({ "a\n": i, list: [1, "ü"], more: { 'q"': 1 }, price: i / 7 })
      : null,
    extra: i % 11 === 0 ? '{"more":true}' : null,
  });
}

/** All events that the segments of a project hold, by id. */
export async function segmentRows(
  database: Database,
  projectId: number,
): Promise<Map<string, EventRow>> {
  const found = new Map<string, EventRow>();
  for (const stored of await fetchHeads(database, projectId)) {
    const wanted = { ...stored, blocks: allBlocks(stored.head) };
    const [reader] = await fetchBlocks(database, projectId, [wanted], SEGMENT_COLUMNS);
    const rowAt = await readRows(reader!, projectId, yielding());
    for (let at = 0; at < reader!.events; at++) {
      const row = rowAt(at);
      assert.ok(!found.has(row.event_id), "once");
      found.set(row.event_id, row);
    }
  }
  return found;
}

const inOrder = (row: EventRow) => COLUMNS.map((name) => row[name]);

export function assertSame(found: Map<string, EventRow>, rows: readonly EventRow[]): void {
  assert.equal(found.size, rows.length);
  for (const row of rows) assert.deepEqual(inOrder(found.get(row.event_id)!), inOrder(row));
}

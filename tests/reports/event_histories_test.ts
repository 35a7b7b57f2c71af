import fc from "fast-check";
import assert from "node:assert/strict";
import type { Sql } from "../../src/db/sql.ts";
import type { LoadedSegment } from "../../src/histories/loaded_segment.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { LISTED_TIES_MAX } from "../../src/limits.ts";
import { listInHistories } from "../../src/reports/event_histories.ts";
import {
  currentSnapshot,
  type EventSelection,
  readStoredEvents,
} from "../../src/reports/stored_events.ts";
import { type Filter, SESSION_FIELDS } from "../../src/selection/filters.ts";
import type { Range } from "../../src/selection/range.ts";
import type { BotChoice } from "../../src/selection/selection.ts";
import { createFold } from "../../src/sessions/fold.ts";
import type { MarkedHistories } from "../../src/walks/marked_histories.ts";
import type { Read } from "../../src/walks/read.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { followedHistories, historiesOf, NO_HISTORIES } from "../support/read_histories.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "./session_world.ts";

const HOUR_MS = 3_600_000;
const OF_PAGES: Filter = { field: "name", op: "is", values: ["page_view"] };
/** What only the tables are asked for. */
const OF_FACTS = "event_id IN (SELECT f.event_id FROM facts";

function rangeOf(fromMs: number, toMs: number): Range {
  const [from, to] = [new Date(fromMs), new Date(toMs)];
  return { from, to, timezone: "UTC", fromDate: null, toDate: null };
}

function selectionOf(
  filters: readonly Filter[],
  range: Range,
  folded: EventSelection["folded"],
  bots: BotChoice = "exclude",
): EventSelection {
  return {
    scope: { projectId: 1, siteHost: null, bots, filters },
    range,
    tail: null,
    folded,
  };
}

/** Notes the statements that are run. */
function heard(sql: Sql): { sql: Sql; statements: string[] } {
  const statements: string[] = [];
  const query: Sql["query"] = (text, params) => {
    statements.push(text);
    return sql.query(text, params);
  };
  return { sql: { ...sql, query }, statements };
}

/** The ids of all pages. */
async function allIds(
  sql: Sql,
  selection: EventSelection,
  rows: number,
  histories: Read["histories"] | null,
): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor = null;;) {
    const page = await readStoredEvents(sql, selection, { cursor, rows }, histories);
    ids.push(...page.rows.map(({ event_id }) => event_id));
    const last = page.rows.at(-1);
    if (last === undefined || page.rows.length < rows) return ids;
    cursor = { at: last.occurred_at.toISOString(), eventId: last.event_id, snapshot: null };
  }
}

const filters = fc.oneof(
  fc.array(randomFilter(TOLD_FIELDS), { minLength: 1, maxLength: 2 }),
  fc.array(randomFilter([...TOLD_FIELDS, ...SESSION_FIELDS]), { minLength: 1, maxLength: 3 }),
);
const bots = fc.constantFrom<BotChoice>("exclude", "include", "only");
const hours = fc.integer({ min: -24, max: (WORLD_DAYS + 1) * 24 });
const bounds = fc.tuple(hours, hours).filter(([from, to]) => from < to);

onBothEngines("stored events: histories list what the tables list, page by page", async (_, db) => {
  // Many of one millisecond, of one actor and of several.
  const history = randomHistory(150).map((row, i) => {
    const ms = Date.parse(row.occurred_at);
    const occurredMs = i % 3 === 0 ? ms : ms - ms % (12 * HOUR_MS);
    return { ...row, occurred_at: new Date(occurredMs).toISOString() };
  });
  const database = await openWithHistory(db, history);
  const { histories } = followedHistories(database);
  let listed = 0;
  const asked = fc.asyncProperty(
    filters,
    bots,
    bounds,
    fc.integer({ min: 3, max: 60 }),
    async (filters, bots, [from, to], rows) => {
      const range = rangeOf(WORLD_FROM_MS + from * HOUR_MS, WORLD_FROM_MS + to * HOUR_MS);
      const selection = selectionOf(filters, range, null, bots);
      const { sql, statements } = heard(database);
      const ids = await allIds(sql, selection, rows, histories);
      assert.deepEqual(ids, await allIds(database, selection, 1_000, null));
      assert.ok(!statements.some((text) => text.includes(OF_FACTS)));
      if (ids.length > rows) listed++;
    },
  );
  await fc.assert(asked, { numRuns: 40 });
  assert.ok(listed > 0);
});

onBothEngines(
  "stored events: what came too late or is gone leaves no page of histories short",
  async (_, db) => {
    const database = await openWithProjects(db);
    const fold = createFold(database);
    const nowMs = Date.now();
    const store = async (ages: readonly number[]) => {
      const rows = ages.map((age) =>
        newRow({
          anonymous_id: "a",
          name: "page_view",
          occurred_at: new Date(nowMs - age * 1_000).toISOString(),
        })
      );
      await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
      return rows.map(({ event_id }) => event_id);
    };
    const seconds = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => from + i);
    const old = await store(seconds(30, 50));
    const folded = { at: new Date().toISOString(), snapshot: await currentSnapshot(database) };
    await store(seconds(0, 25));
    await fold.catchUp(1);
    await database.query("DELETE FROM events WHERE event_id = ANY($1::text::uuid[])", [
      `{${old.slice(2, 12).join(",")}}`,
    ]);
    const range = rangeOf(nowMs - HOUR_MS, nowMs + HOUR_MS);
    const selection = selectionOf([OF_PAGES], range, folded);
    const page = { cursor: null, rows: 3 };
    const { sql, statements } = heard(database);
    const { rows } = await readStoredEvents(sql, selection, page, historiesOf(database));
    assert.deepEqual(rows.map(({ event_id }) => event_id), [old[0], old[1], old[12]]);
    assert.ok(!statements.some((text) => text.includes(OF_FACTS)));
    const ids = await allIds(sql, selection, 3, historiesOf(database));
    assert.deepEqual(ids, [...old.slice(0, 2), ...old.slice(12)]);
    assert.ok(!statements.some((text) => text.includes(OF_FACTS)));
  },
);

onBothEngines("stored events: what histories do not tell is asked of the facts", async (_, db) => {
  const database = await openWithHistory(db, randomHistory(60));
  const range = rangeOf(WORLD_FROM_MS, WORLD_FROM_MS + WORLD_DAYS * 24 * HOUR_MS);
  const page = { cursor: null, rows: 2 };
  const pointed: Filter = { field: "properties.x", op: "not_exists", values: [] };
  for (
    const [filter, histories] of [
      [pointed, historiesOf(database)],
      [OF_PAGES, NO_HISTORIES],
    ] as const
  ) {
    const { sql, statements } = heard(database);
    const { rows } = await readStoredEvents(
      sql,
      selectionOf([filter], range, null),
      page,
      histories,
    );
    assert.equal(rows.length, 2);
    assert.equal(statements.filter((text) => text.includes(OF_FACTS)).length, 1);
  }
});

onBothEngines(
  "stored events: too many of one millisecond are left to the tables",
  async (_, db) => {
    const database = await openWithProjects(db);
    const listOf = async (events: number) => {
      const column = (value: number) => new Int32Array(events).fill(value);
      const segment: LoadedSegment = {
        segmentId: 1,
        fromMs: WORLD_FROM_MS,
        toMs: WORLD_FROM_MS,
        identities: Int32Array.of(1),
        starts: Uint32Array.of(0, events),
        times: new Uint32Array(events),
        names: column(1),
        paths: column(0),
        contexts: column(1),
        traffics: column(0),
        depths: new Float64Array(),
        scrolls: new Uint32Array(),
        nameBits: Int32Array.of(-1),
        marks: column(0),
      };
      const histories: MarkedHistories = {
        projectId: 1,
        segments: [segment],
        actorOf: Int32Array.of(0, 1),
        runs: (find) => find(),
        bits: new Map(),
        property: () => assert.fail("no property is asked for"),
        seldom: () => assert.fail("no title is asked for"),
      };
      const elsewhere: Filter = { field: "path", op: "is_not", values: ["/a"] };
      const { scope } = selectionOf([elsewhere], rangeOf(0, 1), null);
      const span = { fromMs: WORLD_FROM_MS, toMs: WORLD_FROM_MS + 1 };
      const source = { sql: database, scope, histories: () => Promise.resolve(histories) };
      return await listInHistories(source, span, { ms: span.toMs, id: null }, 5);
    };
    assert.equal(await listOf(LISTED_TIES_MAX + 6), null);
    // There is no such segment: only who would list them looks for their ids.
    await assert.rejects(listOf(LISTED_TIES_MAX + 5), /gone/);
  },
);

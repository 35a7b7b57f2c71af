import fc from "fast-check";
import assert from "node:assert/strict";
import type { Param, Sql } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { JOURNAL_KEPT_MS } from "../../../src/store/store_limits.ts";
import { purgeJournal } from "../../../src/ingest/retention.ts";
import { LISTED_ROWS_AT_ONCE } from "../../../src/limits.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { listEvents, type ListSource } from "../../../src/reports/events/event_list.ts";
import type { ListPlace } from "../../../src/reports/events/list_place.ts";
import { JOURNAL_LIST_LIMITS } from "../../../src/reports/events/list_limits.ts";
import { PENDING_ROWS } from "../../../src/reports/answer/projected_state.ts";
import { type Filter, onEvents, SESSION_FIELDS } from "../../../src/query/filters.ts";
import { type BotChoice, isNarrowed, type Span } from "../../../src/query/selection.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { STORED_ROW } from "../../../src/store/stored_journal.ts";
import { onBothEngines } from "../../support/databases.ts";
import { withMembers } from "../../support/fake_sql.ts";
import { casesOn } from "../../support/engine_cases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "../session_world.ts";
import { countingBlocks, newestFirst, sourceOf } from "./listed_events.ts";

const HOUR_MS = 3_600_000;

/** Returns the ids of all pages of `rows` rows each. */
async function allIds(source: ListSource, span: Span, rows: number): Promise<string[]> {
  const ids: string[] = [];
  for (let place: ListPlace = { ms: span.toMs, id: null };;) {
    const page = await listEvents(source, span, place, rows);
    ids.push(...page.map(({ event_id }) => event_id));
    const last = page.at(-1);
    if (last === undefined || page.length < rows) return ids;
    place = { ms: Date.parse(last.occurred_at), id: last.event_id };
  }
}

const filters = fc.oneof(
  fc.array(randomFilter(TOLD_FIELDS), { minLength: 0, maxLength: 2 }),
  fc.array(randomFilter([...TOLD_FIELDS, ...SESSION_FIELDS]), { minLength: 1, maxLength: 3 }),
);
const ANY_NAME: Filter = { field: "name", op: "is_not", values: ["none"] };
const bots = fc.constantFrom<BotChoice>("exclude", "include", "only");
const hours = fc.integer({ min: -24, max: (WORLD_DAYS + 1) * 24 });
const bounds = fc.tuple(hours, hours).filter(([from, to]) => from < to);

onBothEngines("stored events: pages of any length are those of one list", async (_, db) => {
  // Many of one millisecond, of one actor and of several.
  const history = randomHistory(150).map((row, i) => {
    const ms = Date.parse(row.occurred_at);
    const occurredMs = i % 3 === 0 ? ms : ms - ms % (12 * HOUR_MS);
    return { ...row, occurred_at: new Date(occurredMs).toISOString() };
  });
  const database = await openWithHistory(db, history);
  let listed = 0;
  let [pages, parts] = [0, 0];
  const asked = fc.asyncProperty(
    filters,
    bots,
    bounds,
    fc.integer({ min: 1, max: 60 }),
    async (filters, bots, [from, to], rows) => {
      const span = {
        fromMs: WORLD_FROM_MS + from * HOUR_MS,
        toMs: WORLD_FROM_MS + to * HOUR_MS,
      };
      const source = sourceOf(database, filters, bots);
      const isOfEvents = isNarrowed(source.scope) && onEvents(filters).length === filters.length;
      const timelines: typeof source.timelines = (...needs) => {
        if (isOfEvents) parts++;
        return source.timelines(...needs);
      };
      const ids = await allIds({ ...source, timelines, firstEvents: 10 }, span, rows);
      if (isOfEvents) pages += Math.floor(ids.length / rows) + 1;
      assert.deepEqual(ids, await allIds(source, span, 1_000));
      if (filters.length === 0) {
        const meant = history.filter(({ occurred_at, bot }) => {
          const ms = Date.parse(occurred_at);
          return ms >= span.fromMs && ms < span.toMs &&
            (bots === "include" || (bots === "only") === (bot === true));
        });
        assert.deepEqual(ids, newestFirst(meant));
      }
      if (ids.length > rows) listed++;
    },
  );
  await fc.assert(asked, {
    numRuns: casesOn(database, 40),
    // Two that surely have several pages, one of them in parts.
    examples: [
      [[], "include", [-24, (WORLD_DAYS + 1) * 24], 60],
      [[ANY_NAME], "include", [-24, (WORLD_DAYS + 1) * 24], 60],
    ],
  });
  assert.ok(listed > 0);
  assert.ok(parts > pages, `${parts} parts of ${pages} pages`);
});

onBothEngines(
  "stored events: those that are not projected yet are listed among the others",
  async (t, db) => {
    const database = await openWithProjects(db);
    const projection = createProjection(database);
    const startMs = Date.parse("2026-03-01T10:00:00Z");
    const rows = Array.from({ length: 30 }, (_, i) =>
      newRow({
        anonymous_id: `a${i % 4}`,
        name: "page_view",
        // Several in one second, stored in two halves that lie among each other.
        occurred_at: new Date(startMs + Math.floor(i * 7 % 30 / 4) * 1_000).toISOString(),
      }));
    const store = async (part: readonly EventRow[]) =>
      void await insertEvents(
        database,
        part,
      );
    await store(rows.slice(0, 15));
    await projection.catchUp(1);
    await store(rows.slice(15));
    const span = { fromMs: startMs, toMs: startMs + HOUR_MS };
    for (const length of [4, 100]) {
      await t.step(`in pages of ${length}`, async () => {
        const ids = await allIds(sourceOf(database), span, length);
        assert.deepEqual(ids, newestFirst(rows));
      });
    }
    await t.step("but not with filters", async () => {
      const everything: Filter = { field: "name", op: "is", values: ["page_view"] };
      const ids = await allIds(sourceOf(database, [everything]), span, 7);
      assert.deepEqual(ids, newestFirst(rows.slice(0, 15)));
    });
  },
);

onBothEngines(
  "stored events: more of one millisecond than are read at once",
  async (_, db) => {
    const database = await openWithProjects(db);
    const atMs = Date.parse("2026-03-01T10:00:00Z");
    const occurred_at = new Date(atMs).toISOString();
    const rows = Array.from(
      { length: LISTED_ROWS_AT_ONCE + 20 },
      () => newRow({ anonymous_id: "a", occurred_at }),
    );
    await insertEvents(database, rows);
    await createProjection(database).catchUp(1);
    const span = { fromMs: atMs, toMs: atMs + 1 };
    const first = await listEvents(sourceOf(database), span, { ms: span.toMs, id: null }, 5);
    const expected = newestFirst(rows);
    assert.deepEqual(first.map(({ event_id }) => event_id), expected.slice(0, 5));
    const place = { ms: atMs, id: expected[4]! };
    const next = await listEvents(sourceOf(database), span, place, 5);
    assert.deepEqual(next.map(({ event_id }) => event_id), expected.slice(5, 10));
  },
);

onBothEngines(
  "stored events: a page asks once how far the journal goes, and what it lacks of segments alone",
  async (_, db) => {
    const history = randomHistory(60);
    const database = await openWithHistory(db, history);
    await purgeJournal(database, new Date(Date.now() + JOURNAL_KEPT_MS + HOUR_MS));
    const span = { fromMs: WORLD_FROM_MS, toMs: WORLD_FROM_MS + WORLD_DAYS * 24 * HOUR_MS };
    const texts: string[] = [];
    const noted =
      <T>(ask: (text: string, params?: readonly Param[]) => Promise<T>) =>
      (text: string, params?: readonly Param[]) => {
        texts.push(text);
        return ask(text, params);
      };
    const sql = withMembers<Sql>(database, {
      query: noted(database.query.bind(database)) as Sql["query"],
      binary: noted(database.binary.bind(database)),
    });
    const sent = async (filters: Filter[], nowMs: number) => {
      const source = { ...sourceOf(database, filters, "include"), sql };
      texts.length = 0;
      await listEvents(source, span, { ms: span.toMs, id: null }, 5, nowMs);
      assert.equal(texts.filter((text) => text.includes("journal_lacks_to_ms")).length, 1);
      assert.ok(!texts.some((text) => text.includes('"isFew"')));
      // Those that ask for what is not projected ask for no other rows.
      return texts.filter((text) => text.includes(STORED_ROW) && !text.includes(PENDING_ROWS));
    };
    const lostMs = span.toMs + JOURNAL_KEPT_MS;
    const filter: Filter = { field: "name", op: "is_not", values: ["none"] };
    for (const filters of [[], [filter]]) assert.deepEqual(await sent(filters, lostMs), []);
    assert.equal((await sent([], lostMs - 1)).length, 1, "of recent events, it is asked ahead");
  },
);

onBothEngines(
  "stored events: only the journal blocks that may have events of the page are decoded",
  async (t, db) => {
    const database = await openWithProjects(db);
    const startMs = Date.parse("2026-03-01T00:00:00Z");
    const blocks = 60;
    const perBlock = 10;
    // A block an hour, in no order, one every six minutes.
    const rows = Array.from(
      { length: blocks * perBlock },
      (_, i) => newRow({ occurred_at: new Date(startMs + i * HOUR_MS / perBlock).toISOString() }),
    );
    const hourOf = (turn: number) => turn * 23 % blocks;
    for (let turn = 0; turn < blocks; turn++) {
      const part = rows.slice(hourOf(turn) * perBlock, (hourOf(turn) + 1) * perBlock);
      await insertEvents(database, part);
    }
    const ordered = newestFirst(rows);
    const span = { fromMs: startMs, toMs: startMs + blocks * HOUR_MS };
    const listed = async (
      place: ListPlace,
      length: number,
      within: Span = span,
      limits = JOURNAL_LIST_LIMITS,
    ) => {
      const counted = countingBlocks(database);
      const source = { ...sourceOf(database), sql: counted.sql, limits };
      const page = await listEvents(source, within, place, length);
      return [page.map(({ event_id }) => event_id), counted.decoded] as const;
    };
    await t.step("the first page", async () => {
      const page = await listed({ ms: span.toMs, id: null }, 2 * perBlock + 1);
      assert.deepEqual(page, [ordered.slice(0, 2 * perBlock + 1), 3]);
    });
    await t.step("a later one", async () => {
      const at = 30 * perBlock + 2;
      const place = { ms: Date.parse(rows.at(-1 - at)!.occurred_at), id: ordered[at]! };
      assert.deepEqual(await listed(place, 5), [ordered.slice(at + 1, at + 6), 1]);
    });
    await t.step("a short span, to its end", async () => {
      const fromMs = startMs + 10 * HOUR_MS;
      const within = { fromMs, toMs: fromMs + 2 * HOUR_MS };
      const [ids, decoded] = await listed({ ms: within.toMs, id: null }, 1_000, within);
      assert.deepEqual(ids, newestFirst(rows.slice(10 * perBlock, 12 * perBlock)));
      assert.equal(decoded, 2);
    });
    await t.step("the same of those that are projected", async () => {
      await createProjection(database).catchUp(1);
      assert.deepEqual(await listed({ ms: span.toMs, id: null }, 5), [ordered.slice(0, 5), 1]);
    });
    await t.step(
      "as many blocks as the limits allow; beyond them the page comes from segments",
      async () => {
        const first = { ms: span.toMs, id: null };
        const page = ordered.slice(0, 2 * perBlock);
        const bound = { ...JOURNAL_LIST_LIMITS, blocksMax: 2, eventsMax: 2 * perBlock };
        const enough = { ...bound, blocksMax: 3, eventsMax: 2 * perBlock + 1 };
        // The block behind the page is fetched, and its time shows that it holds no event of the page.
        assert.deepEqual(await listed(first, page.length, span, bound), [page, 2]);
        const longer = ordered.slice(0, 2 * perBlock + 1);
        assert.deepEqual(await listed(first, longer.length, span, enough), [longer, 3]);
        for (
          const limits of [{ ...enough, blocksMax: 2 }, { ...enough, eventsMax: 2 * perBlock }]
        ) {
          assert.deepEqual(await listed(first, longer.length, span, limits), [longer, 2]);
        }
      },
    );
    await t.step("none if the journal has lost them and segments fill the page", async () => {
      const later = new Date(Date.now() + JOURNAL_KEPT_MS + HOUR_MS);
      assert.equal(await purgeJournal(database, later), blocks);
      const old = newRow({ occurred_at: new Date(startMs + 5).toISOString() });
      await insertEvents(database, [old]);
      assert.deepEqual(await listed({ ms: span.toMs, id: null }, 5), [ordered.slice(0, 5), 0]);
    });
  },
);

onBothEngines("stored events: blocks that overlap in time make one list", async (_, db) => {
  const database = await openWithProjects(db);
  const startMs = Date.parse("2026-03-01T00:00:00Z");
  let seed = 7;
  const below = (n: number): number => (seed = seed * 48_271 % 2_147_483_647) % n;
  const rows: EventRow[] = [];
  for (let block = 0; block < 70; block++) {
    // From a moment to most of the span, with many of one millisecond.
    const from = below(40);
    const width = 1 + below(block % 3 === 0 ? 40 : 3);
    const part = Array.from(
      { length: 1 + below(12) },
      () => newRow({ occurred_at: new Date(startMs + from + below(width)).toISOString() }),
    );
    await insertEvents(database, part);
    rows.push(...part);
    // Some events are projected, and lie among the others.
    if (block === 20) await createProjection(database).catchUp(1);
  }
  const span = { fromMs: startMs, toMs: startMs + 100 };
  for (const length of [5, 60, 1_000]) {
    assert.deepEqual(await allIds(sourceOf(database), span, length), newestFirst(rows));
  }
});

onBothEngines(
  "stored events: those that the journal has lost are listed after those it has",
  async (t, db) => {
    const database = await openWithProjects(db);
    const projection = createProjection(database);
    const startMs = Date.parse("2026-03-01T00:00:00Z");
    const rowAt = (minute: number) =>
      newRow({
        anonymous_id: `a${minute % 3}`,
        occurred_at: new Date(startMs + minute * 60_000).toISOString(),
      });
    const store = (rows: readonly EventRow[]) => insertEvents(database, rows);
    const old = Array.from({ length: 40 }, (_, i) => rowAt(i));
    await store(old);
    await projection.catchUp(1);
    await purgeJournal(database, new Date(Date.now() + JOURNAL_KEPT_MS + HOUR_MS));
    // Events before and after the last event that the journal has deleted; two of them are pending.
    const late = [10, 20, 39, 40, 50, 60].map(rowAt);
    await store(late);
    await projection.catchUp(1);
    const waiting = [5, 55].map(rowAt);
    await store(waiting);
    const expected = newestFirst([...old, ...late, ...waiting]);
    const span = { fromMs: startMs, toMs: startMs + 2 * HOUR_MS };
    for (const length of [1, 3, 7, 100]) {
      await t.step(`in pages of ${length}`, async () => {
        assert.deepEqual(await allIds(sourceOf(database), span, length), expected);
      });
    }
    await t.step("and is read from segments if a projected block is damaged", async () => {
      await database.query(
        `UPDATE journal SET block = decode('00', 'hex')
        WHERE project_id = 1 AND projected_at IS NOT NULL`,
      );
      assert.deepEqual(await allIds(sourceOf(database), span, 7), expected);
    });
  },
);

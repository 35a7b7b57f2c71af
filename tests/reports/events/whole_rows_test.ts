import assert from "node:assert/strict";
import type { Param, Row, Sql } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { JOURNAL_KEPT_MS } from "../../../src/store/store_limits.ts";
import { purgeJournal } from "../../../src/ingest/retention.ts";
import { eraseActor } from "../../../src/projection/erasure.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { listEvents } from "../../../src/reports/events/event_list.ts";
import { JOURNAL_LIST_LIMITS } from "../../../src/reports/events/list_limits.ts";
import type { Filter } from "../../../src/query/filters.ts";
import { findPerson } from "../../../src/query/person_id.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { JournalBlocks } from "../../../src/timelines/journal_blocks.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { withMembers } from "../../support/fake_sql.ts";
import { openWithHistory, randomHistory, WORLD_DAYS, WORLD_FROM_MS } from "../session_world.ts";
import { countingBlocks, newestFirst, sourceOf } from "./listed_events.ts";

const HOUR_MS = 3_600_000;

onBothEngines(
  "stored events: found events are the same from the journal and from segments",
  async (t, db) => {
    // Of one day, so that a list looks for them once; many of one millisecond, some of which pass a filter.
    const history = randomHistory(200).map((row, i) => {
      const ms = Math.floor((Date.parse(row.occurred_at) - WORLD_FROM_MS) / WORLD_DAYS);
      const occurredMs = WORLD_FROM_MS + (i % 3 === 0 ? ms : ms - ms % HOUR_MS);
      return { ...row, occurred_at: new Date(occurredMs).toISOString() };
    });
    const database = await openWithHistory(db, history);
    const span = { fromMs: WORLD_FROM_MS, toMs: WORLD_FROM_MS + 24 * HOUR_MS };
    const kinds: Filter[] = [
      { field: "name", op: "is", values: ["page_view"] },
      { field: "entryPath", op: "is", values: ["/", "/a"] },
    ];
    const listed = async (filter: Filter, limits = JOURNAL_LIST_LIMITS) => {
      const counted = countingBlocks(database);
      const source = {
        ...sourceOf(database, [filter], "include"),
        sql: telling(counted.sql),
        limits,
      };
      const page = await listEvents(source, span, { ms: span.toMs, id: null }, 500);
      return { page, decoded: counted.decoded };
    };
    const heads: string[] = [];
    const telling = (sql: Sql): Sql =>
      withMembers(sql, {
        async query<R extends Row>(text: string, params?: readonly Param[]) {
          const found = await sql.query<R>(text, params);
          for (const { head } of found) if (typeof head === "string") heads.push(head);
          return found;
        },
      });
    const [stored] = await database.query<{ rows: number }>(
      "SELECT count(*)::int AS rows FROM journal",
    );
    const { rows } = stored!;
    const pages = new Map<Filter, readonly EventRow[]>();
    for (const filter of kinds) {
      const { page, decoded } = await listed(filter);
      assert.ok(page.length > 20 && page.length < history.length && decoded === rows);
      pages.set(filter, page);
    }
    const fromSegments = async (limits = JOURNAL_LIST_LIMITS) => {
      for (const filter of kinds) {
        assert.deepEqual(await listed(filter, limits), { page: pages.get(filter), decoded: 0 });
      }
    };
    await t.step("if more rows overlap than may be decoded", async () => {
      const all = { ...JOURNAL_LIST_LIMITS, blocksMax: rows };
      for (const filter of kinds) assert.equal((await listed(filter, all)).decoded, rows);
      assert.ok(heads.length >= rows && heads.every((head) => head !== ""));
      heads.length = 0;
      await fromSegments({ ...all, blocksMax: rows - 1 });
      assert.ok(heads.length >= rows && heads.every((head) => head === ""), "no head is read");
      await fromSegments({ ...all, eventsMax: history.length - 1 });
    });
    await t.step("if a block is damaged", async () => {
      await database.query("UPDATE journal SET block = decode('00', 'hex') WHERE project_id = 1");
      for (const filter of kinds) assert.deepEqual((await listed(filter)).page, pages.get(filter));
    });
    await t.step("if the journal has lost them", async () => {
      await purgeJournal(database, new Date(Date.now() + JOURNAL_KEPT_MS + HOUR_MS));
      await fromSegments();
    });
  },
);

onBothEngines(
  "stored events: what the journal has lost is not taken for another event of its millisecond",
  async (_, db) => {
    const database = await openWithProjects(db);
    const projection = createProjection(database);
    const atMs = Date.parse("2026-03-01T00:00:00Z");
    const at = (ms: number, name: string) =>
      newRow({ name, occurred_at: new Date(ms).toISOString() });
    const lost = at(atMs, "buy");
    await insertEvents(database, [lost]);
    await projection.catchUp(1);
    await purgeJournal(database, new Date(Date.now() + JOURNAL_KEPT_MS + HOUR_MS));
    const late = [at(atMs, "search"), at(atMs + 1, "buy")];
    await insertEvents(database, late);
    await projection.catchUp(1);
    const buys: Filter = { field: "name", op: "is", values: ["buy"] };
    const span = { fromMs: atMs, toMs: atMs + HOUR_MS };
    const page = await listEvents(sourceOf(database, [buys]), span, { ms: span.toMs, id: null }, 9);
    assert.deepEqual(page.map(({ event_id }) => event_id), [late[1]!.event_id, lost.event_id]);
  },
);

onBothEngines(
  "stored events: if too many rows were stored after or before those of the page, it is read from segments",
  async (t, db) => {
    const database = await openWithProjects(db);
    const atMs = Date.parse("2026-03-01T00:00:00Z");
    const rows = 11;
    const listed = async (from: number, passedMax: number, countedMax = 0) => {
      const counted = countingBlocks(database);
      const filter: Filter = { field: "name", op: "is", values: ["buy"] };
      const limits = { ...JOURNAL_LIST_LIMITS, passedMax, countedMax };
      const source = { ...sourceOf(database, [filter]), sql: counted.sql, limits };
      const span = { fromMs: from, toMs: from + HOUR_MS };
      const page = await listEvents(source, span, { ms: from + 1, id: null }, 9);
      assert.equal(page.length, 1);
      return counted.decoded;
    };
    for (const [order, step] of Object.entries({ forwards: 1, backwards: -1 })) {
      await t.step(order, async () => {
        const fromMs = atMs + (step === 1 ? HOUR_MS : 0);
        for (let i = 0; i < rows; i++) {
          const at = step === 1 ? i : rows - 1 - i;
          const occurred_at = new Date(fromMs + at).toISOString();
          await insertEvents(database, [newRow({ name: "buy", occurred_at })]);
        }
        await createProjection(database).catchUp(1);
        assert.equal(await listed(fromMs, rows), 1);
        assert.equal(await listed(fromMs, rows - 2), 0);
        // As where the numbers in between are those of other projects.
        assert.equal(await listed(fromMs, rows - 2, rows - 1), 0);
        assert.equal(await listed(fromMs, rows - 2, rows), 1);
      });
      await database.query("DELETE FROM journal WHERE project_id = 1");
    }
  },
);

onBothEngines(
  "stored events: if most times have other events, too, the journal is abandoned soon",
  async (_, db) => {
    const database = await openWithProjects(db);
    const atMs = Date.parse("2026-03-01T00:00:00Z");
    const seconds = 20;
    const rowsOf = (name: string) =>
      Array.from(
        { length: seconds },
        (_, i) => newRow({ name, occurred_at: new Date(atMs + 1_000 * i).toISOString() }),
      );
    const buys = rowsOf("buy");
    // The latest row that is read has two events of each second.
    await insertEvents(database, buys);
    for (let i = 0; i < 5; i++) {
      await insertEvents(database, [...rowsOf("search"), ...rowsOf("scroll")]);
    }
    await createProjection(database).catchUp(1);
    const counted = countingBlocks(database);
    const filter: Filter = { field: "name", op: "is", values: ["buy"] };
    const source = { ...sourceOf(database, [filter]), sql: counted.sql };
    const span = { fromMs: atMs, toMs: atMs + HOUR_MS };
    const page = await listEvents(source, span, { ms: span.toMs, id: null }, seconds);
    assert.deepEqual(page.map(({ event_id }) => event_id), newestFirst(buys));
    assert.equal(counted.decoded, 1);
  },
);

onBothEngines(
  "stored events: blocks without a time of the page are not decoded; others once, until they change",
  async (t, db) => {
    const database = await openWithProjects(db);
    const atMs = Date.parse("2026-03-01T00:00:00Z");
    const flush = async (second: number, name: string, others = "joe") => {
      const rows = Array.from({ length: 5 }, (_, i) =>
        newRow({
          name,
          occurred_at: new Date(atMs + 1_000 * second + i).toISOString(),
          user_id: i < 3 ? "joe" : others,
        }));
      await insertEvents(database, rows);
      return rows;
    };
    const older = await flush(0, "buy", "jane");
    await flush(1, "search");
    const newer = await flush(2, "buy");
    await createProjection(database).catchUp(1);
    const journalBlocks = new JournalBlocks(100_000);
    const filter: Filter = { field: "name", op: "is", values: ["buy"] };
    const span = { fromMs: atMs, toMs: atMs + HOUR_MS };
    const listed = async (others: object = {}) => {
      const counted = countingBlocks(database);
      const source = { ...sourceOf(database, [filter]), sql: counted.sql, ...others };
      const page = await listEvents(source, span, { ms: span.toMs, id: null }, 20);
      return { page, decoded: counted.decoded };
    };
    const { page, decoded } = await listed({ journalBlocks });
    assert.deepEqual(page.map(({ event_id }) => event_id), newestFirst([...older, ...newer]));
    assert.equal(decoded, 2);
    await t.step("again, none is", async () => {
      assert.deepEqual(await listed({ journalBlocks }), { page, decoded: 0 });
      assert.deepEqual(await listed(), { page, decoded: 2 });
    });
    await t.step("one of whose people was erased is, and nothing of theirs is shown", async () => {
      const actor = await findPerson(database, 1, "jane");
      await database.transaction((tx) => eraseActor(tx, 1, actor!.actor_id));
      const again = await listed({ journalBlocks });
      assert.equal(again.decoded, 1);
      const left = [...older, ...newer].filter(({ user_id }) => user_id !== "jane");
      assert.equal(left.length, 8);
      assert.deepEqual(again.page.map(({ event_id }) => event_id), newestFirst(left));
      assert.deepEqual(again, { ...await listed(), decoded: 1 });
    });
  },
);

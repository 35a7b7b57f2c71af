import fc from "fast-check";
import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import { LISTED_ROWS_AT_ONCE } from "../../../src/limits.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { listEvents, type ListPlace } from "../../../src/reports/events/event_list.ts";
import { type Filter, SESSION_FIELDS } from "../../../src/query/filters.ts";
import type { BotChoice, Span } from "../../../src/query/selection.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import type { Read } from "../../../src/scans/read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { historiesOf } from "../../support/read_histories.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "../session_world.ts";

const HOUR_MS = 3_600_000;
type Source = Pick<Read, "sql" | "scope" | "histories">;

function sourceOf(
  database: Database,
  filters: readonly Filter[] = [],
  bots: BotChoice = "exclude",
): Source {
  const scope = { projectId: 1, siteHost: null, bots, filters };
  return { sql: database, scope, histories: historiesOf(database) };
}

/** The ids of all pages of so many rows. */
async function allIds(source: Source, span: Span, rows: number): Promise<string[]> {
  const ids: string[] = [];
  for (let place: ListPlace = { ms: span.toMs, id: null };;) {
    const page = await listEvents(source, span, place, rows);
    ids.push(...page.map(({ event_id }) => event_id));
    const last = page.at(-1);
    if (last === undefined || page.length < rows) return ids;
    place = { ms: Date.parse(last.occurred_at), id: last.event_id };
  }
}

const newestFirst = (rows: readonly EventRow[]): string[] =>
  rows.toSorted((a, b) =>
    Date.parse(b.occurred_at) - Date.parse(a.occurred_at) || (a.event_id < b.event_id ? 1 : -1)
  ).map(({ event_id }) => event_id);

const filters = fc.oneof(
  fc.array(randomFilter(TOLD_FIELDS), { minLength: 0, maxLength: 2 }),
  fc.array(randomFilter([...TOLD_FIELDS, ...SESSION_FIELDS]), { minLength: 1, maxLength: 3 }),
);
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
  const asked = fc.asyncProperty(
    filters,
    bots,
    bounds,
    fc.integer({ min: 3, max: 60 }),
    async (filters, bots, [from, to], rows) => {
      const span = {
        fromMs: WORLD_FROM_MS + from * HOUR_MS,
        toMs: WORLD_FROM_MS + to * HOUR_MS,
      };
      const source = sourceOf(database, filters, bots);
      const ids = await allIds(source, span, rows);
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
  await fc.assert(asked, { numRuns: 40 });
  assert.ok(listed > 0);
});

onBothEngines(
  "stored events: what is not projected yet stands among the others",
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
        part.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1),
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
    await t.step("but not where filters are asked of it", async () => {
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
    await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
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

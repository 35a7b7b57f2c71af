import assert from "node:assert/strict";
import type { Project } from "../../../src/auth/projects.ts";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { Problem } from "../../../src/problem.ts";
import { PAGES } from "../../../src/reports/pages/pages.ts";
import { readFilters } from "../../../src/query/filters.ts";
import type { BotChoice, Scope } from "../../../src/query/selection.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { rowsOf } from "../../fixtures/read_case.ts";
import { answerAsked, type AskedRead } from "../../support/asked_read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { openWithProjects } from "../../support/event_rows.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

const PROJECT = { projectId: 1, id: "prj_one", timezone: "UTC" } as Project;

interface Asked {
  readonly filters?: readonly unknown[];
  readonly bots?: BotChoice;
  readonly limit?: number;
  readonly cursor?: string;
}

interface PageRow {
  readonly path: string;
  readonly [figure: string]: unknown;
}

interface Pages {
  readonly rows: PageRow[];
  readonly nextCursor: string | null;
}

function scopeOf({ filters = [], bots = "exclude" }: Asked): Scope {
  const query = new URLSearchParams({ filters: JSON.stringify(filters) });
  return { projectId: 1, siteHost: null, bots, filters: readFilters(query) };
}

function spanOf(day: string) {
  const fromMs = Date.parse(`${day}T00:00:00Z`);
  return { fromMs, toMs: fromMs + 86_400_000 };
}

/** The report on one UTC day. */
async function pagesOf(database: Database, day: string, asked: Asked = {}): Promise<Pages> {
  await createProjection(database).catchUp(1);
  const { limit = 100, cursor } = asked;
  const { fromMs, toMs } = spanOf(day);
  const read: Omit<AskedRead, "timelines"> = {
    sql: database,
    project: PROJECT,
    scope: scopeOf(asked),
    range: {
      from: new Date(fromMs),
      to: new Date(toMs),
      timezone: "UTC",
      fromDate: null,
      toDate: null,
    },
    interval: "day",
    comparison: null,
    query: new URLSearchParams(cursor === undefined ? {} : { cursor }),
    limit,
    visitorsMin: 1,
    asOfMs: Date.parse("2036-01-01T00:00:00Z"),
  };
  const { result } = await answerAsked(PAGES, { ...read, timelines: timelinesOf(database) });
  return result as unknown as Pages;
}

/** Rows of a day's events, with ids of their own. */
function eventsOf(day: string, events: readonly string[]): EventRow[] {
  return rowsOf({ day, events }).map((row) => ({
    ...row,
    event_id: `${day.replaceAll("-", "")}${row.event_id.slice(8)}`,
  }));
}

function rate(numerator: number, denominator: number) {
  return { value: denominator === 0 ? null : numerator / denominator, numerator, denominator };
}

/** A row of a page that nobody saw, began or ended at, but for the members given. */
function page(path: string, members: Record<string, unknown>): PageRow {
  return {
    path,
    visitors: 0,
    pageviews: 0,
    entries: 0,
    exits: 0,
    bounceRate: rate(0, 0),
    medianSecondsOnPage: null,
    medianScrollDepth: null,
    ...members,
  };
}

onBothEngines("pages", async (t, db) => {
  const database = await openWithProjects(db);
  const store = (day: string, events: readonly string[]) =>
    insertEvents(database, eventsOf(day, events));

  await t.step("figures of pages, by hand", async () => {
    const day = "2026-03-01";
    await store(day, [
      // 60 s on /home, to /pricing; 40 s there, to the session's end.
      "a1 10:00:00 page_view /home",
      "a1 10:00:30 scroll /home depth_px=500 document_height=1000",
      "a1 10:01:00 page_view /pricing",
      "a1 10:01:40 scroll /pricing depth_px=1500 document_height=1000",
      // A bounce of 50 s.
      "a2 11:00:00 page_view /home",
      "a2 11:00:20 scroll /home depth_px=900 document_height=1000",
      "a2 11:00:50 click /home",
      // No bounce, for its custom event; 40 s and 0 s.
      "a3 12:00:00 page_view /home",
      "a3 12:00:10 signup /home",
      "a3 12:00:40 page_view /home",
      // Lengths that say nothing, and no page at all.
      "a4 13:00:00 page_view",
      "a4 13:00:00 scroll /home depth_px=100 document_height=0",
      "a4 13:00:00 scroll /home document_height=1000",
    ]);
    await insertEvents(
      database,
      eventsOf(day, ["a9 10:00 page_view /home"]).map((row) => ({ ...row, project_id: 2 })),
    );
    assert.deepEqual(await pagesOf(database, day), {
      rows: [
        page("/home", {
          visitors: 3,
          pageviews: 4,
          entries: 3,
          exits: 2,
          bounceRate: rate(1, 3),
          medianSecondsOnPage: 45,
          medianScrollDepth: 0.7,
        }),
        page("/pricing", {
          visitors: 1,
          pageviews: 1,
          exits: 1,
          medianSecondsOnPage: 40,
          medianScrollDepth: 1,
        }),
      ],
      nextCursor: null,
    });
  });

  await t.step("sessions that cross the bounds", async () => {
    await store("2026-03-11", [
      "a11 2026-03-10T23:50 page_view /before",
      "a11 00:05 page_view /early",
      "a11 00:06 page_view /early",
      "a11 00:06:30 click /early",
      "a12 23:59 page_view /late",
      "a12 2026-03-12T00:04 page_view /after",
      "a12 2026-03-12T00:06 click /after",
    ]);
    assert.deepEqual((await pagesOf(database, "2026-03-11")).rows, [
      // The session began the day before: it has neither entry nor exit here. 60 s and 30 s.
      page("/early", { visitors: 1, pageviews: 2, medianSecondsOnPage: 45 }),
      page("/late", {
        visitors: 1,
        pageviews: 1,
        entries: 1,
        bounceRate: rate(0, 1),
        medianSecondsOnPage: 300,
      }),
      // Seen the day after, yet where a session of this day ends.
      page("/after", { exits: 1 }),
    ]);
  });

  await t.step("the longest pause of a session, across the bounds", async () => {
    await store("2026-06-11", [
      "a61 2026-06-10T23:45 page_view /before",
      "a61 00:15 page_view /same",
      "a62 2026-06-10T23:45 page_view /before",
      "a62 00:15:00.001 page_view /anew",
      "a63 23:45 page_view /late",
      "a63 2026-06-12T00:15 page_view /after",
    ]);
    const seen = { visitors: 1, pageviews: 1 };
    assert.deepEqual((await pagesOf(database, "2026-06-11")).rows, [
      page("/anew", {
        ...seen,
        entries: 1,
        exits: 1,
        bounceRate: rate(1, 1),
        medianSecondsOnPage: 0,
      }),
      page("/late", { ...seen, entries: 1, bounceRate: rate(0, 1), medianSecondsOnPage: 1_800 }),
      page("/same", { ...seen, medianSecondsOnPage: 0 }),
      page("/after", { exits: 1 }),
    ]);
  });

  await t.step("the next page view is the next, whatever the filters and bots", async () => {
    const day = "2026-03-21";
    await store(day, [
      "a31 10:00:00 page_view /home country=DE",
      "a31 10:00:20 page_view /other country=FR",
      "a31 10:01:00 page_view /home country=DE bot",
      "a32 10:00:00 page_view /home country=DE",
      "a32 10:00:10 page_view /home country=DE bot",
      "a32 10:01:40 click /home country=DE",
    ]);
    const filters = [{ field: "country", op: "is", values: ["DE"] }];
    assert.deepEqual((await pagesOf(database, day, { filters })).rows, [
      page("/home", {
        visitors: 2,
        pageviews: 2,
        entries: 2,
        exits: 2,
        bounceRate: rate(0, 2),
        medianSecondsOnPage: 15,
      }),
    ]);
    const bots = await pagesOf(database, day, { bots: "only" });
    assert.deepEqual(bots.rows, [
      page("/home", {
        visitors: 2,
        pageviews: 2,
        entries: 2,
        exits: 2,
        bounceRate: rate(0, 2),
        medianSecondsOnPage: 45,
      }),
    ]);
    const channels = [{ field: "entryPath", op: "is", values: ["/nowhere"] }];
    assert.deepEqual((await pagesOf(database, day, { filters: channels })).rows, []);
  });

  await t.step("page views without a session, and at the same moment", async () => {
    const day = "2026-04-01";
    await store(day, [
      "a41 10:00:00 page_view /job unsessioned",
      "a41 10:00:05 page_view /job unsessioned",
      "a42 10:00:00 page_view /twin id=1001",
      "a42 10:00:00 page_view /twin id=1002",
      "a42 10:00:08 click /twin id=1003",
    ]);
    assert.deepEqual((await pagesOf(database, day)).rows, [
      page("/job", { visitors: 1, pageviews: 2 }),
      page("/twin", {
        visitors: 1,
        pageviews: 2,
        entries: 1,
        exits: 1,
        bounceRate: rate(0, 1),
        medianSecondsOnPage: 4,
      }),
    ]);
  });

  await t.step("paged, the rows are those of the whole", async () => {
    const day = "2026-05-01";
    await store(day, [
      "a51 10:00 page_view /b",
      "a51 10:01 page_view /c",
      "a51 10:02 page_view /a",
      "a51 10:03 page_view /Z",
      "a52 10:00 page_view /c",
      "a52 10:01 page_view /d",
      "a52 10:02 page_view /d",
      "a52 2026-05-02T10:00 page_view /d",
    ]);
    const whole = await pagesOf(database, day);
    assert.deepEqual(whole.rows.map(({ path }) => path), ["/c", "/d", "/Z", "/a", "/b"]);
    assert.equal(whole.nextCursor, null);
    const rows: PageRow[] = [];
    for (let cursor: string | null = ""; cursor !== null;) {
      const part: Pages = await pagesOf(database, day, { limit: 2, cursor });
      assert.ok(part.rows.length === 2 || part.nextCursor === null);
      rows.push(...part.rows);
      cursor = part.nextCursor;
    }
    assert.deepEqual(rows, whole.rows);
    await assert.rejects(
      pagesOf(database, day, { cursor: "x" }),
      (error) => error instanceof Problem && error.options.errors?.[0]?.field === "cursor",
    );
  });
});

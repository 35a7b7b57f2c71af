import assert from "node:assert/strict";
import type { Project } from "../../../src/auth/projects.ts";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { changeOf } from "../../../src/reports/answer/changes.ts";
import { KPIS } from "../../../src/reports/kpis/kpis.ts";
import { readInterval } from "../../../src/query/buckets.ts";
import { readComparison } from "../../../src/query/comparison.ts";
import { readFilters } from "../../../src/query/filters.ts";
import { oneOf } from "../../../src/query/parameters.ts";
import { readRange } from "../../../src/query/range.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { answerAsked, type AskedRead } from "../../support/asked_read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

const PROJECT = { projectId: 1, id: "prj_one", timezone: "UTC" } as Project;
const AFTER_ALL = "2026-12-01T00:00:00Z";
const BOTS = ["exclude", "include", "only"] as const;

/** A read as the endpoint resolves it. */
function readOf(sql: Database, parameters: Record<string, string>, asOf = AFTER_ALL): AskedRead {
  const query = new URLSearchParams(parameters);
  const asOfMs = Date.parse(asOf);
  const range = readRange(query, PROJECT.timezone, asOfMs);
  const bots = oneOf(query, "bots", BOTS, "exclude");
  return {
    sql,
    project: PROJECT,
    scope: { projectId: 1, siteHost: null, bots, filters: readFilters(query) },
    range,
    interval: readInterval(query, range),
    comparison: readComparison(query, range, PROJECT.timezone, asOfMs),
    query,
    limit: 100,
    visitorsMin: 1,
    asOfMs,
    timelines: timelinesOf(sql),
  };
}

/** An event at a time of March 2026 (UTC) such as `02 10:00`. */
function event(who: string, at: string, name: string, members: Partial<EventRow> = {}): EventRow {
  const occurred_at = new Date(`2026-03-${at.replace(" ", "T")}Z`).toISOString();
  return newRow({ anonymous_id: who, occurred_at, name, path: "/", ...members });
}

const EVENTS: readonly EventRow[] = [
  // Known since the day before; a session of that day reaches into the range.
  event("ann", "01 23:50", "page_view"),
  event("ann", "02 00:10", "page_view", { path: "/x" }),
  event("ann", "02 10:00", "page_view"),
  event("ann", "02 10:01:30.500", "click"),
  event("ann", "02 10:02", "signup"),
  // A bounce; a session with a pause of just 30 minutes; and one a second past it, without a view.
  event("bob", "02 09:00", "page_view", { path: "/b" }),
  event("bob", "03 09:00", "page_view"),
  event("bob", "03 09:30", "page_view"),
  event("bob", "03 10:00:01", "scroll"),
  // Over midnight.
  event("cid", "03 23:59", "page_view"),
  event("cid", "04 00:01", "page_view"),
  // Bots, one of which was a person the next day.
  event("dot", "02 12:00", "page_view", { bot: true }),
  event("flo", "02 00:00", "page_view", { bot: true }),
  event("flo", "03 05:00", "page_view"),
  // Sent by a server: a visitor without a session.
  event("eve", "03 08:00", "refund", { in_session: false }),
  // The first and the last instants; a click does not save from bouncing.
  event("hal", "02 00:00", "page_view"),
  event("hal", "02 00:00:10", "click"),
  event("gus", "05 00:00", "page_view"),
  { ...event("ann", "02 11:00", "page_view"), project_id: 2 },
];

const RANGE = { from: "2026-03-02", to: "2026-03-04" };

const NOTHING = {
  visitors: 0,
  newVisitors: 0,
  sessions: 0,
  pageviews: 0,
  events: 0,
  bounceRate: { value: null, numerator: 0, denominator: 0 },
  sessionDuration: { meanSeconds: null, medianSeconds: null },
  pageviewsPerSession: null,
};

const TOTALS = {
  visitors: 6,
  newVisitors: 5,
  sessions: 7,
  pageviews: 9,
  events: 14,
  bounceRate: { value: 4 / 7, numerator: 4, denominator: 7 },
  // Durations 0, 0, 0, 10, 120, 120 and 1,800.
  sessionDuration: { meanSeconds: 2050 / 7, medianSeconds: 10 },
  pageviewsPerSession: 9 / 7,
};

const SERIES = [
  {
    start: "2026-03-02T00:00:00.000Z",
    label: "2026-03-02",
    complete: true,
    visitors: 3,
    newVisitors: 2,
    sessions: 3,
    pageviews: 4,
    events: 7,
    bounceRate: { value: 2 / 3, numerator: 2, denominator: 3 },
    sessionDuration: { meanSeconds: 130 / 3, medianSeconds: 10 },
    pageviewsPerSession: 4 / 3,
  },
  {
    start: "2026-03-03T00:00:00.000Z",
    label: "2026-03-03",
    complete: true,
    visitors: 4,
    // Not the one whom a bot's event made known the day before, though new in the range.
    newVisitors: 2,
    sessions: 4,
    pageviews: 4,
    events: 6,
    bounceRate: { value: 2 / 4, numerator: 2, denominator: 4 },
    sessionDuration: { meanSeconds: 480, medianSeconds: 60 },
    pageviewsPerSession: 1,
  },
  {
    ...NOTHING,
    start: "2026-03-04T00:00:00.000Z",
    label: "2026-03-04",
    complete: true,
    visitors: 1,
    pageviews: 1,
    events: 1,
  },
];

/** Floating-point figures to twelve digits. */
function rounded(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value),
    (_, member) => typeof member === "number" ? Number(member.toPrecision(12)) : member,
  );
}

/** The report: a scan tells the same as the rollups, where these hold the answer. */
// Tests look into replies of every shape.
// deno-lint-ignore no-explicit-any
async function ask(read: AskedRead): Promise<any> {
  const { result } = await answerAsked(KPIS, read);
  const scanned = await answerAsked(KPIS, { ...read, project: { ...read.project, timezone: "" } });
  assert.deepEqual(rounded(result), rounded(scanned.result));
  for (const [name, schema] of Object.entries(KPIS.reply)) schema.parse(result[name]);
  return rounded(result);
}

onBothEngines("GET /v1/kpis", async (t, db) => {
  const database = await openWithProjects(db);
  await insertEvents(database, EVENTS.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);
  await createProjection(database).catchUp(2);
  const totals = async (parameters: Record<string, string>) =>
    (await ask(readOf(database, { ...RANGE, ...parameters }))).totals;
  const filtered = (field: string, op: string, ...values: unknown[]) =>
    totals({ filters: JSON.stringify([{ field, op, values }]) });

  await t.step("totals and each day", async () => {
    const reply = await ask(readOf(database, RANGE));
    assert.deepEqual(reply, rounded({ totals: TOTALS, series: SERIES }));
  });

  await t.step("a bucket that spans the range equals the totals", async () => {
    const { totals, series } = await ask(readOf(database, { ...RANGE, interval: "month" }));
    assert.deepEqual(series, [{
      start: "2026-03-01T00:00:00.000Z",
      label: "2026-03",
      complete: false,
      ...totals,
    }]);
    assert.deepEqual(totals, rounded(TOTALS));
  });

  await t.step("nothing at all", async () => {
    const reply = await ask(readOf(database, { from: "2025-01-01", to: "2025-01-02" }));
    assert.equal(reply.series.length, 48);
    assert.deepEqual(reply.totals, NOTHING);
    for (const { start: _, label: __, complete, ...figures } of reply.series) {
      assert.deepEqual([complete, figures], [true, NOTHING]);
    }
  });

  await t.step("previous, and the change", async () => {
    const reply = await ask(readOf(database, { ...RANGE, compare: "previous" }));
    const { from, to, totals, series } = reply.previous;
    assert.deepEqual([from, to], ["2026-02-27T00:00:00.000Z", "2026-03-02T00:00:00.000Z"]);
    const before = {
      visitors: 1,
      newVisitors: 1,
      sessions: 1,
      pageviews: 1,
      events: 1,
      bounceRate: { value: 0, numerator: 0, denominator: 1 },
      // Whole: its last event lies past the range.
      sessionDuration: { meanSeconds: 1200, medianSeconds: 1200 },
      pageviewsPerSession: 1,
    };
    assert.deepEqual(totals, before);
    const shown = (label: string, figures: unknown) => ({
      start: `${label}T00:00:00.000Z`,
      label,
      complete: true,
      ...figures as object,
    });
    assert.deepEqual(series, [
      shown("2026-02-27", NOTHING),
      shown("2026-02-28", NOTHING),
      shown("2026-03-01", before),
    ]);
    assert.deepEqual(
      reply.change,
      rounded({
        visitors: 5,
        newVisitors: 4,
        sessions: 6,
        pageviews: 8,
        events: 13,
        bounceRate: null,
        bounceRatePoints: 4 / 7,
        sessionDuration: {
          meanSeconds: (2050 / 7 - 1200) / 1200,
          medianSeconds: (10 - 1200) / 1200,
        },
        pageviewsPerSession: 2 / 7,
      }),
    );
  });

  await t.step("an unfinished range is compared with the equally long beginning", async () => {
    const parameters = { ...RANGE, compare: "previous" };
    const reply = await ask(readOf(database, parameters, "2026-03-04T12:00:00Z"));
    assert.deepEqual(reply.totals, rounded(TOTALS));
    assert.deepEqual(
      reply.series.map(({ complete }: { complete: boolean }) => complete),
      [true, true, false],
    );
    assert.equal(reply.previous.to, "2026-03-01T12:00:00.000Z");
    assert.deepEqual(reply.previous.totals, NOTHING);
    assert.deepEqual(reply.previous.series.at(-1), { ...reply.previous.series.at(-1), ...NOTHING });
    assert.equal(reply.previous.series.at(-1).complete, false);
    assert.equal(reply.change.visitors, null);
    assert.deepEqual(reply.change.sessionDuration, { meanSeconds: null, medianSeconds: null });
  });

  await t.step("bots", async () => {
    const only = await totals({ bots: "only" });
    assert.deepEqual([only.visitors, only.newVisitors, only.sessions, only.events], [2, 2, 2, 2]);
    const all = await totals({ bots: "include" });
    assert.deepEqual([all.visitors, all.newVisitors, all.sessions, all.events], [7, 6, 9, 16]);
  });

  await t.step(
    "event filters: events are narrowed, sessions that have one count whole",
    async () => {
      const signup = await filtered("name", "is", "signup");
      assert.deepEqual(signup, {
        ...NOTHING,
        visitors: 1,
        sessions: 1,
        events: 1,
        bounceRate: { value: 0, numerator: 0, denominator: 1 },
        sessionDuration: { meanSeconds: 120, medianSeconds: 120 },
        pageviewsPerSession: 0,
      });
      // It lies in the range, its session begins before.
      const late = await filtered("path", "is", "/x");
      assert.deepEqual(late, { ...NOTHING, visitors: 1, pageviews: 1, events: 1 });
    },
  );

  await t.step(
    "session filters: events by their session, those without one by is_not",
    async () => {
      const landed = await filtered("entryPath", "is", "/b");
      assert.deepEqual([landed.visitors, landed.sessions, landed.events], [1, 1, 1]);
      const others = await filtered("entryPath", "is_not", "/b");
      assert.deepEqual([others.visitors, others.sessions, others.events], [6, 6, 13]);
    },
  );

  await t.step("hours of a clock change", async () => {
    await insertEvents(
      database,
      [
        newRow({ name: "page_view", anonymous_id: "zoe", occurred_at: "2026-10-25T00:30:00.000Z" }),
        newRow({ name: "page_view", anonymous_id: "zoe", occurred_at: "2026-10-25T01:30:00.000Z" }),
      ].toSorted((a, b) => a.event_id < b.event_id ? -1 : 1),
    );
    await createProjection(database).catchUp(1);
    const date = "2026-10-25";
    const parameters = { from: date, to: date, timezone: "Europe/Berlin" };
    const { totals, series } = await ask(readOf(database, parameters));
    assert.deepEqual([series.length, totals.visitors, totals.newVisitors], [25, 1, 1]);
    const hours = series.filter(({ visitors }: { visitors: number }) => visitors > 0)
      .map((bucket: Record<string, unknown>) => [bucket.start, bucket.label, bucket.newVisitors]);
    assert.deepEqual(hours, [
      ["2026-10-25T00:00:00.000Z", "2026-10-25 02:00", 1],
      ["2026-10-25T01:00:00.000Z", "2026-10-25 02:00", 0],
    ]);
  });
});

Deno.test("changeOf: null on a base of zero, and of nothing", () => {
  assert.equal(changeOf(3, 2), 0.5);
  assert.equal(changeOf(0, 4), -1);
  assert.equal(changeOf(3, 0), null);
  assert.equal(changeOf(null, 4), null);
  assert.equal(changeOf(4, null), null);
});

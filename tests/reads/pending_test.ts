import assert from "node:assert/strict";
import { type Database, ReplicaUnavailable } from "../../src/db/sql.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { getEvents } from "../../src/reports/events/events_endpoint.ts";
import { ExportSeats } from "../../src/reports/events/export_seats.ts";
import { snapshotBefore } from "../../src/reports/events/projected_place.ts";
import { createInsights } from "../../src/reports/insights/insights.ts";
import { KPIS } from "../../src/reports/kpis/kpis.ts";
import { getReport } from "../../src/reports/answer/report_endpoint.ts";
import { createNotificationReads } from "../../src/server/notification_reads.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { Json } from "../support/app.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects, PROJECT_ONE } from "../support/event_rows.ts";
import { IN_PLACE } from "../support/in_place.ts";

const NOW = "2026-03-02T12:00:00Z";

/** Page views of different visitors on one day. */
function views(first: number, count: number) {
  return Array.from({ length: count }, (_, i) =>
    newRow({
      anonymous_id: `a${first + i}`,
      name: "page_view",
      path: "/",
      occurred_at: `2026-03-01T10:00:00.${String(i).padStart(3, "0")}Z`,
    }));
}

/** Reads beside a projection that has stopped where it is. */
function stopped(database: Database, timezone = "UTC") {
  const services = {
    reads: database,
    projection: { catchUp: () => Promise.resolve(), catchUpWithin: () => Promise.resolve() },
    segments: new SegmentCache(0),
    pool: IN_PLACE,
    readTimeoutMs: 10_000,
    now: () => Date.parse(NOW),
  };
  const project = { ...PROJECT_ONE, timezone };
  const asked = (query: Record<string, string>, headers: HeadersInit = {}) => {
    const url = new URL(`http://x/v1/?${new URLSearchParams(query)}`);
    return { request: new Request(url, { headers }), url, params: {} };
  };
  return {
    services,
    kpis: (query: Record<string, string> = {}, headers: HeadersInit = {}) =>
      getReport(services, KPIS, { ...asked(query, headers), project }),
    insights: () =>
      getReport(services, createInsights({ basePath: "" }), { ...asked({}), project }),
    async events(query: Record<string, string>): Promise<Json> {
      const exports = new ExportSeats();
      const exchange = { ...asked(query), requestId: "r", peer: null, who: null };
      return await (await getEvents({ ...services, project, exports }, exchange)).json();
    },
  };
}

onBothEngines("pending: what is not counted yet is told, and nothing is made up", async (t, db) => {
  const database = await openWithProjects(db);
  const projection = createProjection(database);
  const reads = stopped(database);
  const range = { from: "2026-03-01", to: "2026-03-01" };

  await t.step("reads answer from what is projected", async () => {
    await insertEvents(database, views(0, 3));
    await projection.catchUp(1);
    await insertEvents(database, views(3, 5));
    await insertEvents(database, views(8, 7));
    const { pending, totals } = await (await reads.kpis(range)).json();
    assert.equal(pending, 12);
    assert.equal(totals.visitors, 3);
  });
  await t.step("what changed may be what is missing, which is said", async () => {
    const { query: { warnings } } = await (await reads.insights()).json();
    assert.deepEqual(warnings.map(({ code }: Json) => code), ["events_pending"]);
    assert.match(warnings[0].message, /^12 events are not counted yet/);
    assert.deepEqual((await (await reads.kpis(range)).json()).query.warnings, []);
  });
  await t.step("another ETag once they are counted, though the numbers are the same", async () => {
    const before = (await reads.kpis({ from: "2026-02-01", to: "2026-02-01" })).headers.get(
      "etag",
    )!;
    await projection.catchUp(1);
    const { pending, totals } = await (await reads.kpis(range)).json();
    assert.deepEqual([pending, totals.visitors], [0, 15]);
    assert.deepEqual((await (await reads.insights()).json()).query.warnings, []);
    const again = { "If-None-Match": before };
    const { status } = await reads.kpis({ from: "2026-02-01", to: "2026-02-01" }, again);
    assert.equal(status, 200);
  });
  await t.step("the list of stored events is whole", async () => {
    await insertEvents(database, views(20, 4));
    const { pending, events } = await reads.events({ ...range, limit: "1000" });
    assert.equal(pending, 4);
    assert.equal((events as Json[]).length, 19);
  });
  await t.step("with filters it is of what is counted, and its tail misses nothing", async () => {
    const filters = JSON.stringify([{ field: "channel", op: "is", values: ["Direct"] }]);
    const first = await reads.events({ ...range, filters, limit: "1000" });
    assert.deepEqual([first.pending, (first.events as Json[]).length], [4, 15]);
    await insertEvents(database, views(30, 2));
    const tail = async (after: unknown) =>
      await reads.events({ filters, after: String(after), limit: "1000" });
    const none = await tail(first.tailCursor);
    assert.deepEqual([none.pending, (none.events as Json[]).length], [6, 0]);
    await projection.catchUp(1);
    const all = await tail(none.tailCursor);
    assert.deepEqual([all.pending, (all.events as Json[]).length], [0, 6]);
    const after = await tail(all.tailCursor);
    assert.deepEqual([after.pending, (after.events as Json[]).length], [0, 0]);
  });
});

onBothEngines("pending: a read waits for the projection, but not for long", async (_t, db) => {
  const database = await openWithProjects(db);
  await insertEvents(database, views(0, 3));
  const services = {
    reads: database,
    projection: {
      catchUp: () => Promise.reject(new Error("not asked for")),
      catchUpWithin: (_projectId: number, msMax: number) => {
        assert.ok(msMax < 1_000);
        return Promise.resolve();
      },
    },
    segments: new SegmentCache(0),
    pool: IN_PLACE,
    readTimeoutMs: 10_000,
    now: () => Date.parse(NOW),
  };
  const url = new URL("http://x/v1/kpis?from=2026-03-01&to=2026-03-01");
  const asked = { request: new Request(url), url, params: {}, project: PROJECT_ONE };
  const { pending, totals } = await (await getReport(services, KPIS, asked)).json();
  assert.deepEqual([pending, totals.visitors], [3, 0]);
});

onBothEngines(
  "pending: what a replica lacks is told, and nothing is made of it",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const lagging = () => Promise.resolve(() => Promise.resolve(3));
    const check = () => Promise.resolve();
    const status = () => Promise.resolve("behind" as const);
    const replica = { lagging, check, assertOurs: check, status };
    const services = { ...stopped(database).services, replica, database };
    const url = new URL("http://x/v1/events");
    const headers = { Accept: "application/x-ndjson" };
    const exchange = { request: new Request(url, { headers }), url, params: {}, requestId: "r" };
    const context = { ...services, project: PROJECT_ONE, exports: new ExportSeats() };
    const exported = getEvents(context, { ...exchange, peer: null, who: null });
    await assert.rejects(exported, ReplicaUnavailable);

    const told = createNotificationReads(services, new AbortController().signal);
    const span = { fromMs: 0, toMs: Date.parse(NOW), timezone: "UTC" };
    assert.equal(await told.isBehind(PROJECT_ONE, span), true);
    assert.equal((await told.read(PROJECT_ONE, "kpis", {})).pending, 3);
  },
);

onBothEngines(
  "pending: while history is counted by other days, reads do without the rollups",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const projection = createProjection(database);
    // 23:30 in UTC is the next day in Berlin.
    await insertEvents(
      database,
      views(0, 2).map((row) => ({ ...row, occurred_at: "2026-02-28T23:30:00Z" })),
    );
    await projection.catchUp(1);
    await database.script("UPDATE projects SET timezone = 'Europe/Berlin'");
    const reads = stopped(database, "Europe/Berlin");
    const visitors = async (day: string) =>
      (await (await reads.kpis({ from: day, to: day })).json()).totals.visitors;
    const told = async () => [await visitors("2026-02-28"), await visitors("2026-03-01")];
    assert.deepEqual(await told(), [0, 2]);
    await database.script("UPDATE projections SET timezone = NULL, recounted_to = 1");
    assert.deepEqual(await told(), [0, 2]);
    await projection.catchUp(1);
    assert.deepEqual(await told(), [0, 2]);
  },
);

Deno.test("pending: a snapshot before a transaction shows nothing that it stored, or those after it", () => {
  assert.equal(snapshotBefore("10:10:", 12n), "10:10:");
  assert.equal(snapshotBefore("20:20:", 12n), "12:12:");
  assert.equal(snapshotBefore("10:20:10,15", 12n), "10:12:10");
  assert.equal(snapshotBefore("13:20:13,15", 12n), "12:12:");
  assert.equal(snapshotBefore("10:20:10,12", 12n), "10:12:10");
});

import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { LIVE } from "../../../src/reports/live/live.ts";
import { LiveFeed } from "../../../src/reports/live/live_feed.ts";
import { getReport, type ReadRequest } from "../../../src/reports/answer/report_endpoint.ts";
import { SegmentCache } from "../../../src/timelines/segment_cache.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { asked, FOR_EVER, isProblem, Messages } from "./live_stream.ts";
import { IN_PLACE } from "../../support/in_place.ts";

const NOW = "2026-03-02T12:00:30.000Z";

/** An event of somebody at a time of the day. */
function event(who: string, at: string, members: Partial<EventRow> = {}): EventRow {
  const occurred_at = new Date(`2026-03-02T${at}Z`).toISOString();
  return newRow({ anonymous_id: who, name: "page_view", path: "/", occurred_at, ...members });
}

const store = (database: Database, rows: EventRow[]) =>
  insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));

onBothEngines("live: the visitors up to now", async (t, db) => {
  const database = await openWithProjects(db);
  const services = {
    reads: database,
    projection: createProjection(database),
    segments: new SegmentCache(0),
    pool: IN_PLACE,
    readTimeoutMs: 10_000,
    now: () => Date.parse(NOW),
  };
  const read = (one: ReadRequest) => getReport(services, LIVE, one);
  // deno-lint-ignore no-explicit-any
  const live = async (search = ""): Promise<any> => (await read(asked(search))).json();
  await store(database, [
    // Both ends of five minutes, and just before them.
    event("ann", "12:00:30.000"),
    event("bob", "11:55:30.000", { path: "/b" }),
    event("cat", "11:55:29.999", { path: "/b" }),
    // Both ends of thirty minutes, and just outside.
    event("dan", "11:30:30.000"),
    event("eve", "11:30:29.999"),
    event("fay", "12:00:30.001"),
    // The same person again, by another name of event; nowhere; a bot; another project.
    event("ann", "11:58:00", { name: "signup", path: "/a" }),
    event("gus", "11:58:30", { path: null }),
    event("bot", "11:59:00", { bot: true, path: "/bots" }),
    event("hal", "11:59:00", { project_id: 2 }),
  ]);

  await t.step("events that are not projected yet count, each visitor once", async () => {
    const { visitors, pages } = await live();
    // ann, bob, gus; and with them cat and dan.
    assert.deepEqual(visitors, { last5Minutes: 3, last30Minutes: 5 });
    assert.deepEqual(pages, [
      { path: "/", visitors: 1 },
      { path: "/a", visitors: 1 },
      { path: "/b", visitors: 1 },
    ]);
  });

  await t.step("page views by minute, without gaps, in local time", async () => {
    const { series } = await live();
    assert.equal(series.length, 30);
    assert.deepEqual(series[0], {
      start: "2026-03-02T11:31:00.000Z",
      label: "2026-03-02 12:31",
      complete: true,
      pageviews: 0,
    });
    assert.deepEqual(series.at(-1), {
      start: "2026-03-02T12:00:00.000Z",
      label: "2026-03-02 13:00",
      complete: false,
      pageviews: 1,
    });
    const counts = Object.fromEntries(
      // deno-lint-ignore no-explicit-any
      series.filter((one: any) => one.pageviews > 0).map((one: any) => [one.label, one.pageviews]),
    );
    assert.deepEqual(counts, {
      "2026-03-02 12:55": 2,
      "2026-03-02 12:58": 1,
      "2026-03-02 13:00": 1,
    });
    for (const [name, schema] of Object.entries(LIVE.reply)) schema.parse((await live())[name]);
  });

  await t.step("bots and filters narrow, a bad parameter is refused", async () => {
    assert.deepEqual((await live("&bots=only")).visitors, { last5Minutes: 1, last30Minutes: 1 });
    const filters = encodeURIComponent('[{"field":"path","op":"is","values":["/b"]}]');
    const { visitors, pages } = await live(`&filters=${filters}`);
    assert.deepEqual(visitors, { last5Minutes: 1, last30Minutes: 2 });
    assert.deepEqual(pages, [{ path: "/b", visitors: 1 }]);
    await assert.rejects(live("&bots=some"), isProblem("invalid_parameter"));
  });

  await t.step("ten pages at most, by visitors and then by path", async () => {
    const rows = Array.from({ length: 12 }, (_, i) => event("ivy", "12:00:01", { path: `/p${i}` }));
    await store(database, [...rows, event("jon", "12:00:02", { path: "/p9" })]);
    const { pages } = await live();
    assert.equal(pages.length, 10);
    assert.deepEqual(pages.slice(0, 4).map(({ path }: { path: string }) => path), [
      "/p9",
      "/",
      "/a",
      "/b",
    ]);
  });

  await t.step(
    "the ETag depends on the result, not on the time",
    async () => {
      let nowMs = Date.parse(NOW) + 100;
      const etagAt = async () => {
        const later = { ...services, now: () => nowMs };
        const response = await getReport(later, LIVE, asked());
        await response.body?.cancel();
        return response.headers.get("etag");
      };
      const first = await etagAt();
      nowMs += 1_000;
      assert.equal(await etagAt(), first);
      await store(database, [event("kim", "12:00:31")]);
      assert.notEqual(await etagAt(), first);
    },
  );

  await t.step("a stream sends an update for an event that was stored meanwhile", async () => {
    const log = { warn: (message: string) => assert.fail(message) };
    const feed = new LiveFeed({ read, log, now: Date.now, intervalMs: 20 });
    const messages = new Messages(await feed.answer(asked(), FOR_EVER));
    // deno-lint-ignore no-explicit-any
    const before = await messages.data() as any;
    await store(database, [event("liz", "12:00:20")]);
    // deno-lint-ignore no-explicit-any
    const after = await messages.data() as any;
    assert.equal(after.visitors.last5Minutes, before.visitors.last5Minutes + 1);
    assert.deepEqual(Object.keys(after), Object.keys(await live()));
    await messages.leave();
    await feed.close();
  });
});

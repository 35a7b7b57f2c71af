import assert from "node:assert/strict";
import { randomText } from "../../src/auth/random_text.ts";
import { createDaily, deleteOldCaptures } from "../../src/screenshots/queue/capture_daily.ts";
import { createCaptureSchedule } from "../../src/screenshots/queue/capture_schedule.ts";
import {
  mostVisitedPaths,
  planOf,
  trackedHosts,
} from "../../src/screenshots/queue/visited_paths.ts";
import type { Database } from "../../src/db/sql.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { createProjection } from "../../src/projection/projection.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";
import { IN_PLACE } from "../support/in_place.ts";

const THREE = Date.parse("2026-11-22T03:00:00Z");
const MINUTE = 60_000;
const DAY = 86_400_000;

/** A page view of somebody, a day before. */
function view(who: string, path: string, members: Partial<EventRow> = {}): EventRow {
  return newRow({
    name: "page_view",
    anonymous_id: who,
    occurred_at: new Date(THREE - DAY).toISOString(),
    host: "shop.example",
    path,
    ...members,
  });
}

async function store(database: Database, rows: EventRow[]): Promise<void> {
  await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);
}

const visitsOf = (reads: Database) => ({
  reads,
  segments: new SegmentCache(1_000_000),
  pool: IN_PLACE,
});

/** A server's part in the daily job, by a clock of its own. */
class Server {
  wakes = 0;
  readonly told: string[] = [];
  readonly ask: () => Promise<void>;

  /** Projects whose events cannot be counted now. */
  readonly failing = new Set<number>();

  constructor(database: Database, public nowMs = THREE - MINUTE) {
    const tell = (message: string) => void this.told.push(message);
    const projection = createProjection(database);
    this.ask = createDaily({
      sql: database,
      ...visitsOf(database),
      projection: {
        catchUpWithin: (projectId, msMax) =>
          this.failing.has(projectId)
            ? Promise.reject(new Error("it cannot be counted"))
            : projection.catchUpWithin(projectId, msMax),
      },
      now: () => this.nowMs,
      schedule: createCaptureSchedule("0 3 * * *"),
      newJobId: () => `job_${randomText(20)}`,
      queued: () => void this.wakes++,
      log: { info: tell, error: tell },
    });
  }
}

async function queued(database: Database): Promise<string[]> {
  const rows = await database.query<{ project_id: number; path: string; device: string }>(
    "SELECT project_id, path, device FROM capture_tasks ORDER BY project_id, path, device",
  );
  return rows.map(({ project_id, path, device }) => `${project_id} ${path} ${device}`);
}

onBothEngines("daily captures", async (t, db) => {
  const database = await openWithProjects(db);
  await database.script(
    "UPDATE projects SET site_url = 'https://shop.example' WHERE project_id = 1",
  );
  const old = new Date(THREE - 31 * DAY).toISOString();
  await store(database, [
    ...["ann", "bob", "cat"].map((who) => view(who, "/pricing")),
    ...["ann", "bob"].map((who) => view(who, "/")),
    ...Array.from({ length: 5 }, () => view("ann", "/about")),
    view("ann", "/contact"),
    ...["ann", "bob", "cat", "dan"].flatMap((who) => [
      view(who, "/logout"),
      view(who, "//elsewhere.example/"),
      view(who, "/old", { occurred_at: old }),
      view(who, "/bots", { bot: true }),
      view(who, "/other", { project_id: 2 }),
      view(who, "/clicked", { name: "click" }),
    ]),
    view("dan", "/pricing", { host: "www.shop.example" }),
    view("dan", "/pricing", { host: null }),
    view("bot", "/pricing", { host: "bots.example", bot: true }),
    view("dan", "/pricing", { host: "old.example", occurred_at: old }),
  ]);

  await t.step("the most visited pages, by people, of late", async () => {
    const selection = await mostVisitedPaths(visitsOf(database), 1, THREE);
    const paths = ["/pricing", "/", "/about", "/contact"];
    assert.deepEqual(selection, { paths, isFull: false });
  });

  await t.step("the hosts of a page's own events, the usual one first", async () => {
    const hosts = await trackedHosts(visitsOf(database), 1, "/pricing", THREE);
    assert.deepEqual(hosts, ["shop.example", "www.shop.example"]);
    assert.deepEqual(await trackedHosts(visitsOf(database), 1, "/nowhere", THREE), []);
    assert.deepEqual(await trackedHosts(visitsOf(database), 2, "/pricing", THREE), []);
    await store(database, [view("ann", "/café")]);
    assert.deepEqual(await trackedHosts(visitsOf(database), 1, "/caf%C3%A9", THREE), [
      "shop.example",
    ]);
    assert.deepEqual(await trackedHosts(visitsOf(database), 1, "/%E0%A4%A", THREE), []);
    const seldom = [0.5, 3, 4, 20].map((days, i) =>
      view("ann", "/seldom", {
        project_id: 2,
        occurred_at: new Date(THREE - days * DAY).toISOString(),
        host: ["day.example", "week.example", "week.example", "month.example"][i]!,
      })
    );
    await store(database, seldom);
    await createProjection(database).catchUp(2);
    const ofAll = ["week.example", "day.example", "month.example"];
    assert.deepEqual(await trackedHosts(visitsOf(database), 2, "/seldom", THREE), ofAll);
  });

  const page = { path: "/about", device: "tablet", isVisited: true } as const;
  await t.step("before the first run, what is visited is expected to be taken", async () => {
    assert.deepEqual(await planOf(database, 1, page), { queuedFor: null, isDaily: true });
    const unseen = await planOf(database, 1, { ...page, path: "/unseen", isVisited: false });
    assert.equal(unseen.isDaily, false);
    assert.equal((await planOf(database, 1, { ...page, path: "/logout" })).isDaily, false);
  });

  await t.step("queued when the schedule says, once however many servers ask", async () => {
    const servers = [new Server(database), new Server(database), new Server(database)];
    await servers[0]!.ask();
    for (const server of servers) server.nowMs = THREE - 1;
    await Promise.all(servers.map(({ ask }) => ask()));
    assert.deepEqual(await queued(database), []);
    for (const server of servers) server.nowMs = THREE + 10;
    await Promise.all(servers.map(({ ask }) => ask()));
    const devices = ["desktop", "mobile", "tablet"];
    const paths = ["/", "/about", "/caf%C3%A9", "/contact", "/pricing"];
    const pages = paths.flatMap((path) => devices.map((device) => `1 ${path} ${device}`));
    assert.deepEqual(await queued(database), pages, "of the project with a site URL alone");
    assert.equal((await database.query("SELECT FROM capture_jobs")).length, 1);
    assert.equal(servers.reduce((sum, { wakes }) => sum + wakes, 0), 1);
    for (const server of servers) server.nowMs += MINUTE;
    await Promise.all(servers.map(({ ask }) => ask()));
    assert.equal((await database.query("SELECT FROM capture_jobs")).length, 1);
    const { queuedFor, isDaily } = await planOf(database, 1, page);
    assert.deepEqual([queuedFor?.getTime(), isDaily], [THREE + 10, true]);
  });

  await t.step("the next day anew; what still waits is not queued twice", async () => {
    const late = new Server(database, THREE + DAY + 60 * MINUTE);
    await late.ask();
    assert.equal((await database.query("SELECT FROM capture_jobs")).length, 1, "it came later");
    // It was stopped a moment before three, and is there again a moment after.
    const server = new Server(database, THREE + DAY + 1);
    await server.ask();
    assert.equal((await database.query("SELECT FROM capture_jobs")).length, 2);
    assert.equal((await queued(database)).length, 15);
  });

  await t.step("at most fifty pages, and then the others are not expected", async () => {
    const many = Array.from(
      { length: 60 },
      (_, i) => ["ann", "bob"].map((who) => view(who, `/p/${i}`)),
    );
    await store(database, many.flat());
    const { paths, isFull } = await mostVisitedPaths(visitsOf(database), 1, THREE);
    assert.deepEqual([paths.length, isFull, paths[0]], [50, true, "/pricing"]);
    await database.script("DELETE FROM capture_jobs; DELETE FROM capture_tasks");
    const server = new Server(database);
    server.nowMs = THREE + 2 * DAY;
    await server.ask();
    assert.equal((await queued(database)).length, 150);
    const planned = async (path: string) => (await planOf(database, 1, { ...page, path })).isDaily;
    assert.deepEqual([await planned("/pricing"), await planned("/contact")], [true, false]);
  });

  await t.step("what failed is queued a minute later, and keeps no other project", async () => {
    await database.script(`DELETE FROM capture_jobs; DELETE FROM capture_tasks;
      UPDATE projects SET site_url = 'https://shop.example' WHERE project_id = 2`);
    const server = new Server(database, THREE + 3 * DAY - MINUTE);
    const jobs = async () => {
      const rows = await database.query<{ project_id: number; due_at: Date }>(
        "SELECT project_id, due_at FROM capture_jobs ORDER BY project_id",
      );
      return rows.map(({ project_id, due_at }) => [project_id, due_at.getTime()]);
    };
    server.failing.add(1);
    server.nowMs += MINUTE;
    await server.ask();
    assert.deepEqual(await jobs(), [[2, THREE + 3 * DAY]]);
    await database.script("ALTER TABLE projects RENAME TO projects_away");
    server.nowMs += MINUTE;
    await assert.rejects(server.ask());
    await database.script("ALTER TABLE projects_away RENAME TO projects");
    server.failing.clear();
    server.nowMs += MINUTE;
    await server.ask();
    assert.deepEqual(await jobs(), [[1, THREE + 3 * DAY], [2, THREE + 3 * DAY]]);
    server.nowMs += MINUTE;
    await server.ask();
    assert.equal((await jobs()).length, 2, "once");
    await database.script("UPDATE projects SET site_url = NULL WHERE project_id = 2");
    await database.script("DELETE FROM capture_jobs WHERE project_id = 2");
    await database.script("DELETE FROM capture_tasks WHERE project_id = 2");
  });

  await t.step("what is old is forgotten", async () => {
    const told: string[] = [];
    const log = { info: (message: string) => void told.push(message) };
    await database.script(
      `UPDATE capture_tasks SET state = 'done', status = 'captured', message = 'x',
        finished_at = '2026-11-24T03:00:00Z';
      INSERT INTO capture_pages (attempted_at, project_id, path_digest, device, path, status, message)
      VALUES ('2026-11-24T03:00:00Z', 1, gen_random_uuid(), 'mobile', '/x', 'captured', 'x')`,
    );
    await deleteOldCaptures(database, log, THREE + 3 * DAY);
    assert.equal((await queued(database)).length, 150);
    await deleteOldCaptures(database, log, THREE + 100 * DAY);
    assert.deepEqual([await queued(database), told.length], [[], 1]);
    assert.deepEqual(await database.query("SELECT FROM capture_jobs"), []);
  });
});

import assert from "node:assert/strict";
import type { Project } from "../../../src/auth/projects.ts";
import type { Database } from "../../../src/db/sql.ts";
import { Problem } from "../../../src/problem.ts";
import { getOverview, OVERVIEW_SEARCH_LENGTH_MAX } from "../../../src/reports/overview/overview.ts";
import { OVERVIEW_TAIL_SESSIONS_MAX } from "../../../src/reports/overview/overview_tails.ts";
import { SegmentCache } from "../../../src/timelines/segment_cache.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { type Answer, Store } from "../../reads/stored_world.ts";
import { assertProblem, type Json, newEvent, sharedApp } from "../../support/app.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow } from "../../support/event_rows.ts";
import { withMembersInside } from "../../support/fake_sql.ts";
import { IN_PLACE } from "../../support/in_place.ts";

const NOW = "2026-03-02T12:00:30.000Z";
const AS_OF_MS = Date.parse(NOW);

function seen(who: string, at: string, members: Partial<EventRow> = {}): EventRow {
  const occurred_at = new Date(at).toISOString();
  return newRow({ anonymous_id: who, name: "page_view", path: "/", occurred_at, ...members });
}

const rowOf = ({ projects }: Answer, { id }: Project) =>
  (projects as Json[]).find((row) => row.id === id)!;

onBothEngines(
  "overview: each project by its own days, or by those of the given zone",
  async (_t, db) => {
    const store = await Store.open(db);
    const berlin = await store.newProject({ timezone: "Europe/Berlin", siteUrl: null });
    const newYork = await store.newProject({ timezone: "America/New_York", siteUrl: null });
    await store.insert(berlin, [
      // Of the days before: 25, 26 and 27 February, the last one until 13:00:30 in Berlin.
      seen("ann", "2026-02-26T10:00:00Z"),
      seen("ann", "2026-02-27T12:00:00Z"),
      seen("ida", "2026-02-27T12:00:29.999Z"),
      seen("joe", "2026-02-27T12:00:30Z"),
      // Of the range: 28 February and 1 March. Dan comes twice, and counts once.
      seen("bob", "2026-02-28T10:00:00Z"),
      seen("dan", "2026-02-28T11:00:00Z"),
      seen("dan", "2026-03-01T11:00:00Z"),
      // Of today: one is there now, at both ends of five minutes; one has left; one is not due.
      seen("eve", "2026-03-02T11:55:30Z"),
      seen("fay", "2026-03-02T11:55:29.999Z"),
      seen("gus", "2026-03-02T12:00:30Z"),
      seen("hal", "2026-03-02T12:00:30.001Z"),
      seen("bot", "2026-03-02T11:59:00Z", { bot: true }),
    ]);
    // Of 28 February in New York, of 1 March elsewhere.
    await store.insert(newYork, [seen("ann", "2026-03-01T03:00:00Z")]);
    const both = [berlin, newYork];
    const days = { from: "2026-02-28", to: "2026-03-02" };

    const own = await store.overview(both, AS_OF_MS, days);
    const { now, visitors, change, series, from, to, timezone } = rowOf(own, berlin);
    assert.deepEqual({ now, visitors, change, timezone }, {
      now: 2,
      visitors: 6,
      change: 2,
      timezone: "Europe/Berlin",
    });
    assert.deepEqual([from, to], ["2026-02-27T23:00:00.000Z", "2026-03-02T23:00:00.000Z"]);
    assert.deepEqual((series as Json[]).map(({ label, visitors }) => [label, visitors]), [
      ["2026-02-28", 2],
      ["2026-03-01", 1],
      ["2026-03-02", 4],
    ]);
    const american = rowOf(own, newYork);
    assert.deepEqual((american.series as Json[]).map((bucket) => bucket.visitors), [1, 0, 0]);
    assert.deepEqual([american.now, american.change], [0, null]);
    assert.equal(own.total, 2);

    const utc = await store.overview(both, AS_OF_MS, { ...days, timezone: "UTC" });
    assert.deepEqual(
      (rowOf(utc, newYork).series as Json[]).map((bucket) => bucket.visitors),
      [0, 1, 0],
    );
    const today = await store.overview(both, AS_OF_MS, { from: "2026-03-02", to: "2026-03-02" });
    // Dan alone was there by this time of the day before.
    assert.deepEqual([rowOf(today, berlin).visitors, rowOf(today, berlin).change], [4, 3]);
    const one = await store.overview(both, AS_OF_MS, { ...days, project: newYork.id });
    assert.deepEqual([one.total, one.projects], [1, [american]]);
    const none = await store.overview(both, AS_OF_MS, { ...days, project: "prj_other" });
    assert.deepEqual([none.total, none.projects], [0, []]);
    const weeks = await store.overview(both, AS_OF_MS, { ...days, interval: "week" });
    assert.deepEqual((rowOf(weeks, berlin).series as Json[]).map((bucket) => bucket.visitors), [
      2,
      4,
    ]);
  },
);

onBothEngines(
  "overview: actors without a session, or with one that has a bot's events, are counted by their events",
  async (_t, db) => {
    const store = await Store.open(db);
    const project = await store.newProject({ timezone: "UTC", siteUrl: null });
    await store.insert(project, [
      // The session reaches into the five minutes by what a bot did alone.
      seen("ann", "2026-03-02T11:50:00Z"),
      seen("ann", "2026-03-02T11:59:00Z", { bot: true }),
      // It reaches beyond now, with a pause over the five minutes.
      seen("bob", "2026-03-02T11:50:00Z"),
      seen("bob", "2026-03-02T12:05:00Z"),
      // A long one, with its last event in them.
      ...Array.from(
        { length: 10 },
        (_, i) => seen("cat", new Date(AS_OF_MS - 60_000 - i * 25 * 60_000).toISOString()),
      ),
    ]);
    // What a backend tells belongs to no session, and its people are visitors all the same.
    const ofBackend = await store.newProject({ timezone: "UTC", siteUrl: null });
    await store.insert(ofBackend, [seen("eli", "2026-03-02T11:58:00Z", { in_session: false })]);
    const answer = await store.overview([project, ofBackend], AS_OF_MS, {});
    for (const one of [project, ofBackend]) {
      const live = await store.ask(one, AS_OF_MS, "live", {});
      assert.equal(rowOf(answer, one).now, 1);
      assert.deepEqual((live.visitors as Json).last5Minutes, 1);
    }
  },
);

onBothEngines(
  "overview: the part of a day that is compared agrees with the key figures, whoever was there",
  async (_t, db) => {
    const store = await Store.open(db);
    const asOfMs = Date.parse("2026-03-02T00:10:00Z");
    const before = (minute: number) =>
      new Date(Date.parse("2026-03-01T00:00:00Z") + minute * 60_000)
        .toISOString();
    const cases: Record<string, readonly EventRow[]> = {
      "all that is looked up": Array.from(
        { length: OVERVIEW_TAIL_SESSIONS_MAX },
        (_, i) => seen(`p${i}`, before(5)),
      ),
      "one more": Array.from(
        { length: OVERVIEW_TAIL_SESSIONS_MAX + 1 },
        (_, i) => seen(`p${i}`, before(5)),
      ),
      "a session that began before": [seen("ann", before(-5)), seen("ann", before(5))],
      "a session with nothing in the part": [seen("ann", before(-5)), seen("ann", before(20))],
      "what a bot did in the part": [
        seen("ann", before(-5)),
        seen("ann", before(5), { bot: true }),
        seen("ann", before(20)),
      ],
      "events of no session": [seen("ann", before(5), { in_session: false })],
      "both ends": [seen("ann", before(0)), seen("bob", before(10))],
    };
    const today = { from: "2026-03-02", to: "2026-03-02" };
    const expected = { "all that is looked up": 1_000, "one more": 1_001 };
    for (const [name, events] of Object.entries(cases)) {
      const project = await store.newProject({ timezone: "UTC", siteUrl: null });
      const now = ["cat", "dan"].map((who) => seen(who, "2026-03-02T00:05:00Z"));
      await store.insert(project, [...events, ...now]);
      const { change } = rowOf(await store.overview([project], asOfMs, today), project);
      const kpis = await store.ask(project, asOfMs, "kpis", { ...today, compare: "previous" });
      assert.equal(change, (kpis.change as Json).visitors, name);
      const visitors = { ...expected, "a session with nothing in the part": 0 }[name] ??
        (name === "what a bot did in the part" ? 0 : 1);
      assert.equal(change, visitors === 0 ? null : (2 - visitors) / visitors, name);
    }
  },
);

/** Counts what a database is asked: how much time is left, which is told as time passes, is not counted. */
function counting(database: Database): { readonly reads: Database; readonly sent: () => number } {
  let sent = 0;
  const reads = withMembersInside(database, (sql) => ({
    query: (text, params) => (sent++, sql.query(text, params)),
    binary: (text, params) => (sent++, sql.binary(text, params)),
    script: (text) => {
      if (!text.startsWith("SET LOCAL statement_timeout")) sent++;
      return sql.script(text);
    },
  }));
  return { reads, sent: () => sent };
}

const servicesOf = (database: Database) => ({
  reads: database,
  projection: createProjection(database),
  segments: new SegmentCache(0),
  pool: IN_PLACE,
  readTimeoutMs: 60_000,
  now: () => AS_OF_MS,
});

onBothEngines(
  "overview: parts of a day are scanned up to a limit, and a warning counts the projects left out",
  async (_t, db) => {
    const store = await Store.open(db);
    const projects: Project[] = [];
    for (let i = 0; i < 3; i++) {
      const project = await store.newProject({ timezone: "UTC", siteUrl: null });
      await store.insert(project, [
        seen("ann", "2026-03-01T10:00:00Z", { in_session: false }),
        seen("bob", "2026-03-02T10:00:00Z"),
        seen("cat", "2026-03-02T10:00:00Z"),
      ]);
      await store.projectPending(project);
      projects.push(project);
    }
    const url = "http://footfall.test/v1/overview?from=2026-03-02&to=2026-03-02";
    // Each has three events; ann alone was there by this time of the day before.
    for (const [eventsMax, told] of [[1, 1], [3, 1], [4, 2], [6, 2], [7, 3]] as const) {
      const response = await getOverview(
        servicesOf(store.database),
        new Request(url),
        () => Promise.resolve(projects),
        eventsMax,
      );
      const { query, ...answer } = await response.json();
      const changes = projects.map((project) => rowOf(answer, project).change);
      assert.deepEqual(changes, projects.map((_, i) => i < told ? 1 : null), `${eventsMax}`);
      assert.deepEqual(
        query.warnings.map((
          { code, message }: Json,
        ) => [code, /of (\d) project/.exec(String(message))?.[1]]),
        told === 3 ? [] : [["change_left_out", `${3 - told}`]],
      );
    }
  },
);

onBothEngines("overview: many projects take as many statements as one", async (_t, db) => {
  const store = await Store.open(db);
  const { database } = store;
  const projects: Project[] = [];
  for (let i = 0; i < 25; i++) {
    const project = await store.newProject({ timezone: "Europe/Berlin", siteUrl: null });
    await store.insert(project, [
      // Of the day that is compared in part.
      seen("ann", "2026-01-31T10:00:00Z"),
      seen("ann", "2026-03-01T10:00:00Z"),
      seen("bob", NOW),
    ]);
    await store.projectPending(project);
    projects.push(project);
  }
  const fresh: Project[] = [];
  for (let i = 0; i < 25; i++) {
    fresh.push(await store.newProject({ timezone: "UTC", siteUrl: null }));
  }
  const statementsOf = async (some: readonly Project[]) => {
    const { reads, sent } = counting(database);
    const services = { ...servicesOf(database), reads };
    const request = new Request("http://footfall.test/v1/overview");
    const response = await getOverview(services, request, () => Promise.resolve(some));
    const { projects } = await response.json();
    assert.deepEqual(
      projects.map(({ visitors, now, change }: Json) => [visitors, now, change]),
      some.map((project) => fresh.includes(project) ? [0, 0, null] : [2, 1, 1]),
    );
    return sent();
  };
  const ofOne = await statementsOf(projects.slice(0, 1));
  assert.equal(await statementsOf(projects), ofOne);
  assert.equal(await statementsOf([projects[0]!, ...fresh]), ofOne);
});

const server = sharedApp();

async function overview(query: Record<string, string> = {}, token = server.app.controlToken) {
  const headers = { Authorization: `Bearer ${token}` };
  return await server.fetch(`/v1/overview?${new URLSearchParams(query)}`, { headers });
}

const namesOf = ({ projects }: Json) => (projects as Json[]).map(({ name }) => name);

Deno.test("overview: only the token's projects, searched, sorted and limited", async () => {
  const shop = await server.project({ name: "Overview shop", siteUrl: "https://Shop.example" });
  const blog = await server.project({ name: "overview blog", siteUrl: "https://blog.example" });
  await server.project({ name: "Overview of others" });
  const mine = await server.token([shop.id, blog.id], "read");
  for (const anonymousId of ["ann", "bob"]) {
    await server.post(shop, [newEvent({ name: "page_view", anonymousId })]);
  }
  await server.post(blog, [newEvent({ name: "page_view", anonymousId: "ann" })]);

  const { status, body } = await overview({}, mine);
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(namesOf(body), ["Overview shop", "overview blog"]);
  const [first] = body.projects;
  assert.deepEqual([first.now, first.visitors, first.series.length], [2, 2, 30]);
  assert.equal(first.siteUrl, "https://Shop.example");

  const byName = (await overview({ sort: "name" }, mine)).body;
  assert.deepEqual(namesOf(byName), ["overview blog", "Overview shop"]);
  const one = (await overview({ limit: "1" }, mine)).body;
  assert.deepEqual([namesOf(one), one.total], [["Overview shop"], 2]);
  const rest = (await overview({ limit: "1", cursor: one.nextCursor }, mine)).body;
  assert.deepEqual([namesOf(rest), rest.nextCursor], [["overview blog"], null]);
  assert.equal(rest.query.cursor, one.nextCursor);
  const others = await overview({ q: "blog", cursor: one.nextCursor }, mine);
  assertProblem(others, 400, "invalid_parameter");
  for (const q of ["SHOP.ex", "view shop", shop.id]) {
    assert.deepEqual(namesOf((await overview({ q }, mine)).body), ["Overview shop"], q);
  }
  assert.deepEqual(namesOf((await overview({ q: "nowhere" }, mine)).body), []);
  const all = (await overview({ q: "overview" })).body;
  assert.equal(all.total, 3);
});

Deno.test("overview: only one project, if the token is for it", async () => {
  const own = await server.project({ name: "The only one" });
  const foreign = await server.project();
  const reader = await server.token([own.id], "read");
  assert.deepEqual(namesOf((await overview({ project: own.id }, reader)).body), ["The only one"]);
  assertProblem(await overview({ project: foreign.id }, reader), 403, "insufficient_scope");
  assertProblem(await overview({ project: "prj_none" }), 404, "not_found");
});

Deno.test("overview: all wrong parameters are named at once", async () => {
  const longest = "x".repeat(OVERVIEW_SEARCH_LENGTH_MAX);
  assert.equal((await overview({ q: longest })).status, 200);
  const bad = {
    from: "2026-01-01T00:00:00Z",
    sort: "size",
    limit: "1001",
    cursor: "x",
    q: `${longest}x`,
    segment: "all",
  };
  const reply = await overview(bad);
  assertProblem(reply, 400, "invalid_parameter");
  const fields = reply.body.errors.map(({ field }: Json) => field);
  assert.deepEqual(fields.toSorted(), Object.keys(bad).toSorted());
  const hours = await overview({ from: "2026-01-01", to: "2026-01-01", interval: "hour" });
  assertProblem(hours, 400, "invalid_parameter");
  assertProblem(await overview({ from: "2001-01-01" }), 400, "range_too_large");
});

Deno.test("overview: an unchanged answer is not sent again", async () => {
  const { headers } = await overview({ q: "nobody is called this" });
  const etag = headers.get("etag")!;
  const again = await server.fetch("/v1/overview?q=nobody+is+called+this", {
    headers: { Authorization: `Bearer ${server.app.controlToken}`, "If-None-Match": etag },
  });
  assert.equal(again.status, 304);
});

Deno.test("overview: parameters without a meaning for several sites are refused, not ignored", async () => {
  const asked = { segment: "buyers", filters: "[]", compare: "previous", bots: "only", by: "path" };
  for (const [name, value] of Object.entries(asked)) {
    const refused = await server.admin("GET", `/v1/overview?${name}=${encodeURIComponent(value)}`);
    assertProblem(refused, 400, "invalid_parameter");
    assert.equal(refused.body.errors[0].field, name);
  }
});

Deno.test("overview: no statement is sent before the parameters are read", async () => {
  let asked = 0;
  const away = () => {
    asked++;
    return Promise.reject(new Error("away"));
  };
  const services = {
    reads: { query: away, transaction: away } as unknown as Database,
    projection: { catchUp: away, catchUpWithin: away },
    segments: new SegmentCache(0),
    pool: IN_PLACE,
    readTimeoutMs: 1_000,
    now: () => AS_OF_MS,
  };
  const request = new Request("http://footfall.test/v1/overview?sort=size");
  await assert.rejects(getOverview(services, request, away), Problem);
  assert.equal(asked, 0);
});

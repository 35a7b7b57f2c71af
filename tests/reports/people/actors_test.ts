import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { eventsOfIdentities } from "../../support/segment_events.ts";
import { fetchHeads } from "../../../src/store/stored_segments.ts";
import { EXPORT_CHUNK_ROWS } from "../../../src/limits.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { type ActorServices, deleteActor, getActor } from "../../../src/reports/people/actors.ts";
import { erasePerson } from "../../../src/upgrade/earlier_people.ts";
import { assertProblem, type Json, type Reply, TestApp } from "../../support/app.ts";
import { onBothEngines, onFreshEngines, type TestPlace } from "../../support/databases.ts";
import { newRow, openWithProjects, PROJECT_ONE, storedRows } from "../../support/event_rows.ts";
import { withMembers } from "../../support/fake_sql.ts";
import { storePicturesOf } from "../../screenshots/stored_pictures.ts";

const DAY = "2026-06-01";
const HASH = "AAECAwQFBgcICQoLDA0ODw";
const HASH_BYTES = "\\x000102030405060708090a0b0c0d0e0f";

/** A row of an instant of the day, such as `10:00:30`. */
function row(at: string, members: Partial<EventRow>): EventRow {
  return newRow({ occurred_at: `${DAY}T${at}.000Z`, name: "page_view", ...members });
}

/** So many events of one user, four at each instant. */
function crowd(user: string, events: number): EventRow[] {
  const startMs = Date.parse(`${DAY}T12:00:00Z`);
  return Array.from({ length: events }, (_, i) =>
    newRow({
      occurred_at: new Date(startMs + Math.floor(i / 4) * 1000).toISOString(),
      name: "tick",
      user_id: user,
    }));
}

/** Words that others say too. */
const SHARED = { title: "Start", host: "shop.test", referrer: "https://shop.test/" };

/** A page before Jane was known, her sign-in, a second browser; and a second visit. */
const JANE = [
  row("08:00:00", {
    anonymous_id: "phone",
    path: "/start",
    url: "https://shop.test/start",
    title: "/start",
  }),
  row("08:00:30", {
    anonymous_id: "phone",
    user_id: "jane",
    name: "login",
    path: "/hello",
    title: "Welcome, jane",
    referrer: "https://mail.test/jane/inbox",
  }),
  row("09:00:00", { anonymous_id: "laptop", user_id: "jane", path: "/jane's page", ...SHARED }),
];
const OTHERS = [
  row("08:00:10", { anonymous_id: "bob", path: "/start", ...SHARED }),
  row("08:10:00", { visitor_hash: HASH_BYTES, path: "/start", title: "/hello" }),
  // Jane lent her phone: what says who did it is that person's.
  row("10:00:00", { anonymous_id: "phone", user_id: "joe" }),
  ...crowd("full", EXPORT_CHUNK_ROWS),
  ...crowd("fuller", EXPORT_CHUNK_ROWS + 1),
];
const JANE_ELSEWHERE = row("08:00:00", { project_id: 2, user_id: "jane", anonymous_id: "phone" });

async function store(database: Database): Promise<void> {
  for (const rows of [[...JANE, ...OTHERS], [JANE_ELSEWHERE]]) {
    await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  }
  const projection = createProjection(database);
  await projection.catchUp(1);
  await projection.catchUp(2);
  await database.query(
    `INSERT INTO identities (project_id, identity_id, actor_id, kind, value)
    SELECT 1, max(identity_id) + 1, max(identity_id) + 1, 'u', 'silent' FROM identities`,
  );
}

const actorPath = (id: string, project = "prj_one") =>
  `/v1/actors/${encodeURIComponent(id)}?project=${project}`;
const eventIds = (reply: Reply) => reply.body.events.map(({ eventId }: Json) => eventId);

/** As someone whose token has these claims. */
async function asTester(
  server: TestApp,
  method: string,
  projects: string[],
  scope: string,
): Promise<Reply> {
  const token = await server.token(projects, scope);
  return await server.fetch(actorPath("bob"), {
    method,
    headers: { Authorization: `Bearer ${token}` },
  });
}

async function assertExported(server: TestApp): Promise<void> {
  const reply = await server.admin("GET", actorPath("jane"));
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get("cache-control"), "no-store");
  assert.deepEqual(reply.body.actor, {
    id: "jane",
    userId: "jane",
    anonymousIds: ["laptop", "phone"],
    hash: null,
    firstSeenAt: `${DAY}T08:00:00.000Z`,
    lastSeenAt: `${DAY}T09:00:00.000Z`,
  });
  const traffic = { channel: "Direct", source: null, medium: null, campaign: null };
  assert.deepEqual(reply.body.sessions, [
    {
      startedAt: `${DAY}T08:00:00.000Z`,
      endedAt: `${DAY}T08:00:30.000Z`,
      events: 2,
      pageviews: 1,
      entryPath: "/start",
      exitPath: "/start",
      ...traffic,
    },
    {
      startedAt: `${DAY}T09:00:00.000Z`,
      endedAt: `${DAY}T09:00:00.000Z`,
      events: 1,
      pageviews: 1,
      entryPath: "/jane's page",
      exitPath: "/jane's page",
      ...traffic,
    },
  ]);
  assert.deepEqual(eventIds(reply), JANE.map(({ event_id }) => event_id), "oldest first");
  const [first] = reply.body.events;
  assert.equal(first.url, "https://shop.test/start");
  assert.equal(typeof first.properties.server.ingestedAt, "string");
  for (const id of ["phone", "laptop"]) {
    assert.deepEqual((await server.admin("GET", actorPath(id))).body, reply.body, id);
  }
}

async function assertHashed(server: TestApp): Promise<void> {
  const { body } = await server.admin("GET", actorPath(HASH));
  assert.deepEqual([body.actor.id, body.actor.hash, body.actor.userId], [HASH, HASH, null]);
  assert.equal(body.events.length, 1);
  assert.equal(body.events[0].properties.server.hash, HASH, "it is the hash that events show");
}

async function assertSizes(server: TestApp): Promise<void> {
  const sizes = { silent: 0, bob: 1, full: EXPORT_CHUNK_ROWS, fuller: EXPORT_CHUNK_ROWS + 1 };
  for (const [id, events] of Object.entries(sizes)) {
    // Reading the reply parses it: a missing comma or bracket would fail here.
    const reply = await server.admin("GET", actorPath(id));
    assert.equal(reply.status, 200, id);
    assert.equal(new Set(eventIds(reply)).size, events, id);
    assert.equal(reply.body.events.length, events, id);
    const times = reply.body.events.map(({ timestamp }: Json) => timestamp);
    assert.deepEqual(times, times.toSorted(), id);
  }
  const { body } = await server.admin("GET", actorPath("silent"));
  assert.deepEqual([body.actor.firstSeenAt, body.sessions], [null, []]);
}

async function assertAccess(server: TestApp): Promise<void> {
  for (const method of ["GET", "DELETE"]) {
    const bare = await server.fetch(actorPath("bob"), { method });
    assertProblem(bare, 401, "missing_token");
    for (const scope of ["read", "read write jobs"]) {
      const reply = await asTester(server, method, ["prj_one"], scope);
      assertProblem(reply, 403, "insufficient_scope");
    }
    const elsewhere = await asTester(server, method, ["prj_two"], "admin");
    assertProblem(elsewhere, 403, "insufficient_scope");
    for (const id of ["nobody", "JANE", "jane ", "pho", "%", "\0", "jane\0", HASH.slice(1)]) {
      assertProblem(await server.admin(method, actorPath(id)), 404, "not_found");
    }
    assertProblem(await server.admin(method, actorPath("bob", "prj_two")), 404, "not_found");
    assertProblem(await server.admin(method, "/v1/actors/bob"), 400, "project_required");
  }
  const allowed = await asTester(server, "GET", ["prj_one"], "admin");
  assert.equal(allowed.status, 200, "and nothing was erased by those who may not");
}

/** A filter that every event passes: numbers then come from a scan, not from rollups. */
const OF_FACTS = { field: "name", op: "exists" };

/** The totals of the day, which rollups must tell as a scan does. */
async function kpis(server: TestApp, filters: unknown[] = [], project = "prj_one"): Promise<Json> {
  const totalsOf = async (all: unknown[]): Promise<Json> => {
    const query = new URLSearchParams({
      project,
      from: DAY,
      to: DAY,
      interval: "day",
      filters: JSON.stringify(all),
    });
    const { status, body } = await server.admin("GET", `/v1/kpis?${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.totals;
  };
  const totals = await totalsOf(filters);
  assert.deepEqual(await totalsOf([...filters, OF_FACTS]), totals);
  return totals;
}

const userIs = (user: string) => [{ field: "userId", op: "is", values: [user] }];

async function assertErased(server: TestApp): Promise<void> {
  const before = await kpis(server);
  assert.deepEqual([before.visitors, before.sessions, before.pageviews], [6, 7, 5]);
  const joe = await kpis(server, userIs("joe"));
  const elsewhere = await kpis(server, [], "prj_two");

  const reply = await server.admin("DELETE", actorPath("phone"));
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  assert.deepEqual(reply.body, { erased: { events: 3, identities: ["jane", "laptop", "phone"] } });

  const after = await kpis(server);
  assert.deepEqual([after.visitors, after.newVisitors, after.sessions], [5, 5, 5]);
  assert.deepEqual([after.pageviews, after.events], [3, Number(before.events) - 3]);
  assert.deepEqual(await kpis(server, userIs("joe")), joe);
  assert.deepEqual(await kpis(server, [], "prj_two"), elsewhere);
  assert.equal((await kpis(server, userIs("jane"))).visitors, 0);
  for (const id of ["jane", "laptop"]) {
    for (const method of ["GET", "DELETE"]) {
      assertProblem(await server.admin(method, actorPath(id)), 404, "not_found");
    }
  }
  // What is stored of the phone now is Joe's.
  const { actor } = (await server.admin("GET", actorPath("phone"))).body;
  assert.deepEqual([actor.id, actor.anonymousIds], ["joe", ["phone"]]);
  const stored = await server.read("prj_one", { from: DAY, to: DAY, bots: "include" });
  const left = new Set(eventIds(stored));
  assert.ok(JANE.every(({ event_id }) => !left.has(event_id)));
  assert.equal((await server.admin("GET", actorPath("jane", "prj_two"))).body.events.length, 1);

  const fuller = await server.admin("DELETE", actorPath("fuller"));
  assert.equal(fuller.body.erased.events, EXPORT_CHUNK_ROWS + 1);
  assert.equal((await kpis(server)).visitors, 4);
}

async function assertSeenAnew(server: TestApp): Promise<void> {
  const { key } = await server.key("prj_one", { kind: "public" });
  const project = { id: "prj_one", publicKey: key, secretKey: "" };
  await server.post(project, [
    {
      eventId: crypto.randomUUID(),
      anonymousId: "laptop",
      name: "login",
      path: "/start",
      timestamp: `${DAY}T20:00:00Z`,
    },
  ]);
  const { actor, sessions, events } = (await server.admin("GET", actorPath("laptop"))).body;
  assert.deepEqual([actor.userId, actor.anonymousIds, events.length], [null, ["laptop"], 1]);
  assert.equal(sessions[0].entryPath, "/start");
  const logins = await kpis(server, [{ field: "name", op: "is", values: ["login"] }]);
  assert.deepEqual([logins.visitors, logins.events], [1, 1]);
}

/** Everything that is stored of a project's events: in the journal, and in segments. */
async function storedEvents(database: Database, projectId: number): Promise<EventRow[]> {
  const segments = await fetchHeads(database, projectId);
  const last = Math.max(...segments.map(({ head }) => head.lastIdentity));
  const anybody = new Set(Array.from({ length: last }, (_, i) => i + 1));
  const events = await eventsOfIdentities(database, projectId, anybody);
  const journalled = await storedRows(database);
  return [
    ...journalled.filter(({ project_id }) => project_id === projectId),
    ...events.map(({ row }) => row),
  ];
}

/** The tables that hold texts of events or ids, and those whose rows are somebody's. */
async function assertNoTrace(database: Database): Promise<void> {
  const words = ["jane", ...JANE.map(({ event_id }) => event_id)];
  for (const table of ["event_ids", "identities", "sessions", "terms", "referrers"]) {
    for (const text of words) {
      const rows = await database.query(
        `SELECT FROM ${table} AS t WHERE project_id = 1 AND strpos(t::text, $1::text) > 0`,
        [text],
      );
      assert.equal(rows.length, 0, `${table}: ${text}`);
    }
  }
  const events = (await storedEvents(database, 1)).map((row) => JSON.stringify(row));
  assert.ok(events.length > 0);
  for (const word of words) assert.ok(!events.some((text) => text.includes(word)), word);
  const told = await database.query<{ word: string }>(
    `SELECT term AS word FROM terms WHERE project_id = 1 AND term_id > 3
    UNION ALL SELECT address FROM referrers WHERE project_id = 1`,
  );
  const others = ["/hello", "/start", "Start", "https://shop.test/", "login", "tick"];
  assert.deepEqual(told.map(({ word }) => word).sort(), others);
  assert.deepEqual(await database.query("SELECT path FROM capture_pages"), [{ path: "/start" }]);
  for (const table of ["sessions", "actors"]) {
    const rows = await database.query(
      `SELECT FROM ${table} AS t WHERE project_id = 1 AND NOT EXISTS (
        SELECT FROM identities i WHERE i.project_id = 1 AND i.identity_id = t.actor_id)`,
    );
    assert.equal(rows.length, 0, `${table}: rows of nobody`);
  }
}

onBothEngines("actors: a person linked to another meanwhile is erased too", async (_t, db) => {
  const database = await openWithProjects(db);
  await store(database);
  const services = {
    database,
    projection: createProjection(database),
    movePerson: () => Promise.resolve(),
    erase: async (...asked: Parameters<ActorServices["erase"]>) => {
      // As when the last event that links bob's device to jane is projected just now.
      await database.query(
        `UPDATE identities SET actor_id = (
          SELECT actor_id FROM identities WHERE project_id = 1 AND kind = 'u' AND value = 'jane')
        WHERE project_id = 1 AND value = 'bob'`,
      );
      return await erasePerson(database, ...asked);
    },
  };
  const erase = (id: string) =>
    deleteActor(services, {
      project: PROJECT_ONE,
      params: { id },
      also: () => Promise.resolve(),
    });
  const { erased } = await erase("bob");
  assert.deepEqual(erased, { events: 4, identities: ["jane", "bob", "laptop", "phone"] });
  await assert.rejects(erase("bob"), { code: "not_found" });
});

onBothEngines(
  "actors: events 2,000 years apart are read as fast as others",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const times = ["0001-01-01T00:00", "1970-01-01T00:00", "1970-01-30T23:59", "1970-01-31T00:00"]
      .concat("1970-03-02T00:00", `${DAY}T08:00`, `${DAY}T09:00`).map((time) => `${time}:00.000Z`);
    const rows = times.map((occurred_at) => newRow({ occurred_at, anonymous_id: "clockless" }));
    await insertEvents(database, rows.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
    const projection = createProjection(database);
    await projection.catchUp(1);
    let transactions = 0;
    const counted = withMembers(database, {
      transaction: async (work, ...others) => {
        transactions++;
        return await database.transaction(work, ...others);
      },
    });
    const services = {
      database: counted,
      projection: { catchUp: () => Promise.resolve() },
      movePerson: () => Promise.resolve(),
      erase: () => Promise.reject(new Error("Nothing is erased")),
    };
    const asked = { project: PROJECT_ONE, params: { id: "clockless" } };
    const { actor, events } = await (await getActor(services, asked)).json();
    assert.deepEqual(events.map(({ timestamp }: Json) => timestamp), times);
    assert.deepEqual([actor.firstSeenAt, actor.lastSeenAt], [times[0], times.at(-1)]);
    assert.ok(transactions <= 1 + times.length, `${transactions} transactions`);
  },
);

onFreshEngines("actors: one person's data, shown and erased", async (t, db: TestPlace) => {
  const filled = await openWithProjects(db);
  await store(filled);
  await storePicturesOf(filled, 1, ["/start", "/jane's%20page"]);
  await filled.close();
  const server = await new TestApp(db.env).start();
  try {
    await t.step("GET by user id and by each anonymous id", () => assertExported(server));
    await t.step("GET by hash", () => assertHashed(server));
    await t.step(
      "GET of none, one and more events than are read at once",
      () => assertSizes(server),
    );
    await t.step("both need the scope, the project and somebody", () => assertAccess(server));
    await t.step("DELETE leaves nothing, and the others whole", () => assertErased(server));
    await t.step("what an erased id sends later is a new visitor's", () => assertSeenAnew(server));
  } finally {
    await server.stop();
  }
  await t.step("no table remembers", async () => await assertNoTrace(await db.open()));
});

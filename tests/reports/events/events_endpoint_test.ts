import assert from "node:assert/strict";
import fc from "fast-check";
import { encodeTailCursor } from "../../../src/query/event_cursor.ts";
import { EXPORTS_PER_PROJECT_MAX } from "../../../src/limits.ts";
import {
  assertProblem,
  BASE,
  type Json,
  newEvent,
  PUBLIC_PEER,
  sharedApp,
  type TestProject,
} from "../../support/app.ts";

const server = sharedApp();
let project: TestProject;
/** Forty events at only seven different times, so that most pages end within a tie. */
let ids: string[];
const START = Date.now() - 3_600_000;

Deno.test.beforeAll(async () => {
  project = await server.project();
  const events = Array.from(
    { length: 40 },
    (_, i) => newEvent({ name: `event ${i}`, timestamp: START + (i * 5 % 7) * 1000 }),
  );
  await server.post(project, events);
  ids = events.toSorted((a, b) =>
    Number(b.timestamp) - Number(a.timestamp) || (String(a.eventId) < String(b.eventId) ? 1 : -1)
  ).map((event) => String(event.eventId));
});

const idsOf = (reply: { body: { events: Json[] } }) =>
  reply.body.events.map((event) => String(event.eventId));

Deno.test("GET /v1/events: newest first, ties by event id", async () => {
  assert.deepEqual(idsOf(await server.read(project)), ids);
});

Deno.test("GET /v1/events: any page size sees every event exactly once, newest first", async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 45 }), async (limit) => {
      const seen: string[] = [];
      let cursor = "";
      for (let pages = 0; pages < 50; pages++) {
        const reply = await server.read(project, { limit: String(limit), cursor });
        assert.equal(reply.status, 200);
        assert.ok(reply.body.events.length <= limit);
        seen.push(...idsOf(reply));
        if (reply.body.nextCursor === null) break;
        cursor = reply.body.nextCursor;
      }
      assert.deepEqual(seen, ids);
    }),
    { numRuns: 30 },
  );
});

/** How many events each page holds, to the one that has no next. */
async function pageSizes(of: TestProject, query: Record<string, string>): Promise<number[]> {
  const sizes: number[] = [];
  for (let cursor = ""; sizes.length < 50;) {
    const { status, body } = await server.read(of, { ...query, cursor });
    assert.equal(status, 200, JSON.stringify(body));
    sizes.push(body.events.length);
    if (body.nextCursor === null) return sizes;
    cursor = body.nextCursor;
  }
  return sizes;
}

Deno.test("GET /v1/events: the last page has no next one, even if it is full", async () => {
  const own = await server.project();
  const at = Date.now() - 60_000;
  const events = [0, 0, 0, 5].map((ms) => newEvent({ timestamp: at + ms, path: "/a" }));
  await server.post(own, [...events, newEvent({ timestamp: at, path: "/b" })]);
  const filters = JSON.stringify([{ field: "path", op: "is", values: ["/a"] }]);
  const title = JSON.stringify([{ field: "title", op: "not_exists", values: [] }]);
  const after = new Date(at - 3_600_000).toISOString();
  for (const order of [{}, { after }]) {
    assert.deepEqual(await pageSizes(own, { ...order, filters, limit: "2" }), [2, 2]);
    assert.deepEqual(await pageSizes(own, { ...order, filters, limit: "4" }), [4]);
    assert.deepEqual(await pageSizes(own, { ...order, filters, limit: "3" }), [3, 1]);
    assert.deepEqual(await pageSizes(own, { ...order, filters: title, limit: "5" }), [5]);
    assert.deepEqual(await pageSizes(own, { ...order, limit: "1" }), [1, 1, 1, 1, 1]);
    assert.deepEqual(await pageSizes(own, { ...order, limit: "5" }), [5]);
    assert.deepEqual(await pageSizes(own, { ...order, bots: "only", limit: "1" }), [0]);
  }
});

Deno.test("GET /v1/events: a tail can be continued for 48 hours, then its cursor has expired", async () => {
  const at = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString();
  const after = (hours: number) => encodeTailCursor({ at: at(hours), snapshot: "10:10:" });
  assert.equal((await server.read(project, { after: after(47) })).status, 200);
  const expired = await server.read(project, { after: after(49) });
  assertProblem(expired, 400, "cursor_expired");
  assert.equal(expired.body.errors[0].field, "after");
  assert.equal((await server.read(project, { after: at(49) })).status, 200);
});

Deno.test("GET /v1/events: events that arrive while paging do not disturb older pages", async () => {
  const own = await server.project();
  const at = Date.now() - 60_000;
  const old = Array.from({ length: 6 }, (_, i) => newEvent({ timestamp: at - i }));
  await server.post(own, old);
  const first = await server.read(own, { limit: "3" });
  await server.post(own, [newEvent()]);
  const second = await server.read(own, { limit: "3", cursor: first.body.nextCursor });
  assert.deepEqual([...idsOf(first), ...idsOf(second)], old.map((event) => event.eventId));
});

Deno.test("GET /v1/events: the reply says how the query was resolved", async () => {
  const { body } = await server.read(project, {
    from: "2026-01-01",
    to: "2026-01-31",
    timezone: "Europe/Berlin",
    bots: "only",
    limit: "7",
  });
  assert.deepEqual({ ...body.query, semantics: null }, {
    project: project.id,
    from: "2025-12-31T23:00:00.000Z",
    to: "2026-01-31T23:00:00.000Z",
    timezone: "Europe/Berlin",
    interval: "day",
    compare: "none",
    segment: null,
    filters: [],
    bots: "only",
    limit: 7,
    cursor: null,
    after: null,
    semantics: null,
    warnings: [],
  });
  assert.ok(body.query.semantics.length > 20);
  assert.ok(Math.abs(Date.parse(body.asOf) - Date.now()) < 60_000);
  assert.deepEqual([body.events, body.nextCursor], [[], null]);
});

Deno.test("GET /v1/events: from is inclusive, to exclusive, by the time events happened", async () => {
  const at = (ms: number) => new Date(ms).toISOString();
  const count = async (from: number, to: number) =>
    (await server.read(project, { from: at(from), to: at(to) })).body.events.length;
  const exact = Array.from({ length: 40 }, (_, i) => i * 5 % 7).filter((n) => n === 3).length;
  assert.equal(await count(START + 3000, START + 3001), exact);
  assert.equal(await count(START + 2001, START + 3000), 0);
  assert.equal(await count(START + 2999, START + 3000), 0);
});

Deno.test("GET /v1/events: the days are the project's own", async () => {
  const own = await server.project({ timezone: "Pacific/Auckland" });
  await server.post(own, [newEvent({ timestamp: "2026-01-14T11:30:00Z" })]);
  const day = async (date: string) =>
    (await server.read(own, { from: date, to: date })).body.events.length;
  assert.deepEqual([await day("2026-01-14"), await day("2026-01-15")], [0, 1]);
});

Deno.test("GET /v1/events: unknown and bad parameters are 400, naming them", async () => {
  const cases: [string, string][] = [
    ["form", "2026-01-01"],
    ["filters", "nonsense"],
    ["limit", "0"],
    ["limit", "1001"],
    ["limit", "-1"],
    ["limit", "ten"],
    ["limit", "1e2"],
    ["limit", "1.5"],
    ["bots", "yes"],
    ["from", "soon"],
    ["to", "2026-02-31"],
    ["timezone", "Nowhere/City"],
    ["cursor", "nonsense"],
    ["cursor", "%%%"],
    ["after", "nonsense"],
  ];
  for (const [name, value] of cases) {
    const reply = await server.read(project, { [name]: value });
    assertProblem(reply, 400, "invalid_parameter");
    assert.equal(reply.body.errors[0].field, name, value);
  }
  for (const limit of ["1", "1000"]) {
    assert.equal((await server.read(project, { limit })).status, 200);
  }
  const range = { from: "2010-01-01", to: "2026-01-01" };
  assertProblem(await server.read(project, range), 400, "range_too_large");
});

Deno.test("GET /v1/events: no query whatsoever makes the server fail", async () => {
  const name = fc.constantFrom(
    "project",
    "from",
    "to",
    "timezone",
    "bots",
    "limit",
    "cursor",
    "after",
  );
  const forged = fc.tuple(fc.constantFrom("p", "t"), fc.string(), fc.string()).map((parts) =>
    btoa(encodeURIComponent(parts.join("|").toWellFormed()).replaceAll("%7C", "|"))
  );
  const value = fc.oneof(
    fc.string({ unit: "binary" }),
    forged,
    fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
    fc.constantFrom("0000-01-01", "9999-12-31", "0001-01-01", "-1", "1e9", "\u0000", project.id),
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(name, value), async (query) => {
      const { status, body } = await server.read(project, query);
      assert.ok([200, 400, 404].includes(status), `${status} ${JSON.stringify(body)}`);
    }),
    { numRuns: 500 },
  );
});

Deno.test("GET /v1/events: a weak ETag over the result, and 304 for a client that has it", async () => {
  const own = await server.project();
  await server.post(own, [newEvent()]);
  const day = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
  const query = { from: day };
  const first = await server.read(own, query);
  const etag = first.headers.get("etag") ?? "";
  assert.match(etag, /^W\/"[^"]+"$/);
  const second = await server.read(own, query, { "If-None-Match": etag });
  assert.deepEqual([second.status, second.body, second.headers.get("etag")], [304, "", etag]);
  const listed = await server.read(own, query, { "If-None-Match": `"x", ${etag}` });
  assert.equal(listed.status, 304);
  assert.equal((await server.read(own, query, { "If-None-Match": '"x"' })).status, 200);
  await server.post(own, [newEvent()]);
  const changed = await server.read(own, query, { "If-None-Match": etag });
  assert.equal(changed.status, 200);
  assert.notEqual(changed.headers.get("etag"), etag);
  assert.notEqual((await server.read(own, { ...query, limit: "1" })).headers.get("etag"), etag);
});

Deno.test("GET /v1/events: Accept: application/x-ndjson streams all of the selection", async () => {
  const accept = { Accept: "application/x-ndjson" };
  const lines = async (query: Record<string, string>) => {
    const { status, body, headers } = await server.read(project, query, accept);
    assert.equal(status, 200);
    assert.match(headers.get("content-type") ?? "", /^application\/x-ndjson/);
    assert.ok(body === "" || body.endsWith("\n"));
    return body.split("\n").filter(Boolean).map((line: string) => JSON.parse(line));
  };
  const all = await lines({});
  assert.deepEqual(all, (await server.read(project)).body.events);
  assert.deepEqual(await lines({ limit: "" }), all);
  assert.equal((await lines({ limit: "3" })).length, 3);
  assert.deepEqual(await lines({ bots: "only" }), []);
  const page = await server.read(project, { limit: "10" });
  assert.deepEqual(await lines({ cursor: page.body.nextCursor }), all.slice(10));
  assertProblem(await server.read(project, { limit: "x" }, accept), 400, "invalid_parameter");
});

Deno.test("GET /v1/events: an export larger than its first page is whole, with a cursor and a limit too", async () => {
  const own = await server.project();
  const times = Array.from({ length: 46 }, (_, i) => Date.now() - 3_600_000 * (i + 1));
  for (const at of times) {
    const events = Array.from({ length: 500 }, (_, i) => newEvent({ timestamp: at + (i >> 1) }));
    assert.equal((await server.post(own, events)).status, 200);
  }
  const lines = async (query: Record<string, string>): Promise<Json[]> => {
    const { body } = await server.read(own, query, { Accept: "application/x-ndjson" });
    return body.split("\n").filter(Boolean).map((line: string) => JSON.parse(line));
  };
  const order = (events: Json[]) => events.map((event) => `${event.timestamp} ${event.eventId}`);
  const all = order(await lines({}));
  assert.equal(new Set(all).size, 23_000);
  assert.deepEqual(all, all.toSorted().toReversed());
  const { body: page } = await server.read(own, { limit: "999" });
  assert.deepEqual(order(await lines({ cursor: page.nextCursor })), all.slice(999));
});

Deno.test("GET /v1/events: an export larger than one chunk is whole and in order", async () => {
  const own = await server.project();
  for (let i = 0; i < 9; i++) {
    const at = Date.now() - 60_000 + i;
    await server.post(own, Array.from({ length: 500 }, () => newEvent({ timestamp: at })));
  }
  const { body } = await server.read(own, {}, { Accept: "application/x-ndjson" });
  const events: Json[] = body.split("\n").filter(Boolean).map((line: string) => JSON.parse(line));
  assert.equal(new Set(events.map((event) => event.eventId)).size, 4500);
  const order = events.map((event) => `${event.timestamp} ${event.eventId}`);
  assert.deepEqual(order, order.toSorted().toReversed());
});

Deno.test("GET /v1/events: more exports at once than a project may have are told to wait", async () => {
  const own = await server.project();
  await server.post(own, [newEvent(), newEvent()]);
  const headers = {
    Accept: "application/x-ndjson",
    Authorization: `Bearer ${await server.token([own.id], "read")}`,
  };
  const exported = () =>
    server.app.fetch(new Request(`${BASE}/v1/events`, { headers }), PUBLIC_PEER);
  const unread: Response[] = [];
  for (let i = 0; i < EXPORTS_PER_PROJECT_MAX; i++) unread.push(await exported());
  assert.deepEqual(new Set(unread.map(({ status }) => status)), new Set([200]));
  const refused = await exported();
  assert.equal(refused.status, 503);
  assert.equal(refused.headers.get("retry-after"), "30");
  assert.equal((await refused.json()).code, "overloaded");
  // An export that was read to its end, and one that was cancelled, make room.
  assert.equal((await unread[0]!.text()).trim().split("\n").length, 2);
  await unread[1]!.body!.cancel();
  for (let i = 0; i < 2; i++) {
    const { status, body } = await exported();
    assert.equal(status, 200);
    unread.push(new Response(body));
  }
  await Promise.all(unread.slice(2).map(({ body }) => body!.cancel()));
});

Deno.test("GET /v1/events: a token reads its projects and no others", async () => {
  const other = await server.project();
  await server.post(other, [newEvent({ name: "not yours" })]);
  const read = async (token: string, query: string) =>
    await server.fetch(`/v1/events${query}`, { headers: { Authorization: `Bearer ${token}` } });
  const mine = await server.token([project.id], "read");
  assert.deepEqual(idsOf(await read(mine, "")), ids);
  assert.deepEqual(idsOf(await read(mine, `?project=${project.id}`)), ids);
  assertProblem(await read(mine, `?project=${other.id}`), 403, "insufficient_scope");
  assertProblem(await read(mine, "?project=prj_unknown"), 403, "insufficient_scope");
  const both = await server.token([project.id, other.id], "read");
  assertProblem(await read(both, ""), 400, "project_required");
  assert.equal((await read(both, `?project=${other.id}`)).body.events[0].name, "not yours");
  const all = await server.token(["*"], "read");
  assertProblem(await read(all, ""), 400, "project_required");
  assertProblem(await read(all, "?project=prj_unknown"), 404, "not_found");
  for (const scope of ["write", "jobs", "admin"]) {
    const token = await server.token([project.id], scope);
    assertProblem(await read(token, ""), 403, "insufficient_scope");
  }
  assertProblem(await read("nonsense", ""), 401, "invalid_token");
});

Deno.test("GET /v1/events: a cursor of one project shows nothing of another", async () => {
  const other = await server.project();
  await server.post(other, [newEvent({ timestamp: START - 5000 })]);
  const { body } = await server.read(project, { limit: "5" });
  const found = await server.read(other, { cursor: body.nextCursor });
  assert.equal(found.body.events.length, 1);
});

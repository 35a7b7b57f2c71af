import assert from "node:assert/strict";
import { DatabaseUnavailable } from "../../src/db/sql.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import type { Question, Report } from "../../src/reports/answer/report.ts";
import { getReport } from "../../src/reports/answer/report_endpoint.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { Read } from "../../src/scans/read.ts";
import {
  assertProblem,
  type Json,
  newEvent,
  type Reply,
  sharedApp,
  type TestProject,
} from "../support/app.ts";
import { onBothEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { type Endpoint, ENDPOINTS, FIRST_EVENT, SAVED } from "./endpoints.ts";
import { IN_PLACE } from "../support/in_place.ts";

const server = sharedApp();
/** Two projects: each has saved a funnel and a goal, and the second has one visitor more. */
let own: TestProject;
let other: TestProject;

const today = () => new Date().toISOString().slice(0, 10);

/** Of somebody who does a bit of everything. */
function visitOf(anonymousId: string): Json[] {
  const at = { anonymousId, url: "https://shop.example/", context: { viewport: { width: 1440 } } };
  const page = { viewportWidth: 1440, viewportHeight: 900, documentHeight: 2000 };
  return [
    newEvent({
      ...at,
      name: "page_view",
      ...anonymousId === FIRST_EVENT.anonymousId ? FIRST_EVENT : {},
    }),
    newEvent({
      ...at,
      name: "click",
      properties: { ...page, x: 0.5, y: 100, documentWidth: 1440, fixed: false },
    }),
    newEvent({ ...at, name: "scroll", properties: { ...page, depthPx: 1200 } }),
    newEvent({ ...at, name: "buy", properties: { total: 10 } }),
    newEvent({ ...at, name: "$web_vitals", properties: { lcp: 900 } }),
  ];
}

async function send(project: TestProject, ...visitors: string[]): Promise<void> {
  const { status, body } = await server.post(project, visitors.flatMap(visitOf));
  assert.equal(status, 200, JSON.stringify(body));
}

Deno.test.beforeAll(async () => {
  own = await server.project();
  other = await server.project();
  for (const { id } of [own, other]) {
    const body = { title: `Of ${id}`, steps: ["page_view", "buy"] };
    await server.admin("PUT", `/v1/funnels/${SAVED}?project=${id}`, body);
    const goal = { title: `Of ${id}`, match: { name: "buy" } };
    await server.admin("PUT", `/v1/goals/${SAVED}?project=${id}`, goal);
  }
  await send(own, "a");
  await send(other, "a", "b");
});

const bearer = (token: string) => ({ headers: { Authorization: `Bearer ${token}` } });

/** The address of a read of today; the project is the token's only one where none is named. */
function addressOf({ path, required }: Endpoint, project?: string): string {
  const range = { from: today(), to: today() };
  const named = project === undefined ? {} : { project };
  return `${path}?${new URLSearchParams({ ...named, ...range, ...required })}`;
}

/** A reply without what tells one project's from another's, whatever was counted. */
function resultOf(body: Json): Json {
  const { query: _, asOf: __, pending: ___, tailCursor: ____, ...result } = body;
  return result;
}

/** What each read says of how many there were; null where it says what changed over weeks. */
function visitorsIn({ documented }: Endpoint, body: Reply["body"]): number | null {
  const { totals, total, rows, entered, goals, cohorts, series, sample, visitors, events } = body;
  switch (documented) {
    case "/v1/kpis":
      return totals.visitors;
    case "/v1/acquisition":
      return total.visitors;
    case "/v1/journeys":
      return total;
    case "/v1/pages":
    case "/v1/heatmaps/paths":
      return rows[0].visitors;
    case "/v1/goals":
      return goals[0].uniqueConversions;
    case "/v1/retention":
      return cohorts.at(-1).size;
    case "/v1/trends":
      return series.reduce((sum: number, point: { value: number }) => sum + point.value, 0) / 4;
    case "/v1/heatmaps":
      return sample.visitors;
    case "/v1/live":
      return visitors.last30Minutes;
    case "/v1/events":
      return events.length / 5;
    case "/v1/vitals":
      return totals.pageViews;
    case "/v1/visits":
    case "/v1/actors":
      return rows.length;
    case "/v1/visits/{id}":
    case "/v1/actors/{id}/timeline":
    case "/v1/insights":
      return null;
    default:
      return entered;
  }
}

for (const one of ENDPOINTS) {
  Deno.test(`${one.documented}: without a token that may read the project there is nothing`, async () => {
    const open = await server.fetch(addressOf(one, own.id));
    assertProblem(open, 401, "missing_token");
    assert.match(open.headers.get("www-authenticate") ?? "", /^Bearer/);
    assertProblem(
      await server.fetch(addressOf(one, own.id), bearer("x.y.z")),
      401,
      "invalid_token",
    );
    const writer = await server.token([own.id], "write jobs admin");
    assertProblem(
      await server.fetch(addressOf(one, own.id), bearer(writer)),
      403,
      "insufficient_scope",
    );
    const reader = await server.token([own.id], "read");
    for (const stranger of [other.id, "prj_none"]) {
      const reply = await server.fetch(addressOf(one, stranger), bearer(reader));
      assertProblem(reply, 403, "insufficient_scope");
    }
    const both = await server.token([own.id, other.id], "read");
    assertProblem(await server.fetch(addressOf(one), bearer(both)), 400, "project_required");
    const everything = await server.admin("GET", addressOf(one, "prj_none"));
    assertProblem(everything, 404, "not_found");
  });

  Deno.test(`${one.documented}: a reader sees its own project's numbers alone`, async () => {
    for (const [project, visitors] of [[own, 1], [other, 2]] as const) {
      const reader = await server.token([project.id], "read");
      const { status, body } = await server.fetch(addressOf(one), bearer(reader));
      assert.equal(status, 200, JSON.stringify(body));
      assert.equal(body.query.project, project.id);
      assert.equal(visitorsIn(one, body) ?? visitors, visitors);
      const stranger = project === own ? other : own;
      assert.ok(!JSON.stringify(resultOf(body)).includes(stranger.id));
    }
  });

  Deno.test(`${one.documented}: 304 while nothing happens, and an event changes the tag`, async () => {
    const project = await server.project();
    const save = { title: "Saved", steps: ["page_view", "buy"] };
    await server.admin("PUT", `/v1/funnels/${SAVED}?project=${project.id}`, save);
    const goal = { title: "Saved", match: { name: "buy" } };
    await server.admin("PUT", `/v1/goals/${SAVED}?project=${project.id}`, goal);
    await send(project, "a");
    const token = await server.token([project.id], "read");
    const ask = (method: string, headers: Record<string, string> = {}) =>
      server.fetch(addressOf(one), {
        method,
        headers: { ...bearer(token).headers, ...headers },
      });

    const first = await ask("GET");
    const tag = first.headers.get("etag") ?? "";
    // Some reads answer in another form whom it accepts, and all to nobody else.
    assert.equal(first.headers.get("vary"), "Authorization, Accept, Accept-Encoding");
    assert.match(tag, /^W\/"[\w-]+"$/);
    assert.equal(first.headers.get("cache-control"), "private, no-cache");
    assert.equal((await ask("GET", { "If-None-Match": "*" })).status, 304);
    const again = await ask("GET", { "If-None-Match": `"x", ${tag}` });
    // A minute of the clock may end between the two.
    if (one.documented !== "/v1/live" || again.status !== 200) {
      assert.equal(again.status, 304);
      assert.equal(again.body, "");
      assert.equal(again.headers.get("etag"), tag);
      const strong = await ask("GET", { "If-None-Match": tag.slice("W/".length) });
      assert.equal(strong.status, 304);
    }
    const head = await ask("HEAD");
    assert.equal(head.status, 200);
    if (one.documented !== "/v1/live") assert.equal(head.headers.get("etag"), tag);

    await send(project, "b");
    if (visitorsIn(one, first.body) === null) return;
    const changed = await ask("GET", { "If-None-Match": tag });
    assert.equal(changed.status, 200);
    assert.notEqual(changed.headers.get("etag"), tag);
    assert.equal(visitorsIn(one, changed.body), 2);
  });
}

Deno.test("saved reports: only a token that may write to the project changes them", async () => {
  const bodies = {
    [`/v1/funnels/${SAVED}`]: { title: "Changed", steps: ["page_view"] },
    [`/v1/goals/${SAVED}`]: { title: "Changed", match: { name: "click" } },
  };
  const asking = async (method: string, path: string, token: string | null, body?: Json) =>
    await server.fetch(path, {
      method,
      headers: {
        "Content-Type": "application/json",
        ...token === null ? {} : bearer(token).headers,
      },
      ...body === undefined ? {} : { body: JSON.stringify(body) },
    });
  const reader = await server.token([own.id], "read jobs admin");
  const writer = await server.token([own.id], "write");
  for (const [path, body] of Object.entries(bodies)) {
    for (const method of ["PUT", "DELETE"]) {
      const sent = method === "PUT" ? body : undefined;
      assertProblem(await asking(method, path, null, sent), 401, "missing_token");
      assertProblem(await asking(method, path, reader, sent), 403, "insufficient_scope");
      const elsewhere = await asking(method, `${path}?project=${other.id}`, writer, sent);
      assertProblem(elsewhere, 403, "insufficient_scope");
    }
  }
  for (const { id } of [own, other]) {
    const { body: { funnels } } = await server.admin("GET", `/v1/funnels?project=${id}`);
    assert.deepEqual(funnels.map(({ title }: Json) => title), [`Of ${id}`]);
    const { body: { goals } } = await server.admin("GET", `/v1/goals?project=${id}`);
    assert.deepEqual(goals.map(({ title }: Json) => title), [`Of ${id}`]);
  }
  for (const [path, body] of Object.entries(bodies)) {
    const mine = path.replace(SAVED, "mine");
    assert.equal((await asking("PUT", mine, writer, body)).status, 201);
    const stranger = await server.admin("GET", `/v1/funnels/mine?project=${other.id}`);
    assertProblem(stranger, 404, "not_found");
    assert.equal((await asking("PUT", mine, writer, body)).status, 200);
    assertProblem(
      await server.admin("DELETE", `${mine}?project=${other.id}`),
      404,
      "not_found",
    );
    assert.equal((await asking("DELETE", mine, writer)).status, 204);
    assertProblem(await asking("DELETE", mine, writer), 404, "not_found");
  }
});

/** PostgreSQL's code for a change within a read-only transaction. */
const READ_ONLY = "25006";

onBothEngines(
  "reads: an answer that tries to write is refused, and changes nothing",
  async (_t, db) => {
    const database = await openWithProjects(db);
    const services = {
      reads: database,
      projection: createProjection(database),
      segments: new SegmentCache(0),
      pool: IN_PLACE,
      readTimeoutMs: 10_000,
      now: Date.now,
    };
    const asked = (url: string) => ({
      project: { projectId: 1, id: "prj_one", timezone: "UTC", siteUrl: null } as Read["project"],
      request: new Request(url),
      url: new URL(url),
      params: {},
    });
    const reportThat = (answer: Question["answer"]): Report => ({
      path: "/v1/test",
      summary: "Tries to write",
      parameters: {},
      semantics: "",
      reply: {},
      ask: () => ({ answer }),
    });
    const attempts: readonly Question["answer"][] = [
      async ({ sql }) => {
        await sql.query("UPDATE projects SET name = 'Changed'");
        return { result: {} };
      },
      async ({ sql }) => {
        await sql.script("SELECT 1; DELETE FROM projects");
        return { result: {} };
      },
      async ({ sql }) => {
        await sql.transaction((tx) => tx.query("CREATE TABLE mine (id int)"));
        return { result: {} };
      },
      async ({ sql }) => {
        const text = "WITH changed AS (UPDATE projects SET name = 'Changed' RETURNING 1) SELECT";
        await sql.query(text);
        return { result: {} };
      },
    ];
    for (const attempt of attempts) {
      const answering = getReport(services, reportThat(attempt), asked("http://x/v1/test"));
      await assert.rejects(
        answering,
        (error) => error instanceof DatabaseUnavailable && error.message.includes(READ_ONLY),
      );
    }
    const names = await database.query("SELECT name FROM projects ORDER BY name");
    assert.deepEqual(names.map(({ name }) => name), ["One", "Two"]);
  },
);

Deno.test("OpenAPI: every parameter of every read is documented, and described", async () => {
  const { body, status } = await server.fetch("/v1/openapi.json");
  assert.equal(status, 200, JSON.stringify(body) + server.logLines.at(-2));
  for (const { documented, parameters } of ENDPOINTS) {
    const operation = body.paths[documented]?.get;
    assert.ok(operation, documented);
    const told = operation.parameters.filter((one: Json) => one.in === "query");
    const names = told.map(({ name }: Json) => name);
    assert.deepEqual(names.toSorted(), parameters.toSorted(), documented);
    for (const { name, description } of told) assert.ok(description?.length > 5, `${name}`);
    assert.ok(operation.responses["200"].content["application/json"].schema, documented);
  }
});

Deno.test("OpenAPI: no read of a project is missing from these tests", async () => {
  const { body } = await server.fetch("/v1/openapi.json");
  // Lists of what people have saved take the shared parameters without effect: parameters_test.ts.
  const lists = ["notes", "segments", "digests", "alerts", "webhooks"].map((name) => `/v1/${name}`);
  const known = new Set([...ENDPOINTS.map(({ documented }) => documented), ...lists]);
  // deno-lint-ignore no-explicit-any
  const reads = Object.entries<any>(body.paths).filter(([, { get }]) =>
    get?.parameters.some((one: Json) => one.in === "query" && one.name === "filters")
  );
  assert.ok(reads.length > 5);
  assert.deepEqual(reads.map(([path]) => path).filter((path) => !known.has(path)), []);
});

for (const path of ["kpis", "trends?event=buy", "goals", "retention", "insights"]) {
  for (const compare of ["previous", "year"]) {
    Deno.test(`/v1/${path}: 304 where an unfinished range is compared by ${compare}`, async () => {
      const project = await server.project();
      const timestamp = new Date(Date.now() - 60 * 86_400_000).toISOString();
      await server.post(project, [newEvent({ name: "page_view", timestamp })]);
      await send(project, "a");
      const query = new URLSearchParams({ project: project.id, compare, from: today() });
      const address = `/v1/${path}${path.includes("?") ? "&" : "?"}${query}`;
      const first = await server.admin("GET", address);
      assert.equal(first.status, 200, JSON.stringify(first.body));
      const { to } = first.body.previous;
      const again = await server.admin("GET", address);
      // Retention compares whole periods.
      if (path !== "retention") assert.notEqual(again.body.previous.to, to);
      assert.equal(again.headers.get("etag"), first.headers.get("etag"));
    });
  }
}

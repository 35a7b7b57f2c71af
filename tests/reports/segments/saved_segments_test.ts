import assert from "node:assert/strict";
import {
  CONDITION_DAYS_MAX,
  CONDITION_LEAVES_MAX,
  CONDITION_LEVELS_MAX,
  CONDITION_TIMES_MAX,
} from "../../../src/query/actor_condition.ts";
import { SEGMENTS_MAX, SegmentShown } from "../../../src/reports/saved/segment_definitions.ts";
import { ENDPOINTS, SAVED, STEPS } from "../../reads/endpoints.ts";
import {
  assertProblem,
  type Json,
  newEvent,
  sharedApp,
  type TestProject,
} from "../../support/app.ts";

const app = sharedApp();
let project: TestProject;

Deno.test.beforeAll(async () => {
  project = await app.project();
  for (
    const [path, body] of [
      [`/v1/goals/${SAVED}`, { title: "Buy", match: { name: "buy" } }],
      [`/v1/funnels/${SAVED}`, { title: "Way", steps: JSON.parse(STEPS) }],
    ] as const
  ) {
    assert.equal((await app.admin("PUT", `${path}?project=${project.id}`, body)).status, 201);
  }
});

const at = (slug: string, of = project) => `/v1/segments/${slug}?project=${of.id}`;

async function put(slug: string, body: unknown, of = project) {
  return await app.admin("PUT", at(slug, of), body);
}

const BUYERS = {
  title: "Buyers",
  filters: [{ field: "country", op: "is", values: ["DE"] }],
  actors: {
    all: [
      { did: { name: "buy", filters: [] }, atLeast: 2, within: "30d" },
      { not: { goal: SAVED } },
      { firstSeen: { from: "2026-01-01", to: "2026-01-31" } },
    ],
  },
};

Deno.test("segments: saved, shown, listed, replaced and deleted", async () => {
  const own = await app.project();
  await app.admin("PUT", `/v1/goals/${SAVED}?project=${own.id}`, {
    title: "Buy",
    match: { name: "buy" },
  });
  const added = await put("buyers", BUYERS, own);
  assert.equal(added.status, 201, JSON.stringify(added.body));
  const shown = { slug: "buyers", ...BUYERS };
  assert.deepEqual(added.body, shown);
  assert.deepEqual(SegmentShown.parse(added.body), shown);
  assert.deepEqual((await app.admin("GET", at("buyers", own))).body, shown);
  // Members in the order of the API, whatever the database makes of them.
  const { all: [did] } = (await app.admin("GET", at("buyers", own))).body.actors;
  assert.deepEqual(Object.keys(did), ["did", "atLeast", "within"]);
  const plain = await put("all", { title: " All " }, own);
  assert.deepEqual(plain.body, { slug: "all", title: "All", filters: [], actors: null });
  const list = await app.admin("GET", `/v1/segments?project=${own.id}`);
  assert.deepEqual(list.body.segments, [plain.body, shown]);
  const named = await put("buyers", { title: "Who bought", actors: { did: "buy" } }, own);
  assert.equal(named.status, 200);
  assert.deepEqual(named.body.actors, { did: { name: "buy", filters: [] } });
  const ofPage = await put("buyers", { title: "Front page", actors: { did: { path: "/" } } }, own);
  const views = { name: "page_view", filters: [{ field: "path", op: "is", values: ["/"] }] };
  assert.deepEqual(ofPage.body.actors, { did: views });
  assert.equal((await app.admin("DELETE", at("buyers", own))).status, 204);
  for (const slug of ["buyers", "%00", "none"]) {
    assertProblem(await app.admin("GET", at(slug, own)), 404, "not_found");
    assertProblem(await app.admin("DELETE", at(slug, own)), 404, "not_found");
  }
  assertProblem(await put("No", { title: "x" }), 400, "invalid_parameter");
});

/** Conditions inside one another, so many levels in all. */
function nested(levels: number): Json {
  return levels === 1 ? { did: "buy" } : { not: nested(levels - 1) };
}

const leaves = (count: number) => ({
  any: Array.from({ length: 2 }, (_, half) => ({
    all: Array.from(
      { length: half === 0 ? Math.floor(count / 2) : Math.ceil(count / 2) },
      () => ({ did: "buy" }),
    ),
  })),
});

const TAKEN: readonly Json[] = [
  leaves(CONDITION_LEAVES_MAX),
  nested(CONDITION_LEVELS_MAX),
  { did: "buy", atLeast: CONDITION_TIMES_MAX },
  { did: "buy", atMost: 0 },
  { did: "buy", atLeast: 2, atMost: 2 },
  { did: "buy", within: `${CONDITION_DAYS_MAX}d` },
  { did: { name: null }, within: "range" },
  { goal: SAVED, within: { from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:00.001Z" } },
  { firstSeen: { from: "2026-01-01", to: "2026-01-01" } },
];

/** The place of each mistake, and what is wrong there. */
const REFUSED: readonly (readonly [readonly string[], unknown])[] = [
  [["actors"], leaves(CONDITION_LEAVES_MAX + 1)],
  [["actors"], nested(CONDITION_LEVELS_MAX + 1)],
  [["actors"], nested(5_000)],
  [["actors"], "buy"],
  [["actors"], {}],
  [["actors"], { did: "buy", goal: SAVED }],
  [["actors.all"], { all: [] }],
  [["actors.all"], { all: { did: "buy" } }],
  [["actors.any.1"], { any: [{ did: "buy" }, {}] }],
  [["actors.not"], { not: "x" }],
  [["actors.colour"], { did: "buy", colour: "red" }],
  [["actors.did"], { did: 1 }],
  [["actors.did"], { did: "" }],
  [["actors.did.name"], { did: { name: "a\0" } }],
  [["actors.did.path"], { did: { path: "" } }],
  [["actors.did.path"], { did: { path: "/\0" } }],
  [["actors.did"], { did: { path: "/", name: "buy" } }],
  [["actors.did.filters.0.op"], {
    did: { name: "a", filters: [{ field: "path", op: "like", values: ["a"] }] },
  }],
  [["actors.did.filters.0.field"], {
    did: { name: "a", filters: [{ field: "nope", op: "exists" }] },
  }],
  [["actors.atLeast"], { did: "buy", atLeast: 0 }],
  [["actors.atLeast"], { did: "buy", atLeast: CONDITION_TIMES_MAX + 1 }],
  [["actors.atMost"], { did: "buy", atMost: -1 }],
  [["actors.atMost"], { did: "buy", atMost: 1.5 }],
  [["actors.atMost"], { did: "buy", atLeast: 2, atMost: 1 }],
  [["actors.atLeast"], { goal: SAVED, atLeast: 1 }],
  [["actors.within"], { not: { did: "buy" }, within: "30d" }],
  [["actors.within"], { firstSeen: { from: "2026-01-01", to: "2026-01-02" }, within: "30d" }],
  ...["0d", "30", "d", "1w", "x", `${CONDITION_DAYS_MAX + 1}d`, 30, {}, { from: "2026-01-01" }]
    .map((within): [string[], unknown] => [["actors.within"], { did: "buy", within }]),
  [["actors.within.to"], { did: "buy", within: { from: "2026-01-02", to: "2026-01-01" } }],
  [["actors.firstSeen.from"], { firstSeen: { from: "2026-02-30", to: "2026-03-01" } }],
  [["actors.firstSeen.to"], { firstSeen: { from: "2026-01-02", to: "2026-01-01" } }],
  [["actors.firstSeen.to"], { firstSeen: { from: "2026-01-02", to: "2026-01-03T00:00:00Z" } }],
  [["actors.firstSeen.to"], {
    firstSeen: { from: "2026-01-02T00:00:00Z", to: "2026-01-02T00:00:00Z" },
  }],
  [["actors.goal"], { goal: "" }],
  [["actors.goal"], { goal: "none" }],
  // Each by its place.
  [["actors.all.0.did", "actors.all.1.not.atLeast", "actors.all.2"], {
    all: [{ did: "" }, { not: { did: "buy", atLeast: 0 } }, {}],
  }],
  [["actors.any.0.goal", "actors.any.1.not.goal"], {
    any: [{ goal: "none" }, { not: { goal: "nowhere" } }, { goal: SAVED }],
  }],
];

Deno.test("segments: valid conditions are accepted, and all mistakes are reported at once with their places", async () => {
  for (const actors of TAKEN) {
    const { status, body } = await put("taken", { title: "Taken", actors });
    assert.ok(status === 200 || status === 201, JSON.stringify([actors, body]));
    assert.deepEqual((await app.admin("GET", at("taken"))).body, body);
  }
  for (const [fields, actors] of REFUSED) {
    const reply = await put("refused", { title: "Refused", actors });
    const shown = JSON.stringify(actors).slice(0, 200);
    assert.equal(`${reply.status} ${reply.body.code}`, "400 invalid_body", shown);
    const told = reply.body.errors.map(({ field }: { field: string }) => field);
    assert.deepEqual(told.toSorted(), fields.toSorted(), shown);
  }
  for (const title of [undefined, "", "a\tb", "x".repeat(201)]) {
    const reply = await put("refused", { title });
    assert.deepEqual(reply.body.errors.map(({ field }: { field: string }) => field), ["title"]);
  }
  assertProblem(await app.admin("GET", at("refused")), 404, "not_found");
});

Deno.test("segments: as many as a project may have", async () => {
  const own = await app.project();
  const slugs = Array.from({ length: SEGMENTS_MAX }, (_, i) => `segment-${i}`);
  const replies = await Promise.all(slugs.map((slug) => put(slug, { title: "One" }, own)));
  assert.ok(replies.every(({ status }) => status === 201));
  assertProblem(await put("more", { title: "More" }, own), 409, "conflict");
  assert.equal((await put("segment-0", { title: "Changed" }, own)).status, 200);
});

Deno.test("goals: a goal that a segment uses is not deleted, and the segment is named", async () => {
  const own = await app.project();
  const goal = `/v1/goals/asked?project=${own.id}`;
  await app.admin("PUT", goal, { title: "Asked", match: { name: "buy" } });
  await put("deep", { title: "Deep", actors: { not: { any: [{ goal: "asked" }] } } }, own);
  const refused = await app.admin("DELETE", goal);
  assertProblem(refused, 409, "conflict");
  assert.match(refused.body.detail, /deep/);
  await put("deep", { title: "Deep", actors: { did: "buy" } }, own);
  assert.equal((await app.admin("DELETE", goal)).status, 204);
  // Its segment, in another project, is another one's.
  assertProblem(await app.admin("DELETE", goal), 404, "not_found");
});

/** Two people, of whom one buys; now, unless it was at another time. */
async function twoPeople(of: TestProject, when: Json = {}): Promise<void> {
  const event = (anonymousId: string, name: string) =>
    newEvent({
      ...when,
      anonymousId,
      name,
      url: "https://shop.example/",
      context: { viewport: { width: 1440 } },
    });
  const events = [event("a", "page_view"), event("a", "buy"), event("b", "page_view")];
  assert.equal((await app.post(of, events)).status, 200);
}

/** A project with what the reads of `ENDPOINTS` ask for. */
async function newProject(): Promise<TestProject> {
  const own = await app.project();
  const goal = { title: "Buy", match: { name: "buy" } };
  await app.admin("PUT", `/v1/goals/${SAVED}?project=${own.id}`, goal);
  const way = { title: "Way", steps: JSON.parse(STEPS) };
  await app.admin("PUT", `/v1/funnels/${SAVED}?project=${own.id}`, way);
  return own;
}

/** What a reply says of people. */
function toldOf(path: string, body: Json): unknown {
  const { query: _, asOf: __, pending: ___, tailCursor: ____, capture: _____, ...result } = body;
  return path === "/v1/live" ? { visitors: body.visitors, pages: body.pages } : result;
}

const MARCH = { from: "2026-03-01", to: "2026-03-31" };

Deno.test("every read: a segment of nobody has empty figures and is echoed; an unknown one is refused by name", async () => {
  const [own, empty] = [await newProject(), await newProject()];
  await twoPeople(own, { timestamp: "2026-03-02T10:00:00Z" });
  await twoPeople(own);
  // Whoever did nothing of any name, of whom there is nobody, and all.
  await put("nobody", { title: "Nobody", actors: { not: { did: { name: null } } } }, own);
  await put("all", { title: "All", actors: { did: { name: null } } }, own);
  for (const { path, required } of ENDPOINTS) {
    const range = path === "/v1/live" ? {} : MARCH;
    const ask = async (of: TestProject, params: Json) => {
      const query = { project: of.id, ...required, ...range, ...params as Record<string, string> };
      return await app.admin("GET", `${path}?${new URLSearchParams(query)}`);
    };
    // What an id names is told, or is not there, whoever is of a segment.
    if (/^\/v1\/(?:visits|actors)\//.test(path)) continue;
    const none = await ask(own, { segment: "nobody" });
    assert.equal(none.status, 200, `${path} ${JSON.stringify(none.body)}`);
    assert.equal(none.body.query.segment.title, "Nobody", path);
    assert.match(none.body.query.semantics, /A segment covers/, path);
    assert.deepEqual(toldOf(path, none.body), toldOf(path, (await ask(empty, {})).body), path);
    const all = await ask(own, { segment: "all" });
    assert.deepEqual(toldOf(path, all.body), toldOf(path, (await ask(own, {})).body), path);
    for (const params of [{ segment: "unknown" }, { compare: "segment:unknown" }]) {
      const [name] = Object.keys(params);
      // A list of events compares nothing.
      if (path === "/v1/events" && name === "compare") continue;
      const reply = await ask(own, params);
      assertProblem(reply, 400, "invalid_parameter");
      assert.equal(reply.body.errors[0].field, name, path);
    }
  }
});

Deno.test("events: exports and tails of a segment have only its people's events", async () => {
  const own = await app.project();
  await put("buyers", { title: "Buyers", actors: { did: "buy" } }, own);
  const before = await app.admin("GET", `/v1/events?project=${own.id}`);
  await twoPeople(own);
  const query = `project=${own.id}&segment=buyers`;
  const names = (events: readonly { name: string }[]) => events.map(({ name }) => name).toSorted();
  const listed = await app.admin("GET", `/v1/events?${query}`);
  assert.deepEqual(names(listed.body.events), ["buy", "page_view"]);
  const after = new URLSearchParams({ after: before.body.tailCursor });
  const tail = await app.admin("GET", `/v1/events?${query}&${after}`);
  assert.deepEqual(names(tail.body.events), ["buy", "page_view"]);
  const lines = await app.fetch(`/v1/events?${query}`, {
    headers: {
      Authorization: `Bearer ${app.app.controlToken}`,
      Accept: "application/x-ndjson",
    },
  });
  const exported = String(lines.body).trim().split("\n").map((line) => JSON.parse(line));
  assert.deepEqual(names(exported), ["buy", "page_view"]);
});

Deno.test("warnings: a value in a segment that never occurred is reported", async () => {
  const own = await app.project();
  await twoPeople(own);
  await put("odd", { title: "Odd", actors: { did: "buuy" } }, own);
  const { body } = await app.admin("GET", `/v1/kpis?project=${own.id}&segment=odd`);
  const [warning] = body.query.warnings;
  assert.deepEqual([warning.code, warning.parameter, warning.suggestions], [
    "value_never_seen",
    "segment",
    ["buy"],
  ]);
});

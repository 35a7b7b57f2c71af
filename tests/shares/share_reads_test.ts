import assert from "node:assert/strict";
import { assertProblem, type Json, sharedApp } from "../support/app.ts";
import {
  ALL_VIEWS,
  ask,
  NOON_MS,
  people,
  post,
  postCounted,
  read,
  share,
  sharedShop,
  shop,
  SITE,
  tokenOf,
} from "./shared_shop.ts";

const app = sharedApp();
Deno.test("share reads: sums are those that everybody sees", async () => {
  const { project, token } = await sharedShop(app);
  const own = (await app.admin("GET", `/v1/kpis?project=${project.id}&interval=month`)).body;
  const { status, body } = await read(app, token, "kpis", { interval: "month" });
  assert.equal(status, 200, JSON.stringify(body));
  assert.deepEqual(body.totals, own.totals);
  assert.equal(body.totals.visitors, 6);
});

Deno.test("share reads: rows of too few visitors become $other, and the total is exact", async () => {
  const { token } = await sharedShop(app, { minimumVisitors: 2 });
  const { body } = await read(app, token, "acquisition", { by: "source" });
  assert.deepEqual(
    body.rows.map(({ value, visitors, sessions }: Json) => [value, visitors, sessions]),
    [["newsletter", 5, 5], ["$other", 1, 1]],
  );
  assert.equal(body.total.visitors, 6);
});

Deno.test("share reads: with a minimum of one all is told, and nobody named", async () => {
  const { project, token } = await sharedShop(app, { minimumVisitors: 1 });
  const { body } = await read(app, token, "acquisition", { by: "source" });
  assert.deepEqual(
    body.rows.map(({ value, visitors }: Json) => [value, visitors]),
    [["newsletter", 5], ["friend", 1]],
  );
  assert.equal(body.query.minimumVisitors, 1);
  // Nobody is no group that is too small.
  const none = await read(app, token, "kpis", { from: "2020-01-01", to: "2020-01-02" });
  assert.deepEqual([none.status, none.body.totals.visitors], [200, 0]);
  const anna = [{ field: "userId", op: "is", values: ["anna@example.com"] }];
  const match = { name: "page_view", filters: anna };
  const save = (path: string, definition: Json) =>
    app.admin("PUT", `/v1/${path}?project=${project.id}`, { title: "Anna", ...definition });
  await save("goals/anna", { match });
  await save("funnels/anna", { steps: [match] });
  assert.deepEqual((await read(app, token, "goals")).body.goals, []);
  assert.deepEqual((await read(app, token, "funnels")).body.funnels, []);
  assertProblem(await read(app, token, "funnels/anna"), 404, "not_found");
  const ofGoal = await read(app, token, "acquisition", { goal: "anna" });
  assert.notEqual(ofGoal.status, 200);
  const named = await read(app, token, "kpis", { filters: anna });
  assertProblem(named, 400, "invalid_parameter");
});

Deno.test("share reads: what is told as $other is counted as one, each person once", async () => {
  const project = await app.project({ siteUrl: SITE });
  const few = people(3, "few");
  await post(app, project, [
    ...people(4).map((who) => ({ who, path: "/", source: "many" })),
    ...few.map((who) => ({ who, path: `/of-${who}`, source: who })),
  ]);
  // One of them comes back by another's way: two values, one visitor.
  await postCounted(app, project, [{
    eventId: crypto.randomUUID(),
    name: "page_view",
    anonymousId: "few0",
    timestamp: new Date(NOON_MS - 3 * 3_600_000).toISOString(),
    url: `${SITE}/of-few1?utm_source=few1`,
  }]);
  const { id } = await share(app, project);
  const token = await tokenOf(app, id);
  const from = new Date(NOON_MS - 6 * 3_600_000).toISOString();
  const to = new Date(NOON_MS + 6 * 3_600_000).toISOString();
  const sources = (await read(app, token, "acquisition", { by: "source", from, to })).body;
  assert.deepEqual(
    sources.rows.map(({ value, visitors, sessions }: Json) => [value, visitors, sessions]),
    [["many", 4, 4], ["$other", 3, 4]],
  );
  const pages = (await read(app, token, "pages", { from, to })).body;
  assert.deepEqual(
    pages.rows.map(({ path, visitors, pageviews, medianSecondsOnPage }: Json) => [
      path,
      visitors,
      pageviews,
      medianSecondsOnPage === null,
    ]),
    [["/", 4, 4, false], ["$other", 3, 4, true]],
  );
});

Deno.test("share reads: $other is told however few its visitors are, by every list alike", async () => {
  const project = await app.project({ siteUrl: SITE });
  await post(app, project, [
    ...people(4).map((who) => ({ who, path: "/", source: "many" })),
    { who: "one", path: "/seldom", source: "few" },
  ]);
  const token = await tokenOf(app, (await share(app, project)).id);
  for (const [path, by] of [["pages", {}], ["acquisition", { by: "source" }]] as const) {
    const { rows } = (await read(app, token, path, by)).body;
    assert.deepEqual(
      rows.map(({ path, value = path, visitors }: Json) => [value, visitors]),
      [[path === "pages" ? "/" : "many", 4], ["$other", 1]],
    );
  }
});

Deno.test("share reads: $other stands on the last page of a list, whatever the pages", async () => {
  const project = await app.project({ siteUrl: SITE });
  await post(app, project, [
    ...people(5).map((who) => ({ who, path: "/a" })),
    ...people(4).map((who) => ({ who, path: "/b" })),
    ...people(3).map((who) => ({ who, path: `/${who}` })),
  ]);
  const token = await tokenOf(app, (await share(app, project)).id);
  for (const [path, name] of [["pages", "path"], ["acquisition", "value"]] as const) {
    const by = path === "pages" ? {} : { by: "entryPath" };
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Json = { ...by, limit: "1", ...cursor === null ? {} : { cursor } };
      const { status, body } = await read(app, token, path, page);
      assert.equal(status, 200, JSON.stringify(body));
      seen.push(...body.rows.map((row: Record<string, string>) => row[name]));
      cursor = body.nextCursor;
    } while (cursor !== null);
    assert.equal(seen.at(-1), path === "pages" ? "$other" : seen.at(-1));
    assert.equal(new Set(seen).size, seen.length);
  }
});

Deno.test("share reads: lines and groups of too few visitors are told as $other", async () => {
  const project = await app.project({ siteUrl: SITE });
  await post(app, project, [
    ...people(5).map((who) => ({ who, path: "/a", source: "many" })),
    ...people(4, "q").map((who) => ({ who, path: "/b", source: "some" })),
    ...people(3, "r").map((who) => ({ who, path: `/${who}`, source: who })),
  ]);
  const token = await tokenOf(app, (await share(app, project, { views: ALL_VIEWS })).id);
  const { body: trends } = await read(app, token, "trends", {
    by: "path",
    measure: "visitors",
    interval: "month",
  });
  const sum = (points: { value: number }[]) => points.reduce((all, { value }) => all + value, 0);
  assert.deepEqual(
    trends.series.map(({ value, points }: { value: string; points: { value: number }[] }) => [
      value,
      sum(points),
    ]),
    [["/a", 5], ["/b", 4], ["$other", 3]],
  );
  const { body: funnel } = await read(app, token, "funnels", {
    steps: ["page_view"],
    by: "source",
  });
  assert.deepEqual(
    funnel.groups.map(({ value, entered }: Json) => [value, entered]),
    [["many", 5], ["some", 4], ["$other", 3]],
  );
  assert.equal(funnel.entered, 12);
});

Deno.test("share reads: cohorts of too few people stand together, and the average is everybody's", async () => {
  const project = await app.project({ siteUrl: SITE });
  const dayMs = 86_400_000;
  const at = (who: string, daysAgo: number) => ({
    eventId: crypto.randomUUID(),
    name: "page_view",
    anonymousId: who,
    timestamp: new Date(NOON_MS - daysAgo * dayMs).toISOString(),
    url: `${SITE}/`,
  });
  await postCounted(app, project, [
    ...people(4).map((who) => at(who, 5)),
    ...people(2, "a").map((who) => at(who, 4)),
    ...people(2, "b").map((who) => at(who, 3)),
    at("a0", 3),
    at("b0", 2),
    at("p0", 4),
  ]);
  const token = await tokenOf(app, (await share(app, project, { views: ["retention"] })).id);
  const query = { interval: "day", periods: "2" };
  const own = new URLSearchParams({ project: project.id, ...query });
  const all = (await app.admin("GET", `/v1/retention?${own}`)).body;
  const { body } = await read(app, token, "retention", query);
  assert.deepEqual(body.average, all.average);
  const large = body.cohorts.filter(({ size }: { size: number }) => size > 0);
  assert.deepEqual(
    large.map(({ label, size, cells }: { label: string; size: number; cells: Json[] }) => [
      label === "$other",
      size,
      cells.map(({ actors }) => actors),
    ]),
    // One and two of four came back: too few to be told.
    [[false, 4, [4, null]], [true, 4, [4, null]]],
  );
});

Deno.test("share reads: a goal that few reached tells nothing", async () => {
  const { project, token } = await sharedShop(app);
  const goal = (title: string, name: string) => ({
    title,
    match: { name },
    value: { fixed: 10, currency: "EUR" },
  });
  await post(app, project, [{ who: "lonely", name: "confession" }]);
  for (const name of ["purchase", "confession"]) {
    await app.admin("PUT", `/v1/goals/${name}?project=${project.id}`, goal(name, name));
  }
  const { body } = await read(app, token, "goals", { interval: "month" });
  assert.deepEqual(
    body.goals.map(({ slug, uniqueConversions, value }: Json) => [slug, uniqueConversions, value]),
    [
      ["confession", null, { amount: null, currency: "EUR" }],
      ["purchase", 4, { amount: 40, currency: "EUR" }],
    ],
  );
  const { body: rows } = await read(app, token, "acquisition", { goal: "purchase" });
  assert.equal(rows.total.conversions, 4);
  assert.deepEqual(rows.total.goalValue, { amount: 40, currency: "EUR" });
  const { body: few } = await read(app, token, "acquisition", { goal: "confession" });
  assert.deepEqual(few.total.goalValue, { amount: null, currency: "EUR" });
});

Deno.test("share reads: heatmaps show cells, elements and depths of enough visitors alone", async () => {
  const project = await app.project({ siteUrl: SITE });
  const clicks = (who: string, y: number, selector: string) => ({
    who,
    path: "/",
    name: "click",
    properties: {
      x: 0.5,
      y,
      fixed: false,
      rage: false,
      dead: false,
      selector,
      viewportWidth: 1440,
      viewportHeight: 900,
      documentWidth: 1440,
      documentHeight: 3000,
    },
  });
  const scroll = (who: string, depthPx: number) => ({
    who,
    path: "/",
    name: "scroll",
    properties: { depthPx, viewportWidth: 1440, viewportHeight: 900, documentHeight: 3000 },
  });
  await post(app, project, [
    ...people(4).map((who) => ({ who, path: "/" })),
    { who: "p0", path: "/only-p0" },
    { who: "p0", path: "/his-too" },
    ...people(4).map((who) => clicks(who, 105, "#buy")),
    clicks("p0", 1505, "#secret"),
    ...people(3).map((who) => scroll(who, 950)),
    scroll("p0", 2900),
  ]);
  const token = await tokenOf(app, (await share(app, project, { views: ["heatmaps"] })).id);
  const { body } = await read(app, token, "heatmaps", { path: "/", elements: "10" });
  assert.deepEqual(body.points.map(({ y, visitors }: Json) => [y, visitors]), [[105, 4]]);
  assert.deepEqual(body.elements, [{ selector: "#buy", count: 4, visitors: 4 }]);
  assert.deepEqual(body.sample, { visitors: 4, clicks: 5 });
  const depths = (await read(app, token, "heatmaps", { path: "/", kind: "scroll" })).body.scroll;
  assert.deepEqual(depths.at(-1), { depthPx: 900, reached: 4 });
  assert.equal((await read(app, token, "heatmaps", { path: "/only-p0" })).body.sample, null);
  const { body: paths } = await read(app, token, "heatmaps/paths");
  assert.deepEqual(
    paths.rows.map(({ path, visitors, clicks }: Json) => [path, visitors, clicks]),
    [["/", 4, 5], ["$other", 1, 0]],
  );
});

Deno.test("share reads: views that it does not name are refused, and so is all that names people", async () => {
  const project = await shop(app);
  const { id } = await share(app, project, { views: ["overview"] });
  const token = await tokenOf(app, id);
  for (const path of ["kpis", "acquisition", "acquisition?goal=", "pages"]) {
    assert.equal((await ask(app, token, `/v1/${path}`)).status, 200, path);
  }
  const refused = [
    "trends",
    "funnels",
    "funnels/checkout",
    "retention",
    "goals",
    "heatmaps?path=/",
    "heatmaps/paths",
    `heatmaps/captures/cap_${"x".repeat(20)}`,
    "acquisition?goal=purchase",
    "insights",
    "live",
    "events",
    "session",
    "projects",
    `projects/${project.id}`,
    `projects/${project.id}/shares`,
    "actors/anna@example.com",
    "audit",
  ];
  for (const path of refused) {
    assertProblem(await ask(app, token, `/v1/${path}`), 403, "insufficient_scope");
  }
  const { id: everything } = await share(app, project, { views: ALL_VIEWS });
  const wide = await tokenOf(app, everything);
  const image = await ask(app, wide, `/v1/heatmaps/captures/cap_${"x".repeat(20)}`);
  assertProblem(image, 404, "not_found");
  for (const path of ["insights", "live", "events", "session", "projects"]) {
    assertProblem(await ask(app, wide, `/v1/${path}`), 403, "insufficient_scope");
  }
});

Deno.test("share reads: one that shows all tells of no person, no other site, and nothing that is written or sent", async () => {
  const { project, token } = await sharedShop(app);
  const asked = async (path: string) => (await app.admin("GET", `/v1/${path}`)).body;
  const inProject = `project=${project.id}`;
  const { rows: [visit] } = await asked(`visits?${inProject}`);
  const { rows: [person] } = await asked(`actors?${inProject}`);
  const silence = { title: "Silence", on: { kind: "silence", minutes: 60 } };
  await app.admin("PUT", `/v1/alerts/silence?${inProject}`, silence);
  await app.admin("POST", `/v1/notes?${inProject}`, { text: "Only for us" });
  const reads = [
    ...["visits", `visits/${visit.id}`, "actors", `actors/${encodeURIComponent(person.actor)}`],
    ...[`actors/${encodeURIComponent(person.actor)}/timeline`, "journeys", "vitals", "overview"],
    ...["notes", "deliveries", "alerts", "digests", "webhooks", "segments"],
  ];
  for (const path of reads) {
    for (const query of ["", `?${inProject}`]) {
      const reply = await ask(app, token, `/v1/${path}${query}`);
      assertProblem(reply, 403, "insufficient_scope");
      assert.ok(!JSON.stringify(reply.body).includes("Only for us"));
    }
  }
  const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
  const writes: [string, string][] = [
    ...["alerts/silence", "digests/day", "webhooks/chat", "segments/a"].map(
      (path): [string, string] => ["PUT", path],
    ),
    ...["alerts/silence/test", "digests/day/test", "webhooks/chat/test", "notes"].map(
      (path): [string, string] => ["POST", path],
    ),
    ["DELETE", "alerts/silence"],
  ];
  for (const [method, path] of writes) {
    const init = { method, headers, ...method === "DELETE" ? {} : { body: "{}" } };
    const reply = await app.fetch(`/v1/${path}?${inProject}`, init);
    assertProblem(reply, 403, "insufficient_scope");
  }
  const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
  const accept = { ...headers, Accept: "application/json, text/event-stream" };
  const init = { method: "POST", headers: accept, body: JSON.stringify(ping) };
  assertProblem(await app.fetch("/mcp", init), 403, "insufficient_scope");
});

Deno.test("share reads: another project is not its own, and its token gives no other", async () => {
  const [mine, other] = [await shop(app), await shop(app)];
  const token = await tokenOf(app, (await share(app, mine)).id);
  assertProblem(await read(app, token, "kpis", { project: other.id }), 403, "insufficient_scope");
  const reply = await app.fetch("/v1/internal/tokens", {
    method: "POST",
    headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ projects: [mine.id], scope: "aggregates", ttlSeconds: 60 }),
  });
  assertProblem(reply, 403, "insufficient_scope");
});

Deno.test("share reads: the scope alone, without a share, opens nothing", async () => {
  const project = await shop(app);
  const reply = await app.admin("POST", "/v1/internal/tokens", {
    projects: [project.id],
    scope: "aggregates",
    ttlSeconds: 60,
  });
  assertProblem(reply, 403, "insufficient_scope");
});

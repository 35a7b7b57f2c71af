import assert from "node:assert/strict";
import {
  IMPORTED_DAYS_PER_REQUEST_MAX,
  IMPORTED_FIGURE_MAX,
  IMPORTED_VALUE_LENGTH_MAX,
  IMPORTED_VALUES_PER_DAY_MAX,
} from "../../src/imported/imported_limits.ts";
import { assertProblem, type Json, newEvent, TestApp, type TestProject } from "../support/app.ts";
import { onFreshEngines } from "../support/databases.ts";

const pathOf = ({ id }: TestProject, source = "") =>
  `/v1/projects/${id}/imported-history${source === "" ? "" : `/${source}`}`;

const all = (day: string, figures: Json) => ({
  ...{ day, dimension: "all" },
  rows: [{ value: null, ...figures }],
});

/** Two days of March: of the first, all that Plausible tells. */
const DAYS = [
  all("2026-03-01", {
    ...{ visitors: 10, visits: 12, pageviews: 30, bounces: 6, seconds: 600, events: 33 },
  }),
  all("2026-03-02", {
    ...{ visitors: 20, visits: 20, pageviews: 50, bounces: 5, seconds: 1000, events: 50 },
  }),
  {
    ...{ day: "2026-03-01", dimension: "channel" },
    rows: [
      { value: "Direct", visitors: 7, visits: 9, pageviews: 20, bounces: 4, seconds: 300 },
      { value: "Email", visitors: 3, visits: 3, pageviews: 10, bounces: 2, seconds: 300 },
    ],
  },
  {
    ...{ day: "2026-03-02", dimension: "channel" },
    rows: [{ value: "Direct", visitors: 20, visits: 20, pageviews: 50, bounces: 5, seconds: 1000 }],
  },
  ...["2026-03-01", "2026-03-02"].flatMap((day) => [
    {
      ...{ day, dimension: "path" },
      rows: [
        { value: "/", visitors: 8, visits: 8, pageviews: 16 },
        { value: "/old", visitors: 2, visits: 2, pageviews: 4 },
      ],
    },
    { day, dimension: "entryPath", rows: [{ value: "/", visits: 6, bounces: 3, seconds: 10 }] },
    { day, dimension: "exitPath", rows: [{ value: "/old", visits: 5 }] },
  ]),
];

/** The project's own first visit: two pages in five minutes, on 3 March in Berlin, 2 March in UTC. */
const OWN = [
  { timestamp: "2026-03-02T23:30:00Z", url: "https://shop.test/" },
  { timestamp: "2026-03-02T23:35:00Z", url: "https://shop.test/new" },
].map((event) => newEvent({ name: "page_view", anonymousId: "ann", ...event }));

type Step = (app: TestApp) => Promise<void>;
const STEPS: [string, Step][] = [];

function step(name: string, work: Step): void {
  STEPS.push([name, work]);
}

async function projectWith(app: TestApp, events: unknown[] = OWN): Promise<TestProject> {
  const project = await app.project({ timezone: "Europe/Berlin" });
  if (events.length > 0) assert.equal((await app.post(project, events)).status, 200);
  const { status, body } = await app.admin("POST", pathOf(project, "plausible"), { days: DAYS });
  assert.equal(status, 200, JSON.stringify(body));
  return project;
}

async function ask(app: TestApp, { id }: TestProject, read: string, query: Record<string, string>) {
  const search = new URLSearchParams({
    project: id,
    from: "2026-03-01",
    to: "2026-03-03",
    ...query,
  });
  const { status, body } = await app.admin("GET", `/v1/${read}?${search}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body;
}

step("key figures of imported days stand beside own ones", async (app) => {
  const project = await projectWith(app);
  const { totals, series, query } = await ask(app, project, "kpis", { interval: "day" });
  assert.deepEqual(query.imported, {
    sources: ["plausible"],
    from: "2026-03-01",
    to: "2026-03-02",
    days: 2,
    before: "2026-03-03",
  });
  assert.match(query.semantics, /sum of each day's visitors/);
  assert.deepEqual(totals, {
    visitors: 31,
    newVisitors: 1,
    sessions: 33,
    pageviews: 82,
    events: 85,
    bounceRate: { value: 11 / 33, numerator: 11, denominator: 33 },
    sessionDuration: { meanSeconds: 1900 / 33, medianSeconds: 300 },
    pageviewsPerSession: 82 / 33,
    imported: true,
  });
  assert.deepEqual(series.map((bucket: Json) => [bucket.visitors, bucket.imported ?? false]), [
    [10, true],
    [20, true],
    [1, false],
  ]);
  const [first] = series;
  assert.equal(first.newVisitors, null);
  assert.deepEqual(first.sessionDuration, { meanSeconds: 50, medianSeconds: null });
  const week = await ask(app, project, "kpis", { interval: "week" });
  assert.deepEqual(week.series.map((bucket: Json) => [bucket.label, bucket.visitors]), [
    ["2026-02-23", 10],
    ["2026-03-02", 21],
  ]);
  assert.equal(week.series[1].newVisitors, 1);
});

step("the first own day is that of an event stored a moment ago", async (app) => {
  const project = await projectWith(app);
  assert.equal((await app.admin("GET", pathOf(project))).body.firstOwnDay, "2026-03-03");
});

step("a comparison reaches into imported days", async (app) => {
  const project = await projectWith(app);
  const range = { from: "2026-03-03", to: "2026-03-04", compare: "previous", interval: "day" };
  const { totals, previous, change, query } = await ask(app, project, "kpis", range);
  assert.equal(totals.imported, undefined);
  assert.equal(query.imported, undefined);
  assert.equal(previous.totals.visitors, 30);
  assert.equal(previous.totals.newVisitors, null);
  assert.equal(change.visitors, (1 - 30) / 30);
  assert.equal(change.newVisitors, null);
  assert.match(query.semantics, /daily sums of another product/);
});

step("rows of acquisition, and their pages", async (app) => {
  const project = await projectWith(app);
  const { rows, total } = await ask(app, project, "acquisition", {});
  assert.deepEqual(rows, [
    {
      value: "Direct",
      visitors: 28,
      newVisitors: 1,
      sessions: 30,
      bounceRate: { value: 9 / 30, numerator: 9, denominator: 30 },
      pageviews: 72,
      rule: "direct: no source, medium or campaign",
      imported: true,
    },
    {
      value: "Email",
      visitors: 3,
      newVisitors: null,
      sessions: 3,
      bounceRate: { value: 2 / 3, numerator: 2, denominator: 3 },
      pageviews: 10,
      rule: null,
      imported: true,
    },
  ]);
  assert.deepEqual([total.visitors, total.sessions, total.imported], [31, 33, true]);
  const first = await ask(app, project, "acquisition", { limit: "1" });
  const second = await ask(app, project, "acquisition", { limit: "1", cursor: first.nextCursor });
  assert.deepEqual([...first.rows, ...second.rows], rows);
  assert.equal(second.nextCursor, null);
});

step("pages with entries and exits", async (app) => {
  const project = await projectWith(app);
  const { rows } = await ask(app, project, "pages", {});
  const brief = rows.map((
    row: Json,
  ) => [row.path, row.visitors, row.pageviews, row.entries, row.exits, row.imported ?? false]);
  assert.deepEqual(brief, [
    ["/", 17, 33, 13, 0, true],
    ["/old", 4, 8, 0, 10, true],
    ["/new", 1, 1, 0, 1, false],
  ]);
  assert.deepEqual(rows[0].bounceRate, { value: 6 / 13, numerator: 6, denominator: 13 });
  assert.equal(rows[0].medianSecondsOnPage, 300);
  assert.equal(rows[1].medianSecondsOnPage, null);
});

/** The warning of an imported day that has an own event. */
const HIDDEN = {
  code: "imported_left_out",
  parameter: "project",
  message:
    "1 imported day is left out: from 2026-03-02 on, the day of the project's first event, " +
    "own events alone count.",
};

/** What imported days cannot answer, the parameter that is told, and what it says. */
const LEFT_OUT: readonly [string, Record<string, string>, string, RegExp][] = [
  ["kpis", { filters: '[{"field":"path","op":"is","values":["/"]}]' }, "filters", /filtered/],
  ["kpis", { bots: "include" }, "bots", /no bots/],
  ["kpis", { bots: "only" }, "bots", /no bots/],
  ["kpis", { timezone: "UTC" }, "timezone", /project's time zone/],
  ["kpis", { interval: "hour" }, "interval", /hours/],
  ["acquisition", { goal: "bought" }, "goal", /goal/],
  ["acquisition", { by: "city" }, "by", /Plausible does not tell it/],
  ["pages", { bots: "include" }, "bots", /no bots/],
  ["pages", { to: "2026-03-02T12:00:00+01:00" }, "to", /part of the day/],
];

step("what sums cannot answer is left out and told", async (app) => {
  const project = await projectWith(app);
  const goal = { title: "Bought", match: { name: "purchase" } };
  await app.admin("PUT", `/v1/goals/bought?project=${project.id}`, goal);
  for (const [read, params, parameter, words] of LEFT_OUT) {
    const query = params.to === undefined
      ? params
      : { from: "2026-03-02T00:00:00+01:00", ...params };
    const { query: told, rows, totals } = await ask(app, project, read, query);
    const what = `${read} ${JSON.stringify(params)}`;
    const warning = told.warnings.find((one: Json) => one.code === "imported_left_out");
    assert.equal(warning?.parameter, parameter, what);
    assert.match(warning.message, words, what);
    assert.ok(told.semantics.includes(warning.message), what);
    assert.equal(told.imported, undefined, what);
    for (const row of rows ?? [totals]) assert.equal(row.imported, undefined, what);
  }
});

step("an own event of an earlier day ends the imported ones there", async (app) => {
  const project = await projectWith(app);
  const days = async () => {
    const { series, query } = await ask(app, project, "kpis", { interval: "day" });
    assert.equal(query.warnings?.length ?? 0, 0);
    return series.map((bucket: Json) => [bucket.visitors, bucket.imported ?? false]);
  };
  assert.deepEqual(await days(), [[10, true], [20, true], [1, false]]);
  const early = newEvent({ anonymousId: "bob", timestamp: "2026-03-02T10:00:00Z" });
  await app.post(project, [early]);
  // That day has both: its own event alone counts.
  const { series, query } = await ask(app, project, "kpis", { interval: "day" });
  assert.deepEqual(
    series.map((bucket: Json) => [bucket.visitors, bucket.imported ?? false]),
    [[10, true], [1, false], [1, false]],
  );
  assert.deepEqual(query.warnings, [HIDDEN]);
  assert.equal((await app.admin("GET", pathOf(project))).body.firstOwnDay, "2026-03-02");
  await app.admin("DELETE", `/v1/actors/bob?project=${project.id}`);
  assert.deepEqual(await days(), [[10, true], [20, true], [1, false]]);
});

step(
  "an event that is older than all imported days leaves them out, which is told",
  async (app) => {
    const project = await projectWith(app);
    const old = newEvent({ anonymousId: "bob", timestamp: "1999-05-06T10:00:00Z" });
    await app.post(project, [old]);
    const message = HIDDEN.message.replace("1 imported day is", "2 imported days are")
      .replace("2026-03-02", "1999-05-06");
    const hidden = { ...HIDDEN, message };
    for (const read of ["kpis", "acquisition", "pages"]) {
      const { query } = await ask(app, project, read, {});
      assert.deepEqual(query.warnings, [hidden], read);
      assert.ok(query.semantics.includes(message), read);
      const filters = '[{"field":"name","op":"is","values":["page_view"]}]';
      assert.deepEqual((await ask(app, project, read, { filters })).query.warnings, [hidden], read);
      const later = await ask(app, project, read, { from: "2026-03-03" });
      assert.equal(later.query.warnings?.length ?? 0, 0, read);
    }
    const range = { from: "2026-03-03", to: "2026-03-04", compare: "previous" };
    const { query } = await ask(app, project, "kpis", range);
    assert.deepEqual(query.warnings, [{ ...hidden, parameter: "compare" }]);
  },
);

step("again changes nothing, newer sums replace, another source fills in", async (app) => {
  const project = await projectWith(app, []);
  const send = async (source: string, days: unknown[], more: Json = {}) =>
    (await app.admin("POST", pathOf(project, source), { days, ...more })).body;
  const visitors = async () => {
    const { series } = await ask(app, project, "kpis", { interval: "day" });
    return series.map((bucket: Json) => bucket.visitors);
  };
  const shuffled = DAYS.map((day) => ({ ...day, rows: day.rows.toReversed() }));
  const unchanged = { added: 0, replaced: 0, unchanged: DAYS.length };
  assert.deepEqual(await send("plausible", shuffled), unchanged);
  const newer = [all("2026-03-02", { visitors: 21 }), all("2026-03-03", { visitors: 5 })];
  const told = { added: 1, replaced: 1, unchanged: 0 };
  assert.deepEqual(await send("plausible", newer, { dryRun: true }), told);
  assert.deepEqual(await visitors(), [10, 20, 0]);
  assert.deepEqual(await send("plausible", newer), told);
  assert.deepEqual(await visitors(), [10, 21, 5]);
  // Fathom tells of the next day, and of one that Plausible tells of: whichever came first.
  const fathom = [all("2026-03-03", { visitors: 900 }), all("2026-02-28", { visitors: 7 })];
  await send("fathom", fathom);
  assert.deepEqual(await visitors(), [10, 21, 5]);
  const wide = await ask(app, project, "kpis", { from: "2026-02-28", interval: "day" });
  assert.deepEqual(wide.query.imported.sources, ["fathom", "plausible"]);
  assert.equal(wide.totals.visitors, 7 + 10 + 21 + 5);
  const removed = await app.admin("DELETE", pathOf(project, "plausible"));
  assert.deepEqual(removed.body, { days: 3 });
  assert.deepEqual(await visitors(), [0, 0, 900]);
  assert.deepEqual((await app.admin("DELETE", pathOf(project, "plausible"))).body, { days: 0 });
  const { sources } = (await app.admin("GET", pathOf(project))).body;
  assert.deepEqual(
    sources.map(({ source, from, to, days }: Json) => [source, from, to, days]),
    [
      ["fathom", "2026-02-28", "2026-03-03", 2],
    ],
  );
});

step("an answer's tag changes with what is imported", async (app) => {
  const project = await projectWith(app);
  const url = `/v1/kpis?project=${project.id}&from=2026-03-01&to=2026-03-02`;
  const headers = { Authorization: `Bearer ${app.app.controlToken}` };
  const tag = (await app.fetch(url, { headers })).headers.get("etag")!;
  const again = await app.fetch(url, { headers: { ...headers, "If-None-Match": tag } });
  assert.equal(again.status, 304);
  await app.admin("DELETE", pathOf(project, "plausible"));
  const changed = await app.fetch(url, { headers: { ...headers, "If-None-Match": tag } });
  assert.equal(changed.status, 200);
  assert.equal(changed.body.query.semantics.includes("imported"), false);
});

step("limits, on both sides of each", async (app) => {
  const project = await app.project();
  const send = (days: unknown[], source = "fathom") =>
    app.admin("POST", pathOf(project, source), { days });
  const rows = (count: number) =>
    Array.from({ length: count }, (_, i) => ({ value: `/${i}`, pageviews: 1 }));
  const pages = (count: number) => [{ day: "2026-01-01", dimension: "path", rows: rows(count) }];
  const days = (count: number) =>
    Array.from({ length: count }, (_, i) => {
      const day = Temporal.PlainDate.from("2016-01-01").add({ days: i }).toString();
      return all(day, { pageviews: 1 });
    });
  const value = (length: number) => [{
    ...{ day: "2026-01-01", dimension: "path" },
    rows: [{ value: "/".repeat(length), pageviews: 1 }],
  }];
  const figure = (pageviews: number) => [all("2026-01-01", { pageviews })];
  const sides: readonly [(bound: number) => unknown[], number][] = [
    [pages, IMPORTED_VALUES_PER_DAY_MAX],
    [days, IMPORTED_DAYS_PER_REQUEST_MAX],
    [value, IMPORTED_VALUE_LENGTH_MAX],
    [figure, IMPORTED_FIGURE_MAX],
  ];
  for (const [make, bound] of sides) {
    assert.equal((await send(make(bound))).status, 200);
    assertProblem(await send(make(bound + 1)), 400, "invalid_body");
  }
  const twice = [...figure(1), ...figure(2)];
  assertProblem(await send(twice), 400, "invalid_body");
  assertProblem(await send([all("2026-01-01", { bounces: 1 })]), 400, "invalid_body");
  assertProblem(await send([all("2026-02-30", { visits: 1 })]), 400, "invalid_body");
  assertProblem(await send(figure(-1)), 400, "invalid_body");
  assertProblem(await send(figure(1), "matomo"), 404, "not_found");
  const whole = { day: "2026-01-01", dimension: "all", rows: [] };
  assertProblem(await send([whole]), 400, "invalid_body");
});

step("for scope admin, and in the audit once an import", async (app) => {
  const project = await projectWith(app, []);
  const reader = { Authorization: `Bearer ${await app.token([project.id], "read write")}` };
  for (const method of ["GET", "DELETE"]) {
    const path = pathOf(project, method === "GET" ? "" : "plausible");
    assertProblem(await app.fetch(path, { method, headers: reader }), 403, "insufficient_scope");
  }
  await app.admin("POST", pathOf(project, "plausible"), {
    days: [all("2026-01-01", { visitors: 1 })],
  });
  await app.admin("DELETE", pathOf(project, "plausible"));
  const { rows } = (await app.admin("GET", "/v1/audit")).body;
  const told = rows.filter(({ what, project: of }: Json) =>
    of === project.id && String(what).startsWith("history.")
  );
  assert.deepEqual(told.map(({ what, subject }: Json) => [what, subject]), [
    ["history.remove", `Test (${project.id}): Plausible`],
    ["history.import", `Test (${project.id}): Plausible`],
  ]);
});

onFreshEngines("imported history", async (t, db) => {
  const app = await new TestApp(db.env).start();
  try {
    for (const [name, work] of STEPS) await t.step(name, () => work(app));
  } finally {
    await app.stop();
  }
});

import assert from "node:assert/strict";
import fc from "fast-check";
import {
  assertProblem,
  type Json,
  type Reply,
  sharedApp,
  type TestProject,
} from "../support/app.ts";
import { ALL_VIEWS, people, post, postCounted, read, share, SITE, tokenOf } from "./shared_shop.ts";

const app = sharedApp();
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Midnight, UTC, three days ago: what happens in the two days from then on is over, whatever the hour. */
const BASE_MS = Math.floor(Date.now() / DAY_MS) * DAY_MS - 3 * DAY_MS;
const HOURS = 48;
const MINIMUM = 3;
const RUNS = 20;
const SOURCES = ["newsletter", "friend", "search"];

const iso = (hour: number) => new Date(BASE_MS + hour * HOUR_MS).toISOString();

interface Visit {
  readonly who: number;
  readonly hour: number;
  readonly page: number;
  readonly source: number;
  readonly name: string;
}

/** A few people, who come in a few hours: most groups of them are too small to be told. */
const visits = fc.array(
  fc.record({
    who: fc.integer({ min: 0, max: 6 }),
    hour: fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 0, max: HOURS - 1 })),
    page: fc.integer({ min: 0, max: 3 }),
    source: fc.integer({ min: 0, max: SOURCES.length - 1 }),
    name: fc.constantFrom("page_view", "page_view", "page_view", "purchase", "click"),
  }),
  { minLength: 5, maxLength: 60 },
);

const ranges = fc.array(
  fc.tuple(fc.integer({ min: 0, max: HOURS - 1 }), fc.integer({ min: 1, max: HOURS }))
    .map(([from, hours]) => [from, Math.min(HOURS, from + hours)] as const),
  { minLength: 2, maxLength: 3 },
);

const CLICK = {
  x: 0.5,
  y: 105,
  fixed: false,
  rage: false,
  dead: false,
  selector: "#buy",
  viewportWidth: 1440,
  viewportHeight: 900,
  documentWidth: 1440,
  documentHeight: 3000,
};

async function store(project: TestProject, history: readonly Visit[]): Promise<void> {
  await postCounted(
    app,
    project,
    history.map(({ who, hour, page, source, name }, i) => ({
      eventId: crypto.randomUUID(),
      name,
      anonymousId: `person ${who}`,
      timestamp: new Date(BASE_MS + hour * HOUR_MS + i).toISOString(),
      url: `${SITE}/page${page}?utm_source=${SOURCES[source]}`,
      ...name === "click" ? { properties: { ...CLICK, y: 105 + 500 * page } } : {},
    })),
  );
}

/** All that a share may be asked for, some of it in several ways. */
const READS: readonly (readonly [path: string, query: Json])[] = [
  ["kpis", { interval: "hour" }],
  ["kpis", { interval: "day", compare: "previous" }],
  ["kpis", { filters: [{ field: "source", op: "is", values: ["friend"] }] }],
  ["acquisition", { by: "source", goal: "purchase" }],
  ["acquisition", { by: "entryPath", limit: "2" }],
  ["pages", {}],
  ["trends", { interval: "hour", measure: "visitors" }],
  ["trends", { interval: "hour", by: "path", measure: "visitors" }],
  ["trends", { event: ["page_view", "purchase"], by: "source", measure: "visitors" }],
  ["funnels", { steps: ["page_view", "purchase"], by: "source" }],
  ["funnels/checkout", {}],
  ["retention", { interval: "day", periods: "3" }],
  ["retention", { interval: "day", cohort: "recurring", criterion: "on_or_after" }],
  ["goals", { interval: "hour" }],
  ["heatmaps", { path: "/page0", elements: "5" }],
  ["heatmaps", { pattern: "/*", kind: "scroll" }],
  ["heatmaps/paths", {}],
];

/** Members of replies that count people. */
const COUNTS = new Set([
  "visitors",
  "newVisitors",
  "actors",
  "entered",
  "converted",
  "excluded",
  "open",
  "size",
  "uniqueConversions",
  "conversions",
]);
/** Those that say which part of them did something. */
const RATES = new Set(["rate", "conversionRate", "conversionFromStart", "conversionFromPrevious"]);

/** Every count of people that a reply tells, by where it stands, but those of all who are told as one. */
function* counted(value: unknown, at = ""): Generator<readonly [string, number]> {
  if (typeof value !== "object" || value === null) return;
  if (["value", "path"].some((name) => Reflect.get(value, name) === "$other")) return;
  for (const [name, member] of Object.entries(value)) {
    const where = `${at}.${name}`;
    if (COUNTS.has(name) && typeof member === "number") yield [where, member];
    else if (RATES.has(name)) {
      if (member.value !== null) yield [where, member.numerator];
    } else yield* counted(member, where);
  }
}

/** The points of a trend of visitors, whatever its lines. */
function pointsOf(series: readonly Json[]): (number | null)[] {
  return series.flatMap((one) => {
    const points = (one["points"] ?? [one]) as { value: number | null }[];
    return points.map(({ value }) => value);
  });
}

function assertTellsOfNobody(reply: Reply, asked: string): void {
  if (reply.status !== 200) return assertProblem(reply, 403, "too_few_visitors");
  // Changes are fractions of what is told.
  const { query, asOf: _, pending: __, change: ___, ...told } = reply.body;
  if (query.minimumVisitors !== undefined) assert.equal(query.minimumVisitors, MINIMUM);
  for (const [where, count] of counted(told)) {
    assert.ok(count >= MINIMUM, `${asked} tells ${where}: ${count}`);
  }
  if (query.measure !== "visitors") return;
  for (const value of pointsOf(told.series)) {
    assert.ok(value === null || value >= MINIMUM, `${asked} tells a point of ${value}`);
  }
}

async function admin(project: TestProject, path: string, query: Json): Promise<Reply> {
  return await read(app, app.app.controlToken, path, { project: project.id, ...query });
}

/** A bucket is told where enough were there, as everybody sees it, and else nothing of it is. */
function assertBuckets(told: readonly Json[], own: readonly Json[]): void {
  for (const [i, bucket] of told.entries()) {
    const { visitors } = own[i] as { visitors: number };
    const isSilent = ["visitors", "newVisitors", "sessions", "pageviews", "events"]
      .every((name) => bucket[name] === null);
    if (visitors < MINIMUM) assert.ok(isSilent, JSON.stringify(bucket));
    else if (!isSilent) assert.equal(bucket["pageviews"], own[i]!["pageviews"]);
  }
}

async function sharedProject(history: readonly Visit[]) {
  const project = await app.project({ siteUrl: SITE });
  await store(project, history);
  const match = { name: "purchase" };
  const at = (path: string) => `/v1/${path}?project=${project.id}`;
  await app.admin("PUT", at("goals/purchase"), { title: "Purchase", match });
  const steps = [{ name: "page_view" }, match];
  await app.admin("PUT", at("funnels/checkout"), { title: "Checkout", steps, by: "source" });
  const { id } = await share(app, project, { views: ALL_VIEWS, minimumVisitors: MINIMUM });
  return { project, token: await tokenOf(app, id) };
}

Deno.test("share minimum: whatever came, and whatever is asked, no count is of too few people", async () => {
  let answered = 0;
  await fc.assert(
    fc.asyncProperty(visits, ranges, async (history, asked) => {
      const { project, token } = await sharedProject(history);
      for (const [fromHour, toHour] of asked) {
        const range = { from: iso(fromHour), to: iso(toHour) };
        const there = history.filter(({ hour }) => hour >= fromHour && hour < toHour);
        const visitors = new Set(there.map(({ who }) => who)).size;
        for (const [path, query] of READS) {
          const reply = await read(app, token, path, { ...range, ...query });
          assertTellsOfNobody(reply, `${path} ${JSON.stringify({ ...range, ...query })}`);
          if (visitors < MINIMUM) assertProblem(reply, 403, "too_few_visitors");
          if (reply.status === 200) answered++;
        }
        if (visitors < MINIMUM) continue;
        const hours = { ...range, interval: "hour" };
        const [told, own] = [
          await read(app, token, "kpis", hours),
          await admin(project, "kpis", hours),
        ];
        assert.equal(told.body.totals.visitors, visitors);
        assertBuckets(told.body.series, own.body.series);
        const total = await read(app, token, "trends", { ...hours, measure: "total" });
        for (const [i, { value }] of total.body.series.entries()) {
          const { visitors } = own.body.series[i];
          assert.ok(visitors >= MINIMUM || value === null, `${visitors} visitors, told ${value}`);
        }
      }
    }),
    // A run stores a history: its seed is enough to look at one that fails.
    { numRuns: RUNS, endOnFailure: true },
  );
  assert.ok(answered > RUNS, `${answered} reads were answered`);
});

Deno.test("share minimum: an hour in which one came reads as one in which nobody did", async () => {
  const at = (hour: number, who: string) => ({
    eventId: crypto.randomUUID(),
    name: "page_view",
    anonymousId: who,
    timestamp: new Date(BASE_MS + hour * HOUR_MS).toISOString(),
    url: `${SITE}/`,
  });
  const project = await app.project({ siteUrl: SITE });
  await postCounted(app, project, [
    ...people(5).map((who) => at(0, who)),
    ...people(4).map((who) => at(1, who)),
    at(3, "p0"),
    ...people(MINIMUM).map((who) => at(5, who)),
  ]);
  const token = await tokenOf(app, (await share(app, project)).id);
  const hour = async (from: number) => {
    const { status, body } = await read(app, token, "kpis", { from: iso(from), to: iso(from + 1) });
    return status === 200 ? body.totals.visitors : [body.code, body.detail];
  };
  assert.equal(await hour(0), 5);
  assert.equal(await hour(5), MINIMUM);
  assert.deepEqual(await hour(3), await hour(2));
  const day = await read(app, token, "kpis", { from: iso(0), to: iso(8), interval: "hour" });
  assert.deepEqual(
    day.body.series.map(({ visitors, pageviews }: Json) => [visitors, pageviews]),
    [
      [5, 5],
      [4, 4],
      [null, null],
      [null, null],
      [null, null],
      [3, 3],
      [null, null],
      [null, null],
    ],
  );
  assert.deepEqual([day.body.totals.visitors, day.body.totals.pageviews], [5, 13]);
  assert.equal(day.body.query.minimumVisitors, MINIMUM);
});

Deno.test("share minimum: without a range that holds enough visitors nothing is told, and with one all", async () => {
  const project = await app.project({ siteUrl: SITE });
  const token = await tokenOf(app, (await share(app, project, { views: ALL_VIEWS })).id);
  assertProblem(await read(app, token, "kpis"), 403, "too_few_visitors");
  // What is saved counts nobody.
  assert.deepEqual((await read(app, token, "funnels")).body.funnels, []);
  await post(app, project, people(MINIMUM - 1).map((who) => ({ who })));
  assertProblem(await read(app, token, "kpis"), 403, "too_few_visitors");
  await post(app, project, [{ who: "another" }]);
  assert.equal((await read(app, token, "kpis")).body.totals.visitors, MINIMUM);
});

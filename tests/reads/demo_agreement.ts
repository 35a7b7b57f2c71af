import assert from "node:assert/strict";
import type { DemoEvent } from "../../src/demo/visitors/visit.ts";
import {
  CHECKOUT_STEPS,
  CRAWLED_EVENTS,
  DEMO_DAYS,
  DEMO_EVENTS,
  type DemoProject,
} from "./demo_project.ts";

type Counts = Readonly<Record<string, number>>;

const sumOf = (rows: readonly Counts[], name: string) =>
  rows.reduce((sum, row) => sum + row[name]!, 0);
const nameIs = (name: string) => [{ field: "name", op: "is", values: [name] }];

/** The user that each browser was ever seen with. */
const USERS = new Map(
  DEMO_EVENTS.flatMap(({ anonymousId, userId }) =>
    userId === undefined ? [] : [[anonymousId, userId] as const]
  ),
);
const actorOf = ({ anonymousId, userId }: DemoEvent) =>
  userId ?? USERS.get(anonymousId) ?? anonymousId;
const actorsOf = (events: readonly DemoEvent[]) => new Set(events.map(actorOf)).size;

/** Totals against a plain count of the events themselves. */
export async function assertCounted(demo: DemoProject): Promise<void> {
  const named = (name: string) => DEMO_EVENTS.filter((event) => event.name === name);
  const { totals } = await demo.read("kpis", DEMO_DAYS);
  assert.equal(totals.events, DEMO_EVENTS.length);
  assert.equal(totals.pageviews, named("page_view").length);
  assert.equal(totals.visitors, actorsOf(DEMO_EVENTS));
  assert.equal(totals.newVisitors, totals.visitors, "the shop opened with the first day");
  assert.equal(
    (await demo.read("kpis", { ...DEMO_DAYS, bots: "only" })).totals.events,
    CRAWLED_EVENTS,
  );

  const purchases = named("purchase");
  const { goals: [, goal] } = await demo.read("goals", DEMO_DAYS);
  assert.equal(goal.slug, "purchase");
  assert.equal(goal.totalConversions, purchases.length);
  assert.equal(goal.uniqueConversions, actorsOf(purchases));
  const revenue = purchases.reduce((sum, { properties }) => sum + Number(properties?.value), 0);
  assert.ok(Math.abs(goal.value.amount - revenue) < 1e-6, `${goal.value.amount} ${revenue}`);

  const { steps } = await demo.read("funnels", {
    ...DEMO_DAYS,
    steps: CHECKOUT_STEPS,
    window: "60d",
  });
  assert.deepEqual(
    steps.map(({ actors }: { actors: number }) => actors),
    CHECKOUT_STEPS.map(({ name }) => actorsOf(named(name))),
    "nobody of the shop skips a step",
  );
}

/** Parts against their wholes. */
export async function assertSums(demo: DemoProject): Promise<void> {
  const { totals, series } = await demo.read("kpis", DEMO_DAYS);
  for (const name of ["events", "pageviews", "sessions", "newVisitors"]) {
    assert.equal(sumOf(series, name), totals[name], name);
  }
  for (const by of ["channel", "source", "campaign", "entryPath", "country", "browser", "device"]) {
    const { rows, total } = await demo.read("acquisition", { ...DEMO_DAYS, by });
    assert.equal(sumOf(rows, "sessions"), totals.sessions, by);
    assert.equal(sumOf(rows, "pageviews"), totals.pageviews, by);
    assert.equal(total.visitors, totals.visitors);
    assert.equal(total.bounceRate.value, totals.bounceRate.value);
  }
  const pages = (await demo.read("pages", DEMO_DAYS)).rows;
  assert.equal(sumOf(pages, "pageviews"), totals.pageviews);
  // Every visit of the shop begins with a page.
  assert.equal(sumOf(pages, "entries"), totals.sessions);
  assert.equal(sumOf(pages, "exits"), totals.sessions);

  const all = await demo.read("kpis", { ...DEMO_DAYS, bots: "include" });
  const bots = await demo.read("kpis", { ...DEMO_DAYS, bots: "only" });
  for (const name of ["events", "visitors", "sessions", "pageviews"]) {
    assert.equal(totals[name] + bots.totals[name], all.totals[name], name);
  }

  const funnel = { ...DEMO_DAYS, steps: CHECKOUT_STEPS, by: "channel" };
  const { steps, entered, converted, groups } = await demo.read("funnels", funnel);
  assert.deepEqual([steps[0].actors, steps.at(-1).actors], [entered, converted]);
  assert.equal(sumOf(groups, "entered"), entered);
  assert.equal(sumOf(groups, "converted"), converted);

  const paths = (await demo.read("heatmaps/paths", DEMO_DAYS)).rows;
  const { sample: { clicks: clicksOfAll } } = await demo.read("heatmaps", {
    ...DEMO_DAYS,
    pattern: "*",
  });
  let clicks = 0;
  for (const device of ["desktop", "tablet", "mobile"]) {
    const query = { ...DEMO_DAYS, pattern: "*", device };
    const { points, sample } = await demo.read("heatmaps", query);
    assert.equal(sumOf(points, "count"), sample.clicks, device);
    clicks += sample.clicks;
  }
  assert.ok(clicks > clicksOfAll);
  assert.equal(sumOf(paths, "clicks"), clicks);
}

/** The same number wherever it is asked for. */
export async function assertOneDefinition(demo: DemoProject): Promise<void> {
  const { goals: [, goal] } = await demo.read("goals", DEMO_DAYS);
  const filters = nameIs("purchase");
  const buyers = (await demo.read("kpis", { ...DEMO_DAYS, filters })).totals;
  const step = await demo.read("funnels", { ...DEMO_DAYS, steps: [{ name: "purchase" }] });
  const trend = { ...DEMO_DAYS, event: "purchase", interval: "month" };
  const { total } = await demo.read("acquisition", { ...DEMO_DAYS, goal: "purchase" });
  const { totals } = await demo.read("kpis", DEMO_DAYS);
  assert.ok(goal.uniqueConversions > 5);
  assert.equal(buyers.visitors, goal.uniqueConversions);
  assert.equal(buyers.events, goal.totalConversions);
  assert.equal(step.entered, goal.uniqueConversions);
  assert.equal(total.conversions, goal.uniqueConversions);
  assert.equal(total.conversionRate.denominator, totals.visitors);
  assert.equal(goal.conversionRate.denominator, totals.visitors);
  const { series } = await demo.read("trends", trend);
  assert.equal(sumOf(series, "value"), goal.totalConversions);
  const revenue = await demo.read("trends", { ...trend, measure: "sum:properties.value" });
  assert.ok(Math.abs(sumOf(revenue.series, "value") - goal.value.amount) < 1e-6);

  const weeks = { ...DEMO_DAYS, interval: "week" };
  const { series: visits } = await demo.read("kpis", weeks);
  // Under a filter that every event passes, numbers come from a scan and not from rollups.
  const everything = [{ field: "name", op: "exists" }];
  const { series: counted } = await demo.read("kpis", { ...weeks, filters: everything });
  assert.deepEqual(counted, visits);
  const sizes = async (cohort: string) =>
    (await demo.read("retention", { ...weeks, cohort })).cohorts
      .map(({ size }: { size: number }) => size);
  const shown = (name: string) => visits.map((bucket: Counts) => bucket[name]);
  assert.deepEqual(await sizes("first"), shown("newVisitors"));
  assert.deepEqual(await sizes("recurring"), shown("visitors"));

  const converted = async (query: Record<string, unknown>) =>
    (await demo.read("funnels", { ...DEMO_DAYS, steps: CHECKOUT_STEPS, ...query })).converted;
  const best = await converted({});
  for (const narrower of [{ order: "strict" }, { entry: "first" }, { window: "1h" }]) {
    assert.ok(await converted(narrower) <= best, JSON.stringify(narrower));
  }
  assert.ok(await converted({ order: "unordered" }) >= best);
  const { converted: saved } = await demo.read("funnels/checkout", DEMO_DAYS);
  assert.equal(saved, await converted({ window: "1h" }));
}

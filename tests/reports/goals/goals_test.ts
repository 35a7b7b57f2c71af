import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { GOAL_POINTS_MAX, GOALS_MAX } from "../../../src/limits.ts";
import { Problem } from "../../../src/problem.ts";
import { GoalShown, listGoals, loadGoal } from "../../../src/reports/saved/goal_definitions.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { onBothEngines, type TestDatabase } from "../../support/databases.ts";
import { openWithProjects } from "../../support/event_rows.ts";
import { differenceOf } from "../../reads/answers.ts";
import type { ReadParams } from "../../reference/filters.ts";
import { type GoalDefinition, readGoals } from "../../reference/goals.ts";
import type { World } from "../../reference/world.ts";
import { ask, type Body, event, ofRevenue, PURCHASE, put, remove } from "./goal_world.ts";

const EVENTS: readonly EventRow[] = [
  event("ann", "02 10:00", "purchase", "0.1"),
  event("ann", "02 11:00", "purchase", "0.2"),
  event("ann", "03 10:00", "purchase", "10"),
  event("bob", "03 10:00", "purchase", '"99"'),
  event("bob", "03 11:00", "page_view", null, { path: "/thanks" }),
  event("cyd", "02 10:00", "page_view", null, { path: "/" }),
  event("dan", "03 10:00", "click", null, { pointer_x: 0.25, path: "/" }),
  // Not selected: a robot's, before the range, of another project.
  event("bot", "02 10:00", "purchase", "1000", { bot: true }),
  event("eva", "01 23:59", "purchase", "1000"),
  event("two", "02 10:00", "purchase", "1000", { project_id: 2 }),
];

const refused = (code: string, field?: string) => (error: unknown) => {
  assert.ok(error instanceof Problem, String(error));
  assert.equal(error.code, code);
  if (field !== undefined) assert.equal(error.options.errors?.[0]?.field, field);
  return true;
};

async function openWithEvents(db: TestDatabase): Promise<Database> {
  const database = await openWithProjects(db);
  const byKey = EVENTS.toSorted((a, b) =>
    a.project_id - b.project_id || (a.event_id < b.event_id ? -1 : 1)
  );
  await insertEvents(database, byKey);
  await createProjection(database).catchUp(1);
  return database;
}

/** Purchases of two people, then of all and bots. @returns what was answered with bots */
async function assertRates(database: Database) {
  const filters = [{ field: "userId", op: "is", values: ["ann", "cyd"] } as const];
  const { purchase } = await ask(database, {}, { filters });
  assert.deepEqual(purchase.conversionRate, { value: 0.5, numerator: 1, denominator: 2 });
  const all = await ask(database, {}, { bots: "include" });
  assert.deepEqual(all.purchase.conversionRate, { value: 0.6, numerator: 3, denominator: 5 });
  return all;
}

async function checkFigures(t: Deno.TestContext, database: Database): Promise<void> {
  await t.step("conversions, rate, value and series", async () => {
    await put(database, "purchase", { ...PURCHASE, value: ofRevenue });
    const { purchase } = await ask(database);
    assert.deepEqual(purchase, {
      slug: "purchase",
      title: "Purchase",
      match: { name: "purchase", filters: [] },
      valueDefinition: ofRevenue,
      uniqueConversions: 2,
      totalConversions: 4,
      conversionRate: { value: 0.5, numerator: 2, denominator: 4 },
      // Exactly, and without the text "99".
      value: { amount: 10.3, currency: "EUR" },
      series: [
        {
          start: "2026-03-02T00:00:00.000Z",
          label: "2026-03-02",
          complete: true,
          uniqueConversions: 1,
          totalConversions: 2,
        },
        {
          start: "2026-03-03T00:00:00.000Z",
          label: "2026-03-03",
          complete: false,
          uniqueConversions: 2,
          totalConversions: 2,
        },
      ],
    });
  });

  await t.step("visitors are those of all events, also under filters and with bots", async () => {
    await assertRates(database);
  });

  await t.step("goals with equal counts keep their own values", async () => {
    await put(database, "fixed", { ...PURCHASE, value: { fixed: 0.1, currency: "USD" } });
    await put(database, "counted", PURCHASE);
    const { purchase, fixed, counted } = await ask(database);
    assert.deepEqual(purchase.value, { amount: 10.3, currency: "EUR" });
    assert.deepEqual(fixed.value, { amount: 0.4, currency: "USD" });
    assert.deepEqual(counted.value, { amount: null, currency: null });
    for (const goal of [fixed, counted]) {
      assert.equal(goal.uniqueConversions, 2);
      assert.deepEqual(goal.series, purchase.series);
    }
  });

  await t.step("a match with filters, and properties with columns of their own", async () => {
    const filters = [{ field: "path", op: "is", values: ["/thanks"] }];
    await put(database, "thanks", { title: "Thanks", match: { name: "page_view", filters } });
    const value = { property: "properties.x", currency: "EUR" };
    await put(database, "clicked", { title: "Click", match: { name: "click" }, value });
    const { thanks, clicked } = await ask(database);
    assert.deepEqual([thanks.uniqueConversions, thanks.totalConversions], [1, 1]);
    assert.deepEqual(clicked.value, { amount: 0.25, currency: "EUR" });
    assert.deepEqual(clicked.valueDefinition, { property: "x", currency: "EUR" });
  });

  await t.step("filters and bots narrow conversions and visitors alike", async () => {
    const all = await assertRates(database);
    assert.equal(all.purchase.value.amount, 1010.3);
  });

  await t.step("an empty range", async () => {
    const { purchase } = await ask(database, { from: "2026-02-01", to: "2026-02-02" });
    assert.deepEqual(purchase.conversionRate, { value: null, numerator: 0, denominator: 0 });
    assert.deepEqual(purchase.value, { amount: 0, currency: "EUR" });
    assert.deepEqual(purchase.series.map((one: Body) => one.totalConversions), [0, 0]);
  });
}

/** Goals of which every kind of counting has some, by slug. */
const COUNTED: Readonly<Record<string, Body>> = {
  clicked: { match: { name: "click" } },
  "clicked-there": {
    match: { name: "click", filters: [{ field: "path", op: "is", values: ["/thanks"] }] },
  },
  named: { match: { name: "purchase" } },
  "of-one": {
    match: { name: "purchase", filters: [{ field: "userId", op: "is", values: ["ann"] }] },
    value: { fixed: 2.5, currency: "EUR" },
  },
  elsewhere: {
    match: { name: "purchase", filters: [{ field: "path", op: "not_exists", values: [] }] },
  },
  page: { match: { name: "page_view", filters: [{ field: "path", op: "is", values: ["/"] }] } },
  pages: {
    match: { name: "page_view", filters: [{ field: "path", op: "contains", values: ["/t", "x"] }] },
  },
  never: { match: { name: "unheard of" } },
  pointed: { match: { name: "click" }, value: { property: "x", currency: "EUR" } },
  aimed: {
    match: { name: "purchase", filters: [{ field: "properties.x", op: "exists", values: [] }] },
  },
  entered: {
    match: { name: "purchase", filters: [{ field: "entryPath", op: "is_not", values: ["/"] }] },
    value: ofRevenue,
  },
  summed: { match: { name: "purchase" }, value: ofRevenue },
  rich: {
    match: { name: "purchase", filters: [{ field: "properties.revenue", op: "gt", values: [1] }] },
    value: ofRevenue,
  },
  "without-much": {
    match: {
      name: "purchase",
      filters: [{ field: "properties.revenue", op: "is_not", values: [10] }],
    },
    value: ofRevenue,
  },
};

/** Every goal of `COUNTED` as the reference reads it, by slug. */
function expectedGoals(params: ReadParams): Record<string, unknown> {
  const world: World = {
    project: { timezone: "UTC", siteUrl: null },
    events: EVENTS.filter(({ project_id }) => project_id === 1),
    asOfMs: Date.parse("2026-03-03T18:00:00Z"),
  };
  const definitions = Object.entries(COUNTED).map(([slug, goal]) => ({
    slug,
    title: slug,
    ...goal,
  }));
  const { goals } = readGoals(world, params, definitions as unknown as GoalDefinition[]);
  return Object.fromEntries(goals.map((goal) => [goal.slug, goal]));
}

async function checkCounting(t: Deno.TestContext, database: Database): Promise<void> {
  const others = [{ field: "userId", op: "is_not", values: ["bob"] }] as const;
  const rich = [{ field: "properties.revenue", op: "exists", values: [] }] as const;
  const pointed = [{ field: "properties.x", op: "exists", values: [] }] as const;
  await t.step("every kind of goal at once", async () => {
    for (const [slug, goal] of Object.entries(COUNTED)) {
      await put(database, slug, { title: slug, ...goal });
    }
    const goals = await ask(database);
    const counts = Object.values(goals)
      // deno-lint-ignore no-explicit-any
      .map((goal: any) => [goal.slug, goal.uniqueConversions, goal.totalConversions]);
    assert.deepEqual(counts, [
      ["aimed", 0, 0],
      ["clicked", 1, 1],
      ["clicked-there", 0, 0],
      ["elsewhere", 2, 4],
      ["entered", 2, 4],
      ["named", 2, 4],
      ["never", 0, 0],
      ["of-one", 1, 3],
      ["page", 1, 1],
      ["pages", 1, 1],
      ["pointed", 1, 1],
      ["rich", 1, 1],
      ["summed", 2, 4],
      ["without-much", 2, 3],
    ]);
    assert.deepEqual(goals["of-one"].value, { amount: 7.5, currency: "EUR" });
    assert.deepEqual(goals.pointed.value, { amount: 0.25, currency: "EUR" });
    assert.deepEqual(goals.rich.value, { amount: 10, currency: "EUR" });
    assert.deepEqual(goals["without-much"].value, { amount: 0.3, currency: "EUR" });
  });

  await t.step("by the hour, over years, and for all bots and filters", async () => {
    const ranges = [
      { from: "2026-03-02", to: "2026-03-03", interval: "hour" },
      { from: "2020-01-01", to: "2026-12-31", interval: "month" },
      { from: "2026-03-02T10:00:00.001Z", to: "2026-03-03T10:00:00Z", interval: "day" },
    ] as const;
    for (const bots of ["exclude", "include", "only"] as const) {
      for (const filters of [[], others, rich, pointed]) {
        for (const range of ranges) {
          const goals = await ask(database, range, { bots, filters });
          const shown = Object.entries(goals).map(([slug, goal]) => {
            const { match: _, valueDefinition: __, ...told } = goal as Record<string, unknown>;
            return [slug, told];
          });
          const expected = expectedGoals({ ...range, bots, filters });
          const difference = differenceOf(Object.fromEntries(shown), expected);
          assert.equal(difference, null, JSON.stringify({ ...range, bots, filters }));
        }
      }
    }
  });
  for (const slug of Object.keys(COUNTED)) await remove(database, slug);
}

async function checkSaving(t: Deno.TestContext, database: Database): Promise<void> {
  await t.step("a new goal is 201, a changed one 200; both are shown as they are", async () => {
    const added = await put(database, "signup", { title: " Sign-up ", match: { name: "signup" } });
    assert.equal(added.status, 201);
    const shown = {
      slug: "signup",
      title: "Sign-up",
      match: { name: "signup", filters: [] },
      value: null,
    };
    assert.deepEqual(GoalShown.parse(await added.json()), shown);
    const changed = await put(database, "signup", { ...shown, slug: undefined, title: "Joined" });
    assert.equal(changed.status, 200);
    assert.deepEqual(await loadGoal(database, 1, "signup"), { ...shown, title: "Joined" });
    assert.equal(await loadGoal(database, 2, "signup"), null, "of another project");
    assert.equal(await loadGoal(database, 1, "\0"), null);
  });

  await t.step("goals are listed by slug", async () => {
    const slugs = (await listGoals(database, 1)).map(({ slug }) => slug);
    assert.deepEqual(slugs, ["clicked", "counted", "fixed", "purchase", "signup", "thanks"]);
  });

  await t.step("a deleted goal is gone, and is not found again", async () => {
    await assert.rejects(remove(database, "signup", 2), refused("not_found"));
    assert.equal((await remove(database, "signup")).status, 204);
    assert.equal(await loadGoal(database, 1, "signup"), null);
    for (const slug of ["signup", "\0", ""]) {
      await assert.rejects(remove(database, slug), refused("not_found"));
    }
  });

  await t.step("invalid slugs", async () => {
    for (const slug of ["", "-a", "A", "a_b", "a".repeat(64), "a\n", "é"]) {
      await assert.rejects(put(database, slug, PURCHASE), refused("invalid_parameter", "slug"));
    }
    assert.equal((await put(database, "a".repeat(63), PURCHASE)).status, 201);
    await remove(database, "a".repeat(63));
  });

  const currency = "EUR";
  const bodies: readonly [string, Body][] = [
    ["title", { match: PURCHASE.match }],
    ["title", { ...PURCHASE, title: "  " }],
    ["title", { ...PURCHASE, title: "a\tb" }],
    ["match", { title: "x" }],
    ["match.name", { title: "x", match: { name: "" } }],
    ["match.name", { title: "x", match: { name: "a\0" } }],
    ["match.filters.0.op", {
      title: "x",
      match: { name: "a", filters: [{ field: "path", op: "like", values: ["a"] }] },
    }],
    ["extra", { ...PURCHASE, extra: 1 }],
    ["value", { ...PURCHASE, value: { currency } }],
    ["value", { ...PURCHASE, value: { fixed: 1, property: "a", currency } }],
    ["value.currency", { ...PURCHASE, value: { fixed: 1 } }],
    ["value.currency", { ...PURCHASE, value: { fixed: 1, currency: "eur" } }],
    ["value.fixed", { ...PURCHASE, value: { fixed: "1", currency } }],
    ["value.fixed", { ...PURCHASE, value: { fixed: 1e13, currency } }],
    ["value.property", { ...PURCHASE, value: { property: "properties.", currency } }],
  ];
  for (const [field, body] of bodies) {
    await t.step(`${JSON.stringify(body)} is refused for its ${field}`, async () => {
      await assert.rejects(put(database, "bad", body), refused("invalid_body", field));
      assert.equal(await loadGoal(database, 1, "bad"), null);
    });
  }
}

onBothEngines("goals", async (t, db) => {
  const database = await openWithEvents(db);
  assert.deepEqual(await ask(database), {}, "no goals yet");
  await checkCounting(t, database);
  await checkFigures(t, database);
  await checkSaving(t, database);

  await t.step("as many as a project may have, also when they are added at once", async () => {
    for (let i = 1; i < GOALS_MAX - 1; i++) await put(database, `goal-${i}`, PURCHASE, 2);
    const added = await Promise.allSettled(
      ["x", "y", "z"].map((slug) => put(database, slug, PURCHASE, 2)),
    );
    assert.equal(added.filter(({ status }) => status === "fulfilled").length, 2);
    const failed = added.find((one) => one.status === "rejected")!;
    assert.ok(refused("conflict")(failed.reason));
    assert.equal((await listGoals(database, 2)).length, GOALS_MAX);
    assert.equal(
      (await put(database, "goal-7", PURCHASE, 2)).status,
      200,
      "a change is no addition",
    );
    const range = { from: "2024-01-01", to: "2025-12-31" };
    assert.ok(GOALS_MAX * 731 > GOAL_POINTS_MAX);
    await assert.rejects(
      ask(database, range, { projectId: 2 }),
      refused("range_too_large", "interval"),
    );
  });
});

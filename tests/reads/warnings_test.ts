import assert from "node:assert/strict";
import { SUGGESTION_ROWS_MAX, WARNINGS_MAX } from "../../src/limits.ts";
import type { Filter } from "../../src/query/filters.ts";
import { type ParameterFilters, valueWarnings } from "../../src/query/warnings.ts";
import { newEvent, TestApp } from "../support/app.ts";
import { onBothEngines, onFreshEngines } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";

const is = (field: string, ...values: (string | number)[]) => ({ field, op: "is", values });
const inCountry = (country: string) => is("country", country);
/** From Germany, as the built-in database has it. */
const PEER = "217.79.181.1";

const EVENTS = ["page_view", "page_view", "purchase"].map((name) =>
  newEvent({
    name,
    anonymousId: "ann",
    userId: "ann@example.com",
    url: "https://shop.test/pricing?utm_source=newsletter&utm_medium=email&utm_campaign=spring",
    referrer: "https://news.test/today?id=1",
    title: "Pricing",
    properties: { plan: "pro" },
  })
);

/** A value that each field has, and one that it has not, with what is suggested. */
const FIELDS: readonly [string, string, string, string[]][] = [
  ["name", "purchase", "purchse", ["purchase"]],
  ["name", "page_view", "pageview", ["page_view"]],
  ["name", "page_view", "click", []],
  ["path", "/pricing", "/Pricing", ["/pricing"]],
  ["entryPath", "/pricing", "/pricin", ["/pricing"]],
  ["exitPath", "/pricing", "/basket", []],
  ["title", "Pricing", "Prices", []],
  ["referrer", "news.test", "newz.test", ["news.test"]],
  ["referrer", "news.test", "www.news.test", []],
  ["referrer", "https://news.test/today?id=1", "https://news.test/today", []],
  ["host", "shop.test", "shop.tst", ["shop.test"]],
  ["country", "DE", "Germany", ["DE"]],
  ["country", "DE", "Germny", ["DE"]],
  ["country", "DE", "de", ["DE"]],
  ["country", "DE", "germ", ["DE"]],
  ["country", "DE", "France", ["FR"]],
  ["country", "DE", "Atlantis", []],
  ["browser", "Chrome", "chrome", ["Chrome"]],
  ["os", "Linux", "Linx", ["Linux"]],
  ["device", "desktop", "Desktop", ["desktop"]],
  ["userId", "ann@example.com", "bob@example.com", []],
  ["source", "newsletter", "news", ["newsletter"]],
  ["medium", "email", "e-mail", ["email"]],
  ["campaign", "spring", "Spring", ["spring"]],
  ["channel", "Email", "email", ["Email"]],
];

onFreshEngines(
  "a filter value that the project never had is told, with what is near",
  async (t, db) => {
    const app = await new TestApp(db.env).start();
    const project = await app.project({ siteUrl: "https://shop.test" });
    await app.post(project, EVENTS, { peer: PEER });
    const warningsOf = async (read: string, query: Record<string, unknown>) => {
      const entries = Object.entries({ project: project.id, ...query })
        .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);
      const path = `/v1/${read}?${new URLSearchParams(entries)}`;
      const { status, body } = await app.admin("GET", path);
      assert.equal(status, 200, JSON.stringify(body));
      return body.query.warnings;
    };
    try {
      for (const [field, had, never, suggestions] of FIELDS) {
        await t.step(`${field}: ${never}`, async () => {
          assert.deepEqual(await warningsOf("kpis", { filters: [is(field, had)] }), []);
          const [warning, ...others] = await warningsOf("kpis", {
            filters: [is(field, had, never)],
          });
          assert.deepEqual(others, []);
          assert.equal(warning.code, "value_never_seen");
          assert.equal(warning.parameter, "filters");
          assert.equal(warning.field, field);
          assert.equal(warning.value, never);
          assert.ok(warning.message.includes(`"${never}"`), warning.message);
          assert.deepEqual(warning.suggestions ?? [], suggestions);
        });
      }
      await t.step("every read tells it", async () => {
        const reads = ["kpis", "acquisition", "pages", "funnels", "retention", "goals", "trends"];
        for (const read of [...reads, "insights", "heatmaps/paths", "events"]) {
          const [warning] = await warningsOf(read, { filters: [inCountry("Germany")] });
          assert.equal(warning?.message.includes("Did you mean DE (Germany)?"), true, read);
          assert.deepEqual(await warningsOf(read, {}), [], read);
        }
      });
      await t.step("so do a report's own matches, and is_not", async () => {
        const bought = { name: "purchase", filters: [{ ...inCountry("germny"), op: "is_not" }] };
        for (
          const [read, parameter, value] of [
            ["funnels", "steps", ["page_view", bought]],
            ["retention", "start", bought],
            ["retention", "return", bought],
            ["trends", "event", bought],
          ] as const
        ) {
          const [warning] = await warningsOf(read, { [parameter]: value });
          assert.deepEqual([warning.parameter, warning.suggestions], [parameter, ["DE"]], read);
        }
        await app.admin("PUT", `/v1/goals/bought?project=${project.id}`, {
          title: "Bought",
          match: { name: "purchse" },
        });
        const [ofGoals] = await warningsOf("goals", {});
        const [ofGoal] = await warningsOf("acquisition", { goal: "bought" });
        assert.deepEqual([ofGoals.parameter, ofGoal.parameter], ["goals", "goal"]);
        assert.deepEqual(ofGoals.suggestions, ["purchase"]);
      });
      await t.step("values are not rewritten; parts and properties are not warned of", async () => {
        const query = { project: project.id, filters: JSON.stringify([inCountry("Germany")]) };
        const { body } = await app.admin("GET", `/v1/kpis?${new URLSearchParams(query)}`);
        assert.equal(body.totals.events, 0);
        assert.deepEqual(body.query.filters, [inCountry("Germany")]);
        const others = [
          { field: "country", op: "contains", values: ["Germany"] },
          is("properties.plan", "free"),
        ];
        assert.deepEqual(await warningsOf("kpis", { filters: others }), []);
      });
      await t.step("a comparison that a read does not make is told", async () => {
        const now = { from: "2026-11-01", to: "2026-11-03" };
        const told = async (read: string, compare: unknown) =>
          (await warningsOf(read, { ...now, compare }))
            .map(({ code, parameter }: Record<string, string>) => `${code} ${parameter}`);
        const dates = { from: "2025-11-01", to: "2025-11-03" };
        const lists = ["acquisition", "pages", "journeys", "visits", "actors", "vitals", "events"];
        for (const read of [...lists, "heatmaps/paths"]) {
          for (const compare of ["previous", "year", dates]) {
            assert.deepEqual(await told(read, compare), ["without_effect compare"], read);
          }
          assert.deepEqual(await told(read, "none"), [], read);
        }
        for (const compare of ["previous", "year", dates]) {
          for (const read of ["kpis", "retention", "trends"]) {
            assert.deepEqual(await told(read, compare), [], read);
          }
        }
        assert.deepEqual(await told("insights", "previous"), []);
        assert.deepEqual(await told("insights", dates), ["without_effect compare"]);
      });
      await t.step("another project's values are not known", async () => {
        const other = await app.project();
        const [warning] = await warningsOf("kpis", {
          project: other.id,
          filters: [is("name", "purchase")],
        });
        assert.equal(warning.suggestions, undefined);
      });
    } finally {
      await app.stop();
    }
  },
);

onBothEngines(
  "warnings are few, and of a large dictionary they look at the first rows",
  async (t, db) => {
    const database = await openWithProjects(db);
    const asking = (...values: string[]): ParameterFilters[] => [
      { parameter: "filters", filters: [is("city", ...values)] as Filter[] },
    ];
    const city = (number: number) => `city ${String(number).padStart(6, "0")}`;
    await database.query(
      `INSERT INTO contexts (project_id, context_id, digest, city)
    SELECT 1, i, gen_random_uuid(), CASE WHEN i < $1::int THEN 'Rome'
      ELSE 'city ' || lpad(i::text, 6, '0') END
    FROM generate_series(1, $1::int + 1) i`,
      [SUGGESTION_ROWS_MAX],
    );
    await t.step("values past the rows are known, and not suggested", async () => {
      const [last, past] = [city(SUGGESTION_ROWS_MAX), city(SUGGESTION_ROWS_MAX + 1)];
      assert.deepEqual(await valueWarnings(database, 1, asking(last, past)), []);
      const [warning] = await valueWarnings(database, 1, asking(`${past}0`));
      assert.deepEqual(warning!.suggestions, [last]);
    });
    await t.step(`no more than ${WARNINGS_MAX}`, async () => {
      const unknown = Array.from({ length: WARNINGS_MAX + 1 }, (_, i) => `nowhere ${i}`);
      const told = async (count: number) =>
        (await valueWarnings(database, 1, asking(...unknown.slice(0, count)))).length;
      assert.deepEqual([await told(WARNINGS_MAX), await told(WARNINGS_MAX + 1)], [
        WARNINGS_MAX,
        WARNINGS_MAX,
      ]);
    });
  },
);

import fc from "fast-check";
import assert from "node:assert/strict";
import { ACQUISITION } from "../../src/reports/acquisition/acquisition.ts";
import { FUNNELS } from "../../src/reports/funnels/funnels.ts";
import { GOALS } from "../../src/reports/goals/goals.ts";
import { HEATMAP_PATHS } from "../../src/reports/heatmaps/heatmap_paths.ts";
import { KPIS } from "../../src/reports/kpis/kpis.ts";
import { PAGES } from "../../src/reports/pages/pages.ts";
import type { Report } from "../../src/reports/answer/report.ts";
import { RETENTION } from "../../src/reports/retention/retention.ts";
import { TRENDS } from "../../src/reports/trends/trends.ts";
import { type Filter, propertyOf, SESSION_FIELDS } from "../../src/query/filters.ts";
import { answerAsked } from "../support/asked_read.ts";
import { onBothEngines } from "../support/databases.ts";
import { followedTimelines, timelinesOf } from "../support/read_timelines.ts";
import { readOf } from "./insights/insight_world.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "./session_world.ts";

const HOUR_MS = 3_600_000;
/** Of some hundred events, so that actors' identities lie in several parts. */
const PART_BYTES = 20_000;
const AS_OF = new Date(WORLD_FROM_MS + (WORLD_DAYS + 2) * 24 * HOUR_MS).toISOString();

const match = fc.record({
  name: fc.constantFrom("page_view", "click", "signup", "buy", null),
  filters: fc.oneof(fc.constant([]), fc.array(randomFilter(TOLD_FIELDS), { maxLength: 2 })),
});
const matches = (maxLength: number) => fc.array(match, { minLength: 1, maxLength });
const by = fc.constantFrom("country", "path", "name");
const PROPERTIES = ["properties.plan", "properties.total"] as const;
const MEASURES = [
  ...["total", "visitors", "perVisitor"],
  ...["sum", "avg", "min", "max", "p50", "p90"].map((figure) => `${figure}:properties.total`),
];

const REPORTS = {
  retention: RETENTION,
  kpis: KPIS,
  acquisition: ACQUISITION,
  pages: PAGES,
  paths: HEATMAP_PATHS,
  goals: GOALS,
  trends: TRENDS,
  funnels: FUNNELS,
} as const satisfies Record<string, Report>;
type ReportName = keyof typeof REPORTS;

interface Asked {
  readonly report: ReportName;
  readonly parameters: Readonly<Record<string, unknown>>;
}

const asked = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom("pages", "paths", "goals", "kpis", "acquisition")
      .map((report): Asked => ({ report, parameters: {} })),
  },
  fc.record({
    event: matches(3),
    measure: fc.constantFrom(...MEASURES),
    by: fc.option(fc.oneof(by, fc.constantFrom(...SESSION_FIELDS, ...PROPERTIES)), { nil: "" }),
  }).map((parameters): Asked => ({ report: "trends", parameters })),
  fc.record({
    start: match,
    return: match,
    cohort: fc.constantFrom("first", "recurring"),
    interval: fc.constant("week"),
    periods: fc.constant("4"),
  }).map((parameters): Asked => ({ report: "retention", parameters })),
  fc.record({
    steps: matches(3),
    window: fc.constantFrom("1h", "20d"),
    order: fc.constantFrom("ordered", "strict", "unordered"),
    exclude: fc.oneof(fc.constant([]), matches(1)),
    by: fc.option(by, { nil: "" }),
  }).map((parameters): Asked => ({ report: "funnels", parameters })),
);
const span = fc.tuple(fc.nat({ max: 20 * 24 }), fc.integer({ min: 24, max: 40 * 24 }))
  .map(([after, hours]) => {
    const fromMs = WORLD_FROM_MS + after * HOUR_MS + 1;
    const toMs = fromMs + hours * HOUR_MS;
    return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
  });
const KNOWN = [...TOLD_FIELDS, ...SESSION_FIELDS];
const filters = fc.oneof(
  fc.array(randomFilter(PROPERTIES), { minLength: 1, maxLength: 2 }),
  fc.array(randomFilter(KNOWN), { minLength: 1, maxLength: 3 }),
);
const bots = fc.constantFrom("exclude", "include", "include", "only");

const OF_PLAN: Filter = { field: "properties.plan", op: "is", values: ["pro"] };
const GOAL_BODIES = [
  { match: { name: "buy", filters: [] }, value: { property: "total", currency: "EUR" } },
  { match: { name: null, filters: [OF_PLAN] }, value: { property: "total", currency: "EUR" } },
  { match: { name: "click", filters: [{ ...OF_PLAN, op: "is_not" }] }, value: null },
];

/** Whether anything was counted. */
const hasFigures = (result: unknown): boolean =>
  /"(?:visitors|actors|size|value|totalConversions)":[1-9]/.test(JSON.stringify(result));

onBothEngines("reports: under all filters the same in memory and in parts", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(200));
  for (const [i, goal] of GOAL_BODIES.entries()) {
    await database.query(
      `INSERT INTO goals (project_id, slug, title, definition)
      VALUES (1, $1::text, $1::text, $2::text::jsonb)`,
      [`goal-${i}`, JSON.stringify(goal)],
    );
  }
  const { timelines, followed } = followedTimelines(database);
  const inParts = timelinesOf(database, 1, 0, PART_BYTES);
  const told = new Set<ReportName>();
  const property = fc.asyncProperty(
    fc.record({ asked, span, filters, bots }),
    async ({ asked: { report, parameters }, span, filters, bots }) => {
      const query = new URLSearchParams({ interval: "day", ...span, bots });
      for (const [name, value] of Object.entries({ ...parameters, filters })) {
        query.set(name, typeof value === "string" ? value : JSON.stringify(value));
      }
      const read = readOf(database, query, AS_OF, { siteUrl: null });
      const before = followed();
      const { result } = await answerAsked(REPORTS[report], { ...read, timelines });
      assert.ok(followed() > before);
      const parted = await answerAsked(REPORTS[report], { ...read, timelines: inParts });
      assert.deepEqual(parted.result, result);
      const isMarked = filters.some(({ field }) => propertyOf(field) !== null);
      if (isMarked && hasFigures(result)) told.add(report);
    },
  );
  const numRuns = database.engine === "postgres" ? 120 : 50;
  await fc.assert(property, { numRuns });
  // By chance a report or two find nothing in 120 runs, and in 50 runs up to half of them.
  assert.ok(told.size > Object.keys(REPORTS).length / (numRuns === 120 ? 2 : 4), `${told.size}`);
});

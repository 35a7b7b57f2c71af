import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { Problem } from "../../../src/problem.ts";
import { HEATMAP_PATHS } from "../../../src/reports/heatmaps/heatmap_paths.ts";
import { createHeatmaps } from "../../../src/reports/heatmaps/heatmaps.ts";
import type { Report } from "../../../src/reports/answer/report.ts";
import type { Scope } from "../../../src/query/selection.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { answerAsked, type AskedRead } from "../../support/asked_read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { newRow, openWithProjects, PROJECT_ONE } from "../../support/event_rows.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

const PROJECT = { ...PROJECT_ONE, siteUrl: "https://example.com" };
const NEXT_RUN = "2026-03-04T03:00:00.000Z";
const HEATMAPS = createHeatmaps({ basePath: "", nextRunMs: () => Date.parse(NEXT_RUN) });
const DAY = "2026-03-02";
const FROM = new Date(`${DAY}T00:00:00Z`);
const TO = new Date("2026-03-03T00:00:00Z");

/** Returns an event of an actor, `at` a time of the day. */
function event(name: string, who: string, at: string, members: Partial<EventRow> = {}): EventRow {
  const occurred_at = new Date(`${DAY}T${at}Z`).toISOString();
  return newRow({ name, anonymous_id: who, occurred_at, path: "/", ...members });
}

/** A click at x (fraction) and y (pixels) of a window of the given width. */
function click(
  who: string,
  at: string,
  [pointer_x, pointer_y, viewport_width]: readonly [number | null, number | null, number | null],
  members: Partial<EventRow> = {},
): EventRow {
  return event("click", who, at, { pointer_x, pointer_y, viewport_width, ...members });
}

function scroll(who: string, at: string, depth_px: number | null, members = {}): EventRow {
  return event("scroll", who, at, { depth_px, viewport_width: 1440, ...members });
}

async function ask(
  database: Database,
  report: Report,
  query: Record<string, string>,
  { scope = {}, limit = 100 }: { scope?: Partial<Scope>; limit?: number } = {},
  // Tests look into replies of every shape.
  // deno-lint-ignore no-explicit-any
): Promise<any> {
  const read: Omit<AskedRead, "sql" | "timelines"> = {
    project: PROJECT,
    scope: { projectId: 1, siteHost: "example.com", bots: "exclude", filters: [], ...scope },
    range: { from: FROM, to: TO, timezone: "UTC", fromDate: null, toDate: null },
    interval: "day",
    comparison: null,
    query: new URLSearchParams(query),
    limit,
    visitorsMin: 1,
    asOfMs: TO.getTime(),
  };
  const { result, query: resolved } = await database.transaction((sql) =>
    answerAsked(report, { ...read, sql, timelines: timelinesOf(sql) })
  );
  for (const [name, schema] of Object.entries(report.reply)) schema.parse(result[name]);
  // Elements are told only where they are asked for.
  const members = Object.keys(report.reply).filter((name) => name !== "elements");
  assert.deepEqual(Object.keys(result).sort(), members.sort());
  return { ...result, query: resolved };
}

const isParameter = (name: string) => (error: unknown) => {
  assert(error instanceof Problem, String(error));
  assert.equal(error.code, "invalid_parameter");
  assert.deepEqual(error.options.errors?.map(({ field }) => field), [name]);
  return true;
};

const ROWS: EventRow[] = [
  // Two clicks of ann and one of bob in one cell: x 100/200 up to 101/200, y 20 up to 30.
  click("ann", "10:00:00", [0.5, 20, 1024]),
  click("ann", "10:00:01", [0.504, 29.9, 1440], { rage: true }),
  click("bob", "10:00:02", [0.5, 25, 1440], { rage: true, dead: true }),
  // The same cell, but of a fixed element.
  click("cat", "10:00:03", [0.5, 25, 1440], { fixed: true }),
  // At and beyond the right edge, left of the left one, above the top; nothing known of the window.
  click("ann", "10:00:04", [1, 0, null]),
  click("ann", "10:00:05", [7, 5, 1440]),
  click("dan", "10:00:06", [-0.2, -1, 1440], { dead: true }),
  // Nowhere.
  click("eve", "10:00:07", [null, 25, 1440], { rage: true }),
  click("eve", "10:00:08", [0.5, null, 1440]),
  // Narrower windows.
  click("fay", "10:00:09", [0.25, 100, 1023]),
  click("fay", "10:00:10", [0.25, 100, 768]),
  click("gus", "10:00:11", [0.25, 100, 767]),
  // Other pages, a bot, another day, another project, another name.
  click("ann", "10:01:00", [0.1, 10, 1440], { path: "/shop/a_c/1" }),
  click("bob", "10:01:01", [0.1, 10, 1440], { path: "/shop/abc/2" }),
  click("cat", "10:01:02", [0.1, 10, 1440], { path: "/shop/a%c" }),
  click("cat", "10:01:03", [0.1, 10, 1440], { path: "/shop/a\\c" }),
  click("bot", "10:02:00", [0.9, 900, 1440], { bot: true }),
  click("ann", "10:02:01", [0.9, 900, 1440], { occurred_at: "2026-03-03T00:00:00.000Z" }),
  click("ann", "10:02:02", [0.9, 900, 1440], { project_id: 2 }),
  event("press", "ann", "10:02:03", { pointer_x: 0.9, pointer_y: 900, viewport_width: 1440 }),
  // Page views that went down to 0, 99, 100 and 350 px; one that does not say; one on a phone.
  scroll("ann", "11:00:00", 0),
  scroll("ann", "11:00:01", 99),
  scroll("bob", "11:00:02", 100),
  scroll("cat", "11:00:03", 350),
  scroll("cat", "11:00:04", null),
  scroll("gus", "11:00:05", 5000, { viewport_width: 390 }),
  event("page_view", "ann", "09:59:00"),
  event("page_view", "hal", "09:59:01", { path: "/quiet" }),
  event("page_view", "ivy", "09:59:02", { path: "/quiet" }),
  event("page_view", "ivy", "09:59:03", { path: null }),
  event("signup", "jon", "09:59:04", { path: "/custom" }),
  scroll("jon", "09:59:05", 10, { path: "/scrolled" }),
];

const DESKTOP_POINTS = [
  { x: 0.5025, y: 25, fixed: false, count: 3, visitors: 2 },
  { x: 0.9975, y: 5, fixed: false, count: 2, visitors: 1 },
  { x: 0.0025, y: 5, fixed: false, count: 1, visitors: 1 },
  { x: 0.5025, y: 25, fixed: true, count: 1, visitors: 1 },
];
/** ann 4, bob 1, cat 1, dan 1, and two of eve that are nowhere. */
const DESKTOP_SAMPLE = { visitors: 5, clicks: 9 };

async function filled(db: Parameters<typeof openWithProjects>[0]): Promise<Database> {
  const database = await openWithProjects(db);
  await insertEvents(database, ROWS.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  const projection = createProjection(database);
  await projection.catchUp(1);
  await projection.catchUp(2);
  return database;
}

onBothEngines("heatmaps: points, scroll depth and paths by known answers", async (t, db) => {
  const database = await filled(db);
  const heatmap = (query: Record<string, string>, scope?: Partial<Scope>) =>
    ask(database, HEATMAPS, query, scope === undefined ? {} : { scope });

  await t.step(
    "clicks are shown by the centres of cells, on fixed targets apart",
    async () => {
      const found = await heatmap({ path: "/" });
      assert.deepEqual(found.points, DESKTOP_POINTS);
      assert.deepEqual(found.sample, DESKTOP_SAMPLE);
      assert.deepEqual(found.scroll, []);
      assert.deepEqual(found.query, {
        path: "/",
        pattern: null,
        device: "desktop",
        elements: 0,
        kind: "click",
      });
    },
  );

  await t.step("rage and dead clicks are a part, of the same sample", async () => {
    const rage = await heatmap({ path: "/", kind: "rage" });
    assert.deepEqual(rage.points, [{ x: 0.5025, y: 25, fixed: false, count: 2, visitors: 2 }]);
    assert.deepEqual(rage.sample, DESKTOP_SAMPLE);
    const dead = await heatmap({ path: "/", kind: "dead" });
    assert.deepEqual(dead.points, [
      { x: 0.0025, y: 5, fixed: false, count: 1, visitors: 1 },
      { x: 0.5025, y: 25, fixed: false, count: 1, visitors: 1 },
    ]);
    assert.deepEqual(dead.sample, DESKTOP_SAMPLE);
  });

  await t.step("devices are cut at 768 and 1024 pixels", async () => {
    const tablet = await heatmap({ path: "/", device: "tablet" });
    assert.deepEqual(tablet.points, [
      { x: 0.2525, y: 105, fixed: false, count: 2, visitors: 1 },
    ]);
    const mobile = await heatmap({ path: "/", device: "mobile" });
    assert.deepEqual(mobile.sample, { visitors: 1, clicks: 1 });
  });

  await t.step("scroll depth counts page views down to the deepest", async () => {
    const found = await heatmap({ path: "/", kind: "scroll" });
    assert.deepEqual(found.points, []);
    assert.deepEqual(found.scroll, [
      { depthPx: 0, reached: 4 },
      { depthPx: 100, reached: 2 },
      { depthPx: 200, reached: 1 },
      { depthPx: 300, reached: 1 },
    ]);
    assert.deepEqual(found.sample, DESKTOP_SAMPLE);
    const nowhere = await heatmap({ path: "/nowhere", kind: "scroll" });
    assert.deepEqual(nowhere.scroll, []);
    assert.deepEqual(nowhere.sample, { visitors: 0, clicks: 0 });
  });

  await t.step(
    "the star of a pattern crosses slashes, and all else is meant literally",
    async () => {
      const clicks = async (pattern: string) => (await heatmap({ pattern })).sample.clicks;
      assert.equal(await clicks("/shop/*"), 4);
      assert.equal(await clicks("*/1"), 1);
      assert.equal(await clicks("/*/2"), 1);
      assert.equal(await clicks("/shop"), 0);
      assert.equal(await clicks("shop/*"), 0);
      assert.equal(await clicks("/shop/a_c*"), 1);
      assert.equal(await clicks("/shop/a%c"), 1);
      assert.equal(await clicks("/shop/a\\c"), 1);
      assert.equal(await clicks("/SHOP/*"), 0);
      assert.equal(await clicks("/**shop**"), 4);
      const { query, points } = await heatmap({ pattern: "/shop/*" });
      assert.deepEqual([query.path, query.pattern], [null, "/shop/*"]);
      assert.deepEqual(points, [{ x: 0.1025, y: 15, fixed: false, count: 4, visitors: 3 }]);
    },
  );

  await t.step("bots and filters narrow the clicks", async () => {
    const bots = await heatmap({ path: "/" }, { bots: "only" });
    assert.deepEqual(bots.points, [{ x: 0.9025, y: 905, fixed: false, count: 1, visitors: 1 }]);
    assert.equal((await heatmap({ path: "/" }, { bots: "include" })).sample.clicks, 10);
    const dead = { field: "properties.dead", op: "is", values: [true] } as const;
    const found = await heatmap({ path: "/" }, { filters: [dead] });
    assert.deepEqual(found.sample, { visitors: 2, clicks: 2 });
    const searched = { field: "channel", op: "is", values: ["Organic Search"] } as const;
    assert.deepEqual((await heatmap({ path: "/" }, { filters: [searched] })).points, []);
    const direct = { ...searched, values: ["Direct"] };
    assert.deepEqual((await heatmap({ path: "/" }, { filters: [direct] })).points, DESKTOP_POINTS);
  });

  await t.step("numbers of any size are accepted", async () => {
    const odd = [[1e308, 1e308], [-1e308, -1e308], [5e-324, 5e-324], [-5e-324, -5e-324]] as const;
    const path = "/odd";
    const clicks = odd.map(([x, y]) => click("ann", "12:00:00", [x, y, 1440], { path }));
    await insertEvents(database, clicks.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
    await createProjection(database).catchUp(1);
    const { points } = await heatmap({ path });
    // Off the page to the left or above it is its edge, and no page is taller than 1,310,720 px.
    assert.deepEqual(points, [
      { x: 0.0025, y: 5, fixed: false, count: 3, visitors: 1 },
      { x: 0.9975, y: 1_310_715, fixed: false, count: 1, visitors: 1 },
    ]);
  });

  await t.step("a bad parameter is named", async () => {
    const refused = (query: Record<string, string>, name: string) =>
      assert.rejects(heatmap(query), isParameter(name));
    await refused({}, "path");
    await refused({ path: "" }, "path");
    await refused({ path: "/", pattern: "/*" }, "pattern");
    await refused({ path: "/".repeat(2049) }, "path");
    await refused({ path: "/\0" }, "path");
    await refused({ pattern: "*".repeat(501) }, "pattern");
    await refused({ path: "/", device: "phone" }, "device");
    await refused({ path: "/", kind: "hover" }, "kind");
  });

  await t.step("there is no picture yet, and the reply says why", async () => {
    const { capture } = await heatmap({ path: "/" });
    assert.deepEqual(capture, {
      status: "pending",
      message: "No capture of this page has been taken yet.",
      capturedAt: null,
      nextAttemptAt: NEXT_RUN,
      imageUrl: null,
      width: null,
      height: null,
      captureId: null,
    });
  });

  await t.step("paths with page views or clicks, most visitors first", async () => {
    const status = { status: "pending" };
    const devices = { desktop: status, tablet: status, mobile: status };
    const noPage = { status: "not_a_page" };
    const noPages = { desktop: noPage, tablet: noPage, mobile: noPage };
    const { rows, nextCursor } = await ask(database, HEATMAP_PATHS, {});
    assert.equal(nextCursor, null);
    // On the front page: ann, bob, cat, dan, eve, fay, gus.
    assert.deepEqual(rows, [
      { path: "/", visitors: 7, clicks: 12, devices },
      { path: "/quiet", visitors: 2, clicks: 0, devices },
      { path: "/odd", visitors: 1, clicks: 4, devices },
      { path: "/shop/a%c", visitors: 1, clicks: 1, devices },
      // No URL has such a path.
      { path: "/shop/a\\c", visitors: 1, clicks: 1, devices: noPages },
      { path: "/shop/a_c/1", visitors: 1, clicks: 1, devices },
      { path: "/shop/abc/2", visitors: 1, clicks: 1, devices },
    ]);
    const paged: unknown[] = [];
    let cursor = "";
    do {
      const page = await ask(database, HEATMAP_PATHS, { cursor }, { limit: 2 });
      assert.ok(page.rows.length === 2 || page.nextCursor === null);
      paged.push(...page.rows);
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(paged, rows);
    await assert.rejects(ask(database, HEATMAP_PATHS, { cursor: "abc" }), isParameter("cursor"));
    const bots = await ask(database, HEATMAP_PATHS, {}, { scope: { bots: "only" } });
    assert.deepEqual(bots.rows, [{ path: "/", visitors: 1, clicks: 1, devices }]);
  });
});

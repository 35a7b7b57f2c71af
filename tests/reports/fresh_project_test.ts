import assert from "node:assert/strict";
import { requireProject } from "../../src/auth/projects.ts";
import type { Database, Param, Sql } from "../../src/db/sql.ts";
import { SegmentCache } from "../../src/timelines/segment_cache.ts";
import { HASH_JOINS_EVENTS_MAX } from "../../src/limits.ts";
import { getEvents } from "../../src/reports/events/events_endpoint.ts";
import { ExportSeats } from "../../src/reports/events/export_seats.ts";
import { getReport, type ReportServices } from "../../src/reports/answer/report_endpoint.ts";
import { planJoins } from "../../src/query/join_plans.ts";
import { ENDPOINTS } from "../reads/endpoints.ts";
import { TestApp } from "../support/app.ts";
import { onBothEngines, onFreshEngines, type TestPlace } from "../support/databases.ts";
import { openWithProjects } from "../support/event_rows.ts";
import { withMembersInside } from "../support/fake_sql.ts";
import { FILTERS, freshEvents, READS } from "../support/fresh_project.ts";
import { IN_PLACE } from "../support/in_place.ts";

const EVENTS = 500;
/** The most rows that one statement may visit per event of the project; nested loops visit thousands. */
const ROWS_VISITED_MAX = 100;
/** Dimensions that generated histories do not cover, and the ones that they are combined with. */
const WORST = [["properties.x"], ["properties.x", "channel"], ["properties.selector", "title"]];

interface PlanNode {
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly "Plans"?: readonly PlanNode[];
}

/** The rows that all nodes of a plan gave or threw away. */
function rowsVisited(node: PlanNode): number {
  const each = node["Actual Rows"] + (node["Rows Removed by Filter"] ?? 0) +
    (node["Rows Removed by Join Filter"] ?? 0);
  const below = node.Plans?.reduce((sum, one) => sum + rowsVisited(one), 0) ?? 0;
  return each * node["Actual Loops"] + below;
}

/** Explains every query before it is run. */
function explaining(database: Database, visit: (rows: number, text: string) => void): Database {
  const explain = async (sql: Sql, text: string, params?: readonly Param[]) => {
    const select = text.replace(/^DECLARE \w+ NO SCROLL CURSOR FOR /, "");
    if (!/\bFROM\b/.test(select) || /set_config|^FETCH/.test(select)) return;
    const explained = `EXPLAIN (ANALYZE, TIMING OFF, FORMAT JSON) ${select}`;
    const plan = (await sql.query(explained, params))[0]!["QUERY PLAN"];
    const [{ Plan }] = (typeof plan === "string" ? JSON.parse(plan) : plan) as [{ Plan: PlanNode }];
    visit(rowsVisited(Plan), text);
  };
  return withMembersInside(database, (sql) => ({
    query: async (...asked) => (await explain(sql, ...asked), await sql.query(...asked)),
    binary: async (...asked) => (await explain(sql, ...asked), await sql.binary(...asked)),
  }));
}

/** Fills a project that the planner has statistics of, and another of the same size that it has none of. */
async function fill(db: TestPlace): Promise<string> {
  const server = await new TestApp(db.env).start();
  try {
    const projects = [await server.project(), await server.project()];
    for (const project of projects) {
      const { id, secretKey } = project;
      const { status } = await server.post(project, freshEvents(EVENTS, Date.now()), {
        key: secretKey,
      });
      assert.equal(status, 200);
      const match = { name: "buy", filters: [{ field: "properties.y", op: "not_exists" }] };
      const goal = { title: "Buy", match };
      await server.admin("PUT", `/v1/goals/buy?project=${id}`, goal);
      assert.equal((await server.admin("GET", `/v1/live?project=${id}`)).status, 200);
    }
    return projects[1]!.id;
  } finally {
    await server.stop();
  }
}

/** Deletes all statistics: the planner then knows nothing, as of a project that was never analysed. */
const FORGET = `
DELETE FROM pg_statistic WHERE starelid IN (
  SELECT oid FROM pg_class WHERE relnamespace = 'public'::regnamespace);
UPDATE pg_class SET reltuples = 1, relpages = 1
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'i')`;

async function ask(
  services: ReportServices,
  id: string,
  [path, own]: typeof READS[number],
  fields: readonly string[],
): Promise<void> {
  const filters = FILTERS.filter(({ field }) => fields.includes(field));
  const query = new URLSearchParams({ ...own, filters: JSON.stringify(filters) });
  const url = new URL(`http://x/v1/${path}?${query}`);
  const project = await requireProject(services.reads, id);
  const asked = { project, url, request: new Request(url), params: {} };
  const { report } = ENDPOINTS.find(({ documented }) => documented === `/v1/${path}`)!;
  const reply = report === undefined
    ? await getEvents({ ...services, project, exports: new ExportSeats() }, {
      ...asked,
      requestId: "r",
      peer: null,
      who: null,
    })
    : await getReport(services, report, asked);
  assert.equal(reply.status, 200);
}

onFreshEngines(
  "reads: of a project that was filled a moment ago visit no more than a bounded number of rows an event",
  async (t, db) => {
    const project = await fill(db);
    const database: Database = await db.open();
    await database.script(FORGET);
    let worst = { rows: 0, text: "" };
    const reads = explaining(database, (rows, text) => {
      if (rows > worst.rows) worst = { rows, text };
    });
    const services = {
      reads,
      projection: { catchUp: () => Promise.resolve(), catchUpWithin: () => Promise.resolve() },
      segments: new SegmentCache(1_000_000),
      pool: IN_PLACE,
      readTimeoutMs: 60_000,
      now: Date.now,
    };
    for (const read of READS) {
      await t.step(`${read[0]} ${JSON.stringify(read[1])}`, async () => {
        worst = { rows: 0, text: "" };
        for (const fields of WORST) await ask(services, project, read, fields);
        assert.ok(worst.rows <= ROWS_VISITED_MAX * EVENTS, `${worst.rows} rows: ${worst.text}`);
      });
    }
  },
);

onBothEngines("reads: up to a size projects are joined by hash alone", async (_t, db) => {
  const database = await openWithProjects(db);
  const joinsOf = async (events: number) => {
    await database.query("DELETE FROM day_totals");
    await database.query(
      "INSERT INTO day_totals (project_id, day, events) VALUES (7, 0, $1::int - 1), (7, 1, 1)",
      [events],
    );
    return await database.transaction(async (sql) => {
      await planJoins(sql, 7);
      const [row] = await sql.query<{ nested: string; merged: string }>(
        "SELECT current_setting('enable_nestloop') AS nested, current_setting('enable_mergejoin') AS merged",
      );
      return row;
    });
  };
  assert.deepEqual(await joinsOf(HASH_JOINS_EVENTS_MAX), { nested: "off", merged: "off" });
  assert.deepEqual(await joinsOf(HASH_JOINS_EVENTS_MAX + 1), { nested: "on", merged: "on" });
});

/**
 * `deno task bench:sites [--projects=100] [--events=10000000] [--days=30] [--requests=20]`
 *
 * What the list of all projects takes: PostgreSQL makes the history of one project, with its share of the
 * events, the server's projection takes it in, and the others get the same rollups and sessions. Then the
 * real server answers `GET /v1/overview`, one request after the other. Linux, with a PostgreSQL server.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createProject } from "../src/auth/projects.ts";
import type { Database } from "../src/db/sql.ts";
import { createSchemaDatabase, startConfigured } from "./configured_cluster.ts";
import { machineLine } from "./process_figures.ts";
import { projectHistory, storeHistory } from "./read_history.ts";
import { ReadServer } from "./read_server.ts";

const { values: given } = parseArgs({
  args: Deno.args,
  options: {
    projects: { type: "string", default: "100" },
    events: { type: "string", default: "10000000" },
    days: { type: "string", default: "30" },
    requests: { type: "string", default: "20" },
  },
});
const [projects, events, days, requests] = [
  given.projects,
  given.events,
  given.days,
  given.requests,
].map(Number) as [number, number, number, number];
const SETTINGS = { fsync: "on", synchronous_commit: "on", shared_buffers: "1GB" };
/** All that the list looks at, and what the projection looks up where sessions end meanwhile. */
const COPIED = [
  ...["terms", "contexts", "traffic", "referrers", "technical_names", "acquisition_days"],
  "session_durations",
  "visitor_days",
  "day_totals",
  "sessions",
  "projections",
  "actors",
  "identities",
  "segments",
];

async function newProject(sql: Database, i: number): Promise<number> {
  const { projectId } = await createProject(sql, {
    name: `Site ${i}`,
    siteUrl: `https://site-${i}.example`,
    timezone: "Europe/Berlin",
    allowedOrigins: [],
    ipStorage: null,
    retentionDays: null,
  });
  return projectId;
}

/** The same rows for another project. */
async function copy(sql: Database, table: string, from: number, to: number): Promise<void> {
  const columns = await sql.query<{ name: string }>(
    `SELECT quote_ident(column_name) AS name FROM information_schema.columns
    WHERE table_name = $1::text AND column_name <> 'project_id' AND is_identity = 'NO'
    ORDER BY ordinal_position`,
    [table],
  );
  const names = columns.map(({ name }) => name).join(", ");
  await sql.query(
    `INSERT INTO ${table} (project_id, ${names})
    SELECT $2::int, ${names} FROM ${table} WHERE project_id = $1::int
    ON CONFLICT DO NOTHING`,
    [from, to],
  );
}

async function fill(sql: Database): Promise<number> {
  const first = await newProject(sql, 1);
  const history = { events: Math.ceil(events / projects), days, endMs: Date.now() };
  const stored = await storeHistory(sql, { ...history, projectId: first });
  await projectHistory(sql, first);
  for (let i = 2; i <= projects; i++) {
    const other = await newProject(sql, i);
    for (const table of COPIED) await copy(sql, table, first, other);
  }
  await sql.query("VACUUM ANALYZE");
  return stored.events;
}

const configured = await startConfigured(SETTINGS);
try {
  const database = await createSchemaDatabase(configured.cluster);
  const each = await fill(database.sql);
  const [{ rows }] = await database.sql.query("SELECT count(*)::int AS rows FROM visitor_days") as [
    { rows: number },
  ];
  const server = await ReadServer.start(
    fileURLToPath(new URL("..", import.meta.url)),
    database,
  );
  try {
    const queries = Array.from(
      { length: requests },
      (_, i) => `limit=${projects}&q=${i % 2 ? "" : "site"}`,
    );
    const set = { endpoint: "overview", variant: null, filtered: false, queries };
    await server.measure({ ...set, queries: queries.slice(0, 2) });
    const measured = await server.measure(set);
    const ms = measured!.reads.map((read) => read.ms).sort((a, b) => a - b);
    const at = (share: number) => `${ms[Math.floor(share * (ms.length - 1))]!.toFixed(1)} ms`;
    console.log(machineLine(configured.version));
    console.log(
      `${projects} projects of ${each} events in ${days} days, ${rows} rows of visitors by day: ` +
        `p50 ${at(0.5)}, p95 ${at(0.95)}`,
    );
  } finally {
    await server.stop();
  }
  await database.drop();
} finally {
  await configured.cluster.stop("fast");
}

/**
 * `deno task bench:reads [--events=N,N] [--days=N,N] [--requests=N] [--only=kpis,funnels] [--explain]
 * [--json] [--keep] [--database=URL|--data-dir=FOLDER] [--first]
 * [--against=COMMIT|FOLDER --against-database=URL]`
 *
 * What reads take on long histories: PostgreSQL makes a history of --events events over --days days
 * (lists pair up; a single value holds for all), the server's projection takes it in, and the real server
 * answers varied requests, one at a time. `--explain` then asks each kind once more and shows the
 * plans. `--keep` leaves the cluster running, and `--database` reads a history that was kept like this
 * again, or `--data-dir` one that was restored into an embedded database. `--first` asks each request
 * of a server that was just started. `--against` asks another version the same in turns, of the history
 * that its own `bench:reads --keep` has made.
 *
 * `deno task bench:reads --projection [--rate=N] [--seconds=N]`: whether the projection keeps up while events
 * are taken in at a steady rate. Linux, with a PostgreSQL server installed.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { DAY_MS } from "../src/limits.ts";
import { provisionDefaultProject } from "../src/auth/default_project.ts";
import { openEmbedded } from "../src/db/embedded.ts";
import type { Database } from "../src/db/sql.ts";
import { openCheckout } from "./checkout.ts";
import {
  type ConfiguredCluster,
  createSchemaDatabase,
  openBench,
  type SchemaDatabase,
  startConfigured,
} from "./configured_cluster.ts";
import { backlogText, measureBacklog } from "./projection_backlog.ts";
import { loadLastMinute, machineLine, peakMemoryBytes } from "./process_figures.ts";
import { type History, mergeHistory, projectHistory, storeHistory } from "./read_history.ts";
import { explainSessions, LOG_SETTINGS, PlanLog } from "./read_plans.ts";
import {
  type ExplainedSet,
  type HistoryReport,
  type ReadReport,
  readReportText,
} from "./read_report.ts";
import { ENDPOINTS, nameOfSet, PREPARATIONS, type ReadSet, readSets } from "./read_requests.ts";
import { type HistoryPlace, type MeasuredSet, ReadServer } from "./read_server.ts";
import { printAgainst } from "./reads_against.ts";
import { readSizes } from "./read_sizes.ts";

const PROJECT = "prj_default";
const SITE_URL = "https://shop.example";
const TIMEZONE = "Europe/Berlin";
const repository = fileURLToPath(new URL("..", import.meta.url));

const SERVER_SETTINGS: Readonly<Record<string, string>> = {
  fsync: "on",
  synchronous_commit: "on",
  full_page_writes: "on",
  shared_buffers: "1GB",
  max_wal_size: "4GB",
};

interface Size {
  readonly events: number;
  readonly days: number;
}

interface Options {
  readonly requests: number;
  readonly only: readonly string[] | null;
  readonly explain: boolean;
  readonly first: boolean;
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(2);
}

function wholeNumbers(name: string, text: string): number[] {
  return text.split(",").map((part) => {
    const value = Number(part);
    if (!Number.isSafeInteger(value) || value < 1) fail(`--${name}: use whole numbers from 1`);
    return value;
  });
}

function endpointsOf(text: string): string[] {
  const names = text.split(",");
  const unknown = names.find((name) => !ENDPOINTS.includes(name));
  if (unknown !== undefined) fail(`--only: ${unknown} is none of ${ENDPOINTS.join(", ")}`);
  return names;
}

/** Pairs the lists up; a single value goes with each of the others. */
function sizesOf(events: readonly number[], days: readonly number[]): Size[] {
  const longest = Math.max(events.length, days.length);
  const whole = [events, days].every(({ length }) => length === 1 || length === longest);
  if (!whole) fail("--events and --days: give lists of the same length, or a single value");
  return Array.from({ length: longest }, (_, i) => ({
    events: events[i] ?? events[0]!,
    days: days[i] ?? days[0]!,
  }));
}

async function createProject(sql: Database): Promise<number> {
  const project = {
    id: PROJECT,
    name: "Benchmark",
    siteUrl: SITE_URL,
    timezone: TIMEZONE,
    apiKey: null,
  };
  await provisionDefaultProject(sql, project, Date.now());
  const [row] = await sql.query<{ project_id: number }>(
    "SELECT project_id FROM projects WHERE public_id = $1::text",
    [PROJECT],
  );
  return row!.project_id;
}

/** So that a run that is stopped has told something. */
function progressOf({ reads, refusals }: MeasuredSet): string {
  const ms = reads.map((read) => read.ms).sort((a, b) => a - b);
  const median = ms.length === 0 ? "-" : `${Math.round(ms[ms.length >> 1]!)} ms`;
  const refused = Object.entries(refusals).map(([what, count]) => `, ${count} × ${what}`).join("");
  return `${reads.length} reads, median ${median}${refused}`;
}

async function measureSets(server: ReadServer, sets: readonly ReadSet[]) {
  const refused = await server.prepare(PREPARATIONS, PROJECT);
  const missing = new Set<string>();
  const measured: MeasuredSet[] = [];
  for (const set of sets) {
    const one = await server.measure(set);
    if (one === null) missing.add(set.endpoint);
    else measured.push(one);
    console.error(`${nameOfSet(set)}: ${one === null ? "skipped" : progressOf(one)}`);
  }
  const skipped = [...missing].map((endpoint) => `${endpoint}: 404 on this server, skipped`);
  return { notes: [...refused, ...skipped], measured };
}

/** What was measured on a history, and the most memory of a server. */
interface MeasuredSets {
  readonly notes: readonly string[];
  readonly measured: readonly MeasuredSet[];
  readonly peakBytes: number;
}

/** Asks all of one server. */
async function measureOnOne(place: HistoryPlace, sets: readonly ReadSet[]): Promise<MeasuredSets> {
  const server = await ReadServer.start(repository, place);
  try {
    const result = await measureSets(server, sets);
    return { ...result, peakBytes: peakMemoryBytes(server.server.pid) };
  } finally {
    await server.stop();
  }
}

/** Asks each request of a server of its own. */
async function measureFirst(place: HistoryPlace, sets: readonly ReadSet[]): Promise<MeasuredSets> {
  const notes: string[] = [];
  const measured: MeasuredSet[] = [];
  let peakBytes = 0;
  for (const set of sets) {
    const reads: MeasuredSet["reads"][number][] = [];
    for (const query of set.queries) {
      const one = await measureOnOne(place, [{ ...set, queries: [query] }]);
      notes.push(...one.notes);
      reads.push(...one.measured.flatMap((of) => of.reads));
      peakBytes = Math.max(peakBytes, one.peakBytes);
    }
    measured.push({ set, reads, refusals: {} });
  }
  return { notes: [...new Set(notes)], measured, peakBytes };
}

/** Asks one request of each set again, on a server whose sessions tell their plans. */
async function explainSets(
  { cluster }: ConfiguredCluster,
  database: Pick<SchemaDatabase, "url" | "sql" | "name">,
  measured: readonly MeasuredSet[],
): Promise<ExplainedSet[]> {
  await explainSessions(database.sql, database.name);
  const server = await ReadServer.start(repository, database);
  const log = new PlanLog(cluster);
  const explained: ExplainedSet[] = [];
  try {
    for (const { set, reads } of measured) {
      // Thirty days, where there is a choice; the first of a set has seven.
      const query = reads[1]?.query ?? reads[0]?.query;
      if (query === undefined) continue;
      await log.take();
      await server.measure({ ...set, queries: [query] });
      explained.push({ set, query, plans: await log.take() });
    }
  } finally {
    await server.stop();
  }
  return explained;
}

/** A history of this size up to now. */
async function newHistory(sql: Database, { events, days }: Size): Promise<History> {
  return { events, days, endMs: Date.now(), projectId: await createProject(sql) };
}

/** The history that an earlier run has kept. */
async function keptHistory(sql: Database): Promise<History> {
  const [row] = await sql.query<{ project_id: number; events: number; from: number; to: number }>(
    `SELECT project_id, sum(events)::int AS events, min(from_ms)::int8 AS from, max(to_ms)::int8 AS to
    FROM segments GROUP BY project_id ORDER BY 2 DESC LIMIT 1`,
  );
  if (row === undefined) fail("There are no events in this database.");
  const { project_id: projectId, events, from, to: endMs } = row;
  return { projectId, events, days: Math.round((endMs - from) / DAY_MS), endMs };
}

/** Merges what is stored, and returns what is told of it besides the reads. */
async function preparedHistory(sql: Database, { projectId, events, days }: History) {
  const merged = await mergeHistory(sql, projectId, events);
  await sql.query("VACUUM ANALYZE");
  await sql.query("CHECKPOINT");
  const sizes = await readSizes(sql);
  const [{ actors }] = await sql.query("SELECT count(*)::int AS actors FROM actors") as [
    { actors: number },
  ];
  return { events, days, actors, merged, sizes };
}

async function measureReads(
  place: HistoryPlace,
  { days, endMs }: History,
  { requests, only, first }: Options,
) {
  const sets = readSets({ projectPublicId: PROJECT, days, endMs, requests }, only);
  const result = await (first ? measureFirst : measureOnOne)(place, sets);
  const { measured, notes, peakBytes: serverPeakMemoryBytes } = result;
  return { sets: measured, notes, serverPeakMemoryBytes };
}

async function measureNew(
  configured: ConfiguredCluster,
  database: SchemaDatabase,
  size: Size,
  options: Options,
): Promise<HistoryReport> {
  const { sql } = database;
  const history = await newHistory(sql, size);
  const stored = await storeHistory(sql, history);
  const projected = await projectHistory(sql, history.projectId);
  const prepared = await preparedHistory(sql, history);
  const measured = await measureReads(database, history, options);
  const explained = options.explain ? await explainSets(configured, database, measured.sets) : [];
  return { ...prepared, events: stored.events, stored, projected, ...measured, explained };
}

async function measureAll(
  configured: ConfiguredCluster,
  sizes: readonly Size[],
  options: Options,
  keep: boolean,
): Promise<ReadReport> {
  const before = loadLastMinute();
  const histories: HistoryReport[] = [];
  for (const size of sizes) {
    const database = await createSchemaDatabase(configured.cluster);
    histories.push(await measureNew(configured, database, size, options));
    if (keep) console.error(`Kept: ${database.url}`);
    await (keep ? database.sql.close() : database.drop());
  }
  return {
    machine: machineLine(configured.version),
    settings: configured.settings,
    histories,
    loadAverage: [before, loadLastMinute()],
  };
}

/** Reads a history of an earlier run once more, and leaves it where it is. */
async function measureKept(place: HistoryPlace, options: Options): Promise<ReadReport> {
  const before = loadLastMinute();
  const sql = "url" in place ? openBench(place.url) : await openEmbedded(place.dataDir);
  let history: History;
  let prepared;
  let version: string;
  try {
    history = await keptHistory(sql);
    prepared = await preparedHistory(sql, history);
    [{ server_version: version }] = await sql.query("SHOW server_version") as [
      { server_version: string },
    ];
  } finally {
    // One process alone may have an embedded database open.
    await sql.close();
  }
  const measured = await measureReads(place, history, options);
  return {
    machine: machineLine(version.split(" ")[0]!),
    settings: {},
    histories: [{ ...prepared, stored: null, projected: null, explained: [], ...measured }],
    loadAverage: [before, loadLastMinute()],
  };
}

const { values: given } = parseArgs({
  args: Deno.args,
  options: {
    events: { type: "string", default: "1000000" },
    days: { type: "string", default: "90" },
    requests: { type: "string", default: "20" },
    only: { type: "string" },
    explain: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    keep: { type: "boolean", default: false },
    first: { type: "boolean", default: false },
    against: { type: "string" },
    "against-database": { type: "string" },
    database: { type: "string" },
    "data-dir": { type: "string" },
    projection: { type: "boolean", default: false },
    rate: { type: "string", default: "15000" },
    seconds: { type: "string", default: "20" },
  },
});

const sizes = sizesOf(wholeNumbers("events", given.events), wholeNumbers("days", given.days));
const options: Options = {
  requests: wholeNumbers("requests", given.requests)[0]!,
  only: given.only === undefined ? null : endpointsOf(given.only),
  explain: given.explain,
  first: given.first,
};
const order = {
  eventsPerSecond: wholeNumbers("rate", given.rate)[0]!,
  seconds: wholeNumbers("seconds", given.seconds)[0]!,
};

function print<Report>(report: Report, textOf: (report: Report) => string): void {
  console.log(given.json ? JSON.stringify(report, null, 2) : textOf(report));
}

const { database: keptUrl, "data-dir": keptDataDir, against, "against-database": againstUrl } =
  given;
if (keptDataDir !== undefined && (keptUrl ?? against) !== undefined) {
  fail("--data-dir: give it without --database and --against, which read another history");
}
if (options.explain && (keptUrl ?? keptDataDir ?? against) !== undefined) {
  fail("--explain: only plans of a history that this run makes can be shown");
}
if (against !== undefined) {
  if (keptUrl === undefined || againstUrl === undefined) {
    fail("--against: give --database and --against-database, each the URL of a kept history");
  }
  const temporary = await Deno.makeTempDir({ prefix: "footfall-bench-" });
  try {
    await using checkout = await openCheckout(repository, against, temporary);
    await printAgainst(
      { folder: repository, url: keptUrl },
      { folder: checkout.folder, url: againstUrl },
      { project: PROJECT, days: sizes[0]!.days, ...options },
    );
  } finally {
    await Deno.remove(temporary, { recursive: true });
  }
  Deno.exit(0);
}
if (keptUrl !== undefined || keptDataDir !== undefined) {
  const place = keptUrl === undefined ? { dataDir: keptDataDir! } : { url: keptUrl };
  print(await measureKept(place, options), readReportText);
  Deno.exit(0);
}
const configured = await startConfigured({
  ...SERVER_SETTINGS,
  ...(options.explain ? LOG_SETTINGS : {}),
});
let kept = false;
try {
  if (given.projection) {
    print(await measureBacklog(configured, repository, order), backlogText);
  } else {
    print(await measureAll(configured, sizes, options, given.keep), readReportText);
    kept = given.keep;
  }
} finally {
  if (!kept) await configured.cluster.remove();
}
if (kept) {
  const { pid, dataDir } = configured.cluster;
  console.error(`PostgreSQL runs on: process ${pid}, in ${dataDir}. To stop it: kill -INT ${pid}`);
  Deno.exit(0);
}

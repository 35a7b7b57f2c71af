/**
 * `deno task bench:fresh [--sizes=N,N] [--engines=embedded,postgres] [--seconds=N] [--slowest=N]
 * [--only=kpis,pages] [--fields=properties.x,channel] [--json]`
 *
 * What reads take on projects that were filled a moment ago, which the planner knows little or
 * nothing of: for each size a server of its own takes in the events of one project, is asked, takes
 * in those of a second one, and is asked again. Every report is asked with each filter field; the
 * pairs of fields go through the reports in turns. Prints the slowest reads; ends with 1 where one
 * took longer than a second or was refused. `--seconds` bounds the reads of each project.
 * PostgreSQL where it is installed. Autovacuum is off there: nobody else tells the planner anything.
 */
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SignJWT } from "jose";
import { createSchemaDatabase, startConfigured } from "./configured_cluster.ts";
import { FILTERS, freshEvents, PAIRS, READS } from "../tests/support/fresh_project.ts";
import { findPostgresBinaries } from "../tests/support/throwaway_postgres.ts";
import { machineLine } from "./process_figures.ts";
import { type ServerProcess, startServer } from "./server_process.ts";

const repository = fileURLToPath(new URL("..", import.meta.url));
const JWT_SECRET = "a secret of the benchmark, 32 bytes or more";
const BATCH_EVENTS = 500;
const READ_MS_MAX = 1_000;
const FOLD_SECONDS_MAX = 120;
/** A prime that no number of reads is a multiple of. */
const ORDER_STEP = 7_919;

interface Timed {
  readonly engine: string;
  readonly events: number;
  /** The first project of its server, or the second. */
  readonly nth: number;
  readonly read: string;
  readonly ms: number;
  readonly status: number;
}

interface Options {
  readonly secondsMax: number;
  readonly only: readonly string[] | null;
  readonly fields: readonly string[] | null;
}

class Client {
  constructor(readonly server: ServerProcess, readonly token: string) {}

  async send(method: string, path: string, body?: unknown, key?: string): Promise<Response> {
    return await fetch(`http://127.0.0.1:${this.server.port}/v1/${path}`, {
      method,
      headers: {
        "Content-Type": "application/json",
        ...key === undefined ? { Authorization: `Bearer ${this.token}` } : { "X-API-Key": key },
      },
      ...body === undefined ? {} : { body: JSON.stringify(body) },
    });
  }

  /** The reply's JSON. Throws where it is an error. */
  async get(method: string, path: string, body?: unknown, key?: string) {
    const reply = await this.send(method, path, body, key);
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return JSON.parse(text);
  }

  /** Resolves once all events are counted. */
  async projected(project: string, events: number): Promise<void> {
    const query = new URLSearchParams({ project, from: "2020-01-01", bots: "include" });
    for (let waited = 0; waited < FOLD_SECONDS_MAX; waited++) {
      const reply = await this.send("GET", `kpis?${query}`);
      const { totals } = await reply.json();
      if (totals?.events === events) return;
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    throw new Error("The events are not projected in time");
  }

  /** A new project with so many events, in batches as a busy client sends them. */
  async fill(events: number): Promise<string> {
    const project = await this.get("POST", "projects", {
      name: "Fresh",
      siteUrl: "https://shop.example",
    });
    const keys = `projects/${project.id}/keys`;
    const { key } = await this.get("POST", keys, { kind: "secret" });
    await this.get("PUT", `goals/buy?project=${project.id}`, {
      title: "Buy",
      match: { name: "buy", filters: [] },
      value: { property: "amount", currency: "EUR" },
    });
    const rows = freshEvents(events, Date.now());
    for (let at = 0; at < rows.length; at += BATCH_EVENTS) {
      await this.get("POST", "events", { events: rows.slice(at, at + BATCH_EVENTS) }, key);
    }
    return project.id;
  }
}

/** What is asked: each field of each report, then each pair of fields of the reports in turns. */
function queriesOf({ only, fields }: Options): (readonly [string, URLSearchParams])[] {
  const reads = READS.filter(([path]) => only === null || only.includes(path));
  const isMeant = (filters: readonly { field: string }[]) =>
    fields === null || filters.every(({ field }) => fields.includes(field));
  const pairs = PAIRS.filter(isMeant).map((filters, i) =>
    [reads[i % reads.length]!, filters] as const
  );
  const singles = [[], ...FILTERS.map((one) => [one])].filter(isMeant)
    .flatMap((filters) => reads.map((read) => [read, filters] as const));
  const all = [...singles, ...pairs].map(([[path, parameters], filters]) =>
    [path, new URLSearchParams({ ...parameters, filters: JSON.stringify(filters) })] as const
  );
  // In an order in which those that a bounded run comes to are of all kinds.
  return all.map((query, i) => ({ query, place: i * ORDER_STEP % all.length }))
    .sort((a, b) => a.place - b.place).map(({ query }) => query);
}

async function timeReads(
  client: Client,
  project: string,
  of: Pick<Timed, "engine" | "events" | "nth">,
  options: Options,
): Promise<Timed[]> {
  const timed: Timed[] = [];
  await client.projected(project, of.events);
  const endsAtMs = performance.now() + options.secondsMax * 1_000;
  for (const [path, query] of queriesOf(options)) {
    if (performance.now() > endsAtMs) break;
    query.set("project", project);
    const startedAt = performance.now();
    const reply = await client.send("GET", `${path}?${query}`);
    await reply.text();
    const ms = performance.now() - startedAt;
    query.delete("project");
    timed.push({
      ...of,
      read: `${path}?${decodeURIComponent(`${query}`)}`,
      ms,
      status: reply.status,
    });
  }
  return timed;
}

async function timeSize(
  engine: string,
  databaseUrl: string | null,
  events: number,
  options: Options,
): Promise<Timed[]> {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-bench-" });
  const server = await startServer(repository, databaseUrl, dataDir);
  try {
    const token = await new SignJWT({ projects: ["*"], scope: "read write admin" })
      .setProtectedHeader({ alg: "HS256" }).setSubject("bench").setIssuedAt()
      .setExpirationTime("2h").sign(new TextEncoder().encode(JWT_SECRET));
    const client = new Client(server, token);
    const timed: Timed[] = [];
    for (const nth of [1, 2]) {
      const project = await client.fill(events);
      const own = await timeReads(client, project, { engine, events, nth }, options);
      const slowest = own.toSorted((a, b) => b.ms - a.ms)[0];
      console.error(
        `${engine}, ${events} events, project ${nth}: ${own.length} reads, slowest ${
          Math.round(slowest?.ms ?? 0)
        } ms`,
      );
      timed.push(...own);
    }
    return timed;
  } finally {
    await server.stop();
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function timeEmbedded(sizes: readonly number[], options: Options): Promise<Timed[]> {
  const timed: Timed[] = [];
  for (const events of sizes) timed.push(...await timeSize("embedded", null, events, options));
  return timed;
}

async function timePostgres(sizes: readonly number[], options: Options): Promise<Timed[]> {
  const { cluster } = await startConfigured({ autovacuum: "off" });
  const timed: Timed[] = [];
  try {
    for (const events of sizes) {
      const database = await createSchemaDatabase(cluster);
      timed.push(...await timeSize("postgres", database.url, events, options));
      await database.drop();
    }
  } finally {
    await cluster.remove();
  }
  return timed;
}

/** As `postgres --version` tells it. */
async function installedVersion(): Promise<string> {
  const binaries = findPostgresBinaries();
  if (binaries === null) return "not installed";
  const { stdout } = await new Deno.Command(`${binaries}/postgres`, { args: ["--version"] })
    .output();
  return /[\d.]+/.exec(new TextDecoder().decode(stdout))?.[0] ?? "of unknown version";
}

function lineOf({ engine, events, nth, read, ms, status }: Timed): string {
  const told = status === 200 ? "" : ` ${status}`;
  return `${
    Math.round(ms).toString().padStart(6)
  } ms${told}  ${engine}, ${events} events, project ${nth}  ${read}`;
}

const { values: given } = parseArgs({
  args: Deno.args,
  options: {
    sizes: { type: "string", default: "1,10,200,2000,4000,20000" },
    engines: { type: "string", default: "embedded,postgres" },
    seconds: { type: "string", default: "120" },
    slowest: { type: "string", default: "20" },
    only: { type: "string" },
    fields: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const sizes = given.sizes.split(",").map(Number);
const options: Options = {
  secondsMax: Number(given.seconds),
  only: given.only?.split(",") ?? null,
  fields: given.fields?.split(",") ?? null,
};
Deno.env.set("JWT_SECRET", JWT_SECRET);
const timed = [
  ...given.engines.includes("embedded") ? await timeEmbedded(sizes, options) : [],
  ...given.engines.includes("postgres") && findPostgresBinaries() !== null
    ? await timePostgres(sizes, options)
    : [],
];
const slowest = timed.toSorted((a, b) => b.ms - a.ms).slice(0, Number(given.slowest));
const failed = timed.filter(({ ms, status }) => ms > READ_MS_MAX || status !== 200);
if (given.json) console.log(JSON.stringify({ reads: timed.length, slowest, failed }, null, 2));
else {
  console.log(machineLine(await installedVersion()));
  console.log(slowest.map(lineOf).join("\n"));
  console.log(`${timed.length} reads, ${failed.length} over ${READ_MS_MAX} ms or refused`);
}
if (failed.length > 0) Deno.exitCode = 1;

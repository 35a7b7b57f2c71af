/**
 * `deno task bench:moving [--events=N] [--engines=embedded,postgres] [--json]`
 *
 * What it takes to move a project out and in, beside live ingestion on the same engine: a server takes
 * typical events in from a load of its own, `footfall export` writes them to a file, and `footfall
 * import` stores that file in another project, each as an operator runs it. On
 * the embedded engine both work through the server; on PostgreSQL beside it. Prints events per second without the start,
 * processor time an event with what is counted of them, the largest memory of each command, and the
 * machine's load before each step: what else runs on the machine counts. PostgreSQL where it is
 * installed.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { findPostgresBinaries } from "../tests/support/throwaway_postgres.ts";
import { createSchemaDatabase, startConfigured } from "./configured_cluster.ts";
import {
  loadLastMinute,
  machineLine,
  peakMemoryBytes,
  processCpuSeconds,
  treeCpuSeconds,
} from "./process_figures.ts";
import { measureLoad, startServer } from "./server_process.ts";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const BATCH_EVENTS = 10;
const CONNECTIONS = 32;
const POLL_MS = 100;
const MEBIBYTE = 1024 * 1024;

interface Step {
  readonly engine: string;
  readonly step: string;
  readonly events: number;
  readonly seconds: number;
  /** Of them, those of the command's start, as that of one which asks for next to nothing takes. */
  readonly startSeconds: number;
  readonly load: number;
  readonly peakBytes: number | null;
  /** Processor seconds of server, database and command together: what the load does not change. */
  readonly cpuSeconds: number;
  /** Until all of them were counted; null: nothing is. */
  readonly allSeconds: number | null;
}

interface Place {
  readonly engine: string;
  readonly dataDir: string;
  readonly url: string | null;
  /** The postmaster; null: none. */
  readonly pid: number | null;
}

/** Runs a command to its end. @returns its JSON, how long it took and the most memory it had */
async function footfall({ dataDir, url }: Place, args: readonly string[]) {
  const startedAt = performance.now();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-P=serve", "--quiet", "main.ts", ...args, "--json"],
    cwd: REPOSITORY,
    env: { DATA_DIR: dataDir, DATABASE_URL: url ?? "", LOG_LEVEL: "error" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let peakBytes = 0;
  let cpuSeconds = 0;
  const timer = setInterval(() => {
    try {
      cpuSeconds = Math.max(cpuSeconds, processCpuSeconds(child.pid) || 0);
      peakBytes = Math.max(peakBytes, peakMemoryBytes(child.pid) || 0);
    } catch { /* it has ended */ }
  }, POLL_MS);
  const { stdout, success } = await child.output();
  clearInterval(timer);
  if (!success) throw new Error(`footfall ${args[0]} failed`);
  const seconds = (performance.now() - startedAt) / 1000;
  const reply = JSON.parse(new TextDecoder().decode(stdout));
  return { reply, seconds, peakBytes, cpuSeconds };
}

/** Waits until everything that was sent is counted. */
async function counted(port: number, token: string, project: string): Promise<void> {
  for (;;) {
    const reply = await fetch(`http://127.0.0.1:${port}/v1/kpis?project=${project}`, {
      headers: { "Authorization": `Bearer ${token}` },
    });
    const { pending } = await reply.json();
    if (pending === 0) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

async function measure(place: Place, events: number, tell: (step: Step) => void): Promise<void> {
  const { engine, dataDir, url, pid } = place;
  const server = await startServer(REPOSITORY, url, dataDir);
  try {
    const { token } = (await footfall(place, ["token", "--scope", "read"])).reply;
    const cpu = () => processCpuSeconds(server.pid) + (pid === null ? 0 : treeCpuSeconds(pid));
    let load = loadLastMinute();
    let before = cpu();
    const say = (
      step: string,
      events: number,
      { seconds, peakBytes, cpuSeconds, allSeconds = null }:
        & Pick<Step, "seconds" | "peakBytes" | "cpuSeconds">
        & Partial<Pick<Step, "allSeconds">>,
      startSeconds: number,
    ) => {
      const all = cpuSeconds + cpu() - before;
      tell({
        ...{ engine, step, events, seconds, startSeconds, load, peakBytes, allSeconds },
        cpuSeconds: all,
      });
      load = loadLastMinute();
      before = cpu();
    };
    const order = { connections: CONNECTIONS, batchEvents: BATCH_EVENTS };
    let startedAt = performance.now();
    const live = await measureLoad(server, pid, { ...order, requests: events / BATCH_EVENTS });
    await counted(server.port, token, "prj_default");
    let allSeconds = (performance.now() - startedAt) / 1000;
    const { seconds } = live;
    say(
      "live ingestion",
      live.accepted,
      { seconds, peakBytes: null, cpuSeconds: 0, allSeconds },
      0,
    );
    const start = async () => (await footfall(place, ["project", "list"])).seconds;
    const beforeExport = await start();
    before = cpu();
    const file = join(dataDir, "moved.ndjson");
    const out = await footfall(place, ["export", "--project", "prj_default", "--output", file]);
    say("export", out.reply.events, out, beforeExport);
    await footfall(place, ["project", "create", "--name", "Moved", "--id", "prj_moved"]);
    const beforeImport = await start();
    before = cpu();
    startedAt = performance.now();
    const into = await footfall(place, ["import", file, "--project", "prj_moved"]);
    await counted(server.port, token, "prj_moved");
    allSeconds = (performance.now() - startedAt) / 1000;
    say("import", into.reply.accepted, { ...into, allSeconds }, beforeImport);
    const { size } = await Deno.stat(file);
    console.error(`  ${Math.round(size / out.reply.events)} bytes of the file an event`);
  } finally {
    await server.stop();
  }
}

async function onEmbedded(events: number, tell: (step: Step) => void): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-moving-" });
  try {
    await measure({ engine: "embedded", dataDir, url: null, pid: null }, events, tell);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function onPostgres(events: number, tell: (step: Step) => void): Promise<void> {
  const { cluster } = await startConfigured({});
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-moving-" });
  try {
    const database = await createSchemaDatabase(cluster);
    const place = { engine: "postgres", dataDir, url: database.url, pid: cluster.pid };
    await measure(place, events, tell);
    await database.drop();
  } finally {
    await Deno.remove(dataDir, { recursive: true });
    await cluster.remove();
  }
}

const { values } = parseArgs({
  options: {
    events: { type: "string", default: "200000" },
    engines: { type: "string", default: "embedded,postgres" },
    json: { type: "boolean", default: false },
  },
});
const steps: Step[] = [];
const tell = (step: Step) => {
  steps.push(step);
  const { engine, step: name, events, seconds, startSeconds, load, peakBytes, cpuSeconds } = step;
  const { allSeconds } = step;
  const all = allSeconds === null
    ? ""
    : `, ${
      Math.round(events / (allSeconds - startSeconds)).toLocaleString("en")
    }/s until all are counted`;
  const cpu = Math.round(1e6 * cpuSeconds / events);
  const rate = Math.round(events / (seconds - startSeconds)).toLocaleString("en");
  const start = startSeconds === 0 ? "" : ` (${startSeconds.toFixed(1)} s to start)`;
  const memory = peakBytes === null ? "" : `, ${Math.round(peakBytes / MEBIBYTE)} MiB at most`;
  console.error(
    `${engine}, ${name}: ${events} events in ${seconds.toFixed(1)} s${start}, ${rate}/s, ` +
      `${cpu} µs of processors an event${memory}${all} (load before: ${load.toFixed(1)})`,
  );
};
console.error(machineLine(""));
for (const engine of values.engines.split(",")) {
  if (engine === "embedded") await onEmbedded(Number(values.events), tell);
  else if (findPostgresBinaries() !== null) await onPostgres(Number(values.events), tell);
}
if (values.json) console.log(JSON.stringify(steps, null, 2));

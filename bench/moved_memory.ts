/**
 * `deno task bench:moved-memory [--sizes 100000,300000,1000000] [--database URL]
 *   [--commands export,csv,parquet,archive,restore,import]`
 *
 * The most memory that each command has which moves a project out or in, and how fast it is, for
 * histories of several sizes on PostgreSQL: neither should depend on the size. The command works beside
 * no server: what it needs, its own process has. Behind the most, the most of each tenth of its time.
 * With `--database` the history is one that `bench:reads --keep` left: it is read, and nothing else.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createSchemaDatabase, openBench, startConfigured } from "./configured_cluster.ts";
import {
  loadLastMinute,
  machineLine,
  peakMemoryBytes,
  processCpuSeconds,
  residentMemoryBytes,
} from "./process_figures.ts";
import { mergeHistory, projectHistory, storeHistory } from "./read_history.ts";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const MEBIBYTE = 1024 * 1024;
const POLL_MS = 50;
const DAYS = 30;
const TENTHS = 10;

/** The most of each tenth of what was seen. */
function tenthsOf(seen: readonly number[]): number[] {
  return Array.from({ length: TENTHS }, (_, i) => {
    const from = Math.floor(seen.length * i / TENTHS);
    return Math.max(0, ...seen.slice(from, Math.floor(seen.length * (i + 1) / TENTHS)));
  });
}

/** Runs a command to its end, and prints what it took. */
async function measure(name: string, events: number, url: string, args: readonly string[]) {
  const dataDir = await Deno.makeTempDir({ prefix: "footfall-memory-" });
  const startedAt = performance.now();
  const load = loadLastMinute();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-P=serve", "--quiet", "main.ts", ...args, "--json"],
    cwd: REPOSITORY,
    env: { DATA_DIR: dataDir, DATABASE_URL: url, LOG_LEVEL: "error" },
    stdin: "null",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  let [peakBytes, cpuSeconds] = [0, 0];
  const seen: number[] = [];
  const timer = setInterval(() => {
    try {
      peakBytes = Math.max(peakBytes, peakMemoryBytes(child.pid) || 0);
      seen.push(residentMemoryBytes(child.pid) || 0);
      cpuSeconds = Math.max(cpuSeconds, processCpuSeconds(child.pid) || 0);
    } catch { /* it has ended */ }
  }, POLL_MS);
  const { success, stdout } = await child.output();
  clearInterval(timer);
  await Deno.remove(dataDir, { recursive: true });
  if (!success) throw new Error(`footfall ${name}: ${new TextDecoder().decode(stdout)}`);
  const seconds = (performance.now() - startedAt) / 1000;
  console.log(
    `${name.padEnd(8)} ${events.toLocaleString("en").padStart(9)} events: ` +
      `${Math.round(peakBytes / MEBIBYTE)} MiB at most, ${seconds.toFixed(1)} s, ` +
      `${Math.round(1e6 * cpuSeconds / events)} µs of its processor an event ` +
      `(load before: ${load.toFixed(1)}); ` +
      tenthsOf(seen).map((bytes) => Math.round(bytes / MEBIBYTE)).join(" "),
  );
}

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "100000,300000,1000000" },
    commands: { type: "string", default: "export,archive,restore,import" },
    database: { type: "string" },
  },
});
const wanted = new Set(values.commands.split(","));
const { cluster, version } = await startConfigured({});
const folder = await Deno.makeTempDir({ prefix: "footfall-memory-" });

/** Measures the commands that are wanted, out of a database of so many events and into another one. */
async function measureAll(url: string, project: string, events: number) {
  const target = await createSchemaDatabase(cluster);
  // What is not imported again need not be kept.
  const lines = wanted.has("import") ? join(folder, "all.ndjson") : "/dev/null";
  const archive = join(folder, "all.footfall");
  const run = (name: string, url: string, command: string, ...args: string[]) =>
    wanted.has(name) ? measure(name, events, url, [command, ...args]) : Promise.resolve();
  const out = ["--project", project, "--output"];
  await run("export", url, "export", ...out, lines);
  for (const format of ["csv", "parquet"]) {
    await run(format, url, "export", ...out, "/dev/null", "--format", format);
  }
  await run("archive", url, "archive", archive, "--project", project);
  await run("restore", target.url, "restore", archive);
  if (wanted.has("import")) {
    await target.sql.query("INSERT INTO projects (public_id, name) VALUES ('prj_two', 'Two')");
    await run("import", target.url, "import", lines, "--project", "prj_two");
  }
  await target.drop();
}

/** The project that a history was kept of, and how many events it has. */
async function keptProject(url: string): Promise<{ id: string; events: number }> {
  const sql = openBench(url);
  const [kept] = await sql.query<{ id: string; events: number }>(
    `SELECT p.public_id AS id, sum(s.events)::int AS events
    FROM projects p JOIN segments s USING (project_id)
    GROUP BY p.public_id ORDER BY events DESC LIMIT 1`,
  );
  await sql.close();
  return kept!;
}

try {
  console.log(machineLine(version));
  if (values.database !== undefined) {
    const { id, events } = await keptProject(values.database);
    await measureAll(values.database, id, events);
  } else {
    for (const size of values.sizes.split(",").map(Number)) {
      const source = await createSchemaDatabase(cluster);
      await source.sql.query("INSERT INTO projects (public_id, name) VALUES ('prj_one', 'One')");
      const [project] = await source.sql.query<{ id: number }>(
        "SELECT project_id AS id FROM projects",
      );
      const history = { events: size, days: DAYS, endMs: Date.now(), projectId: project!.id };
      const { events } = await storeHistory(source.sql, history);
      await projectHistory(source.sql, project!.id);
      await mergeHistory(source.sql, project!.id, events);
      await measureAll(source.url, "prj_one", events);
      await source.drop();
    }
  }
} finally {
  await cluster.remove();
  await Deno.remove(folder, { recursive: true });
}

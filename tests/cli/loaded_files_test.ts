import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier?: string };
    readonly isDynamic?: boolean;
  }[];
}

/** Returns the files of src/ that loading `path` loads, those of dynamic imports apart. */
async function loadedWith(path: string): Promise<string[]> {
  const root = new URL("../../", import.meta.url);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", path],
    cwd: fileURLToPath(root),
  }).output();
  const { modules }: { modules: Module[] } = JSON.parse(new TextDecoder().decode(stdout));
  const known = new Map(modules.map((module) => [module.specifier, module]));
  const loaded = new Set<string>();
  const load = (specifier: string): void => {
    const module = known.get(specifier);
    if (module === undefined || loaded.has(specifier)) return;
    loaded.add(specifier);
    for (const { code, isDynamic } of module.dependencies ?? []) {
      if (code?.specifier !== undefined && isDynamic !== true) load(code.specifier);
    }
  };
  load(new URL(path, root).href);
  const sources = `${root.href}src/`;
  return [...loaded].filter((specifier) => specifier.startsWith(sources))
    .map((specifier) => specifier.slice(root.href.length));
}

Deno.test("footfall serve: the engine's thread starts before anything else of the program is loaded", async () => {
  const loaded = await loadedWith("main.ts");
  assert.deepEqual(loaded.sort(), [
    "src/cli/early_start.ts",
    "src/config/config_variables.ts",
    "src/config/environment.ts",
    "src/db/engine_worker.ts",
    "src/http/descriptors.ts",
  ]);
});

Deno.test("footfall: which command is meant is known before any command is loaded", async () => {
  const loaded = await loadedWith("src/cli/program.ts");
  assert.ok(loaded.includes("src/cli/commands.ts"));
  assert.deepEqual(loaded.filter((path) => /^src\/(db|server|archive|demo)\//.test(path)), []);
  for (const name of ["serve", "connection", "archive", "seed", "import", "failure"]) {
    assert.ok(!loaded.includes(`src/cli/${name}.ts`), name);
  }
});

Deno.test("footfall serve: the engine is started by few files, the rest is loaded meanwhile", async () => {
  const loaded = await loadedWith("src/cli/serve.ts");
  assert.ok(loaded.includes("src/db/engine_thread.ts"));
  const parts = new Set(loaded.map((path) => path.split("/")[1]));
  assert.deepEqual(
    [...parts].sort(),
    ["cli", "db", "http", "limits.ts", "problem.ts", "start_mistake.ts"],
  );
});

Deno.test("footfall: telling why a command failed loads no statements and no schemas of replies", async () => {
  const loaded = await loadedWith("src/cli/failure.ts");
  assert.ok(loaded.includes("src/archive/target_refused.ts"));
  const heavy = /^src\/archive\/(move_target|restored_rows)|_endpoints?\.ts$/;
  assert.deepEqual(loaded.filter((path) => heavy.test(path)), []);
});

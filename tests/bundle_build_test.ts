import assert from "node:assert/strict";
import { fileURLToPath, pathToFileURL } from "node:url";
import { programSources, sourcesOf } from "../src/bundle_build.ts";
import { lookOfSources } from "../src/bundles.ts";

Deno.test("bundles: files that the dashboard shares with the server are among its sources", () => {
  const source = new URL("../src/", import.meta.url);
  const files = sourcesOf(new URL("dashboard/", source))
    .map(({ href }) => href.slice(source.href.length));
  for (const file of ["dashboard/api.ts", "event_file/csv.ts", "json_text.ts"]) {
    assert.ok(files.includes(file), file);
  }
  assert.ok(!files.includes("query/filters.ts"), "of which it has types alone");
});

Deno.test("bundles: every file that the program imports is among its sources", async () => {
  const root = new URL("../", import.meta.url);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "main.ts"],
    cwd: fileURLToPath(root),
  }).output();
  const { modules }: { modules: { specifier: string; error?: string }[] } = JSON.parse(
    new TextDecoder().decode(stdout),
  );
  const own = modules.map(({ specifier }) => specifier)
    .filter((specifier) => specifier.startsWith(root.href));
  assert.ok(own.length > 500, `${own.length}`);
  const known = new Set(programSources().map(({ href }) => href));
  assert.deepEqual(own.filter((file) => !known.has(file)), []);
});

Deno.test("bundles: sources look different once one has changed, is new or is gone", async () => {
  const folder = await Deno.makeTempDir({ prefix: "footfall-sources-" });
  const root = pathToFileURL(`${folder}/`);
  try {
    await Deno.mkdir(new URL("migrations", root));
    await Deno.mkdir(new URL("src/db", root), { recursive: true });
    for (const name of ["deno.json", "deno.lock", "main.ts", "src/db/sql.ts"]) {
      await Deno.writeTextFile(new URL(name, root), "1");
    }
    const looks = [await lookOfSources(root)];
    assert.equal(await lookOfSources(root), looks[0]);
    await Deno.writeTextFile(new URL("src/db/sql.ts", root), "12");
    looks.push(await lookOfSources(root));
    await Deno.utime(new URL("src/db/sql.ts", root), 1, 1);
    looks.push(await lookOfSources(root));
    await Deno.writeTextFile(new URL("migrations/0001_first.sql", root), "");
    looks.push(await lookOfSources(root));
    await Deno.remove(new URL("src/db/sql.ts", root));
    looks.push(await lookOfSources(root));
    assert.equal(new Set(looks).size, looks.length);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { programSources, sourcesOf } from "../src/bundle_build.ts";

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

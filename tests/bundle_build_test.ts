import assert from "node:assert/strict";
import { sourcesOf } from "../src/bundle_build.ts";

Deno.test("bundles: files that the dashboard shares with the server are among its sources", () => {
  const source = new URL("../src/", import.meta.url);
  const files = sourcesOf(new URL("dashboard/", source))
    .map(({ href }) => href.slice(source.href.length));
  for (const file of ["dashboard/api.ts", "event_file/csv.ts", "json_text.ts"]) {
    assert.ok(files.includes(file), file);
  }
  assert.ok(!files.includes("query/filters.ts"), "of which it has types alone");
});

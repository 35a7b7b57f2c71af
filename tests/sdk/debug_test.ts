import assert from "node:assert/strict";
import { createAnalytics } from "../../src/sdk/analytics.ts";
import type { AnalyticsOptions } from "../../src/sdk/sdk.d.ts";

/** What the console is told while the client of these options identifies somebody. */
function told(options: AnalyticsOptions): string[] {
  const lines: string[] = [];
  const { info } = console;
  console.info = (...parts: unknown[]) => void lines.push(parts.map(String).join(" "));
  try {
    createAnalytics(options).identify("u");
  } finally {
    console.info = info;
  }
  return lines;
}

Deno.test("identify() says what it does where debug is on, and nothing otherwise", () => {
  const endpoint = "http://localhost:9";
  assert.deepEqual(told({ debug: true }), ["[footfall] identify u"]);
  assert.deepEqual(told({ apiKey: "pk_debug", endpoint, debug: true }), [
    "[footfall] identify u",
  ]);
  assert.deepEqual(told({}), []);
  assert.deepEqual(told({ apiKey: "pk_silent", endpoint }), []);
});

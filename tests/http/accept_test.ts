import assert from "node:assert/strict";
import { prefersToJson } from "../../src/http/accept.ts";

const NDJSON = "application/x-ndjson";

Deno.test("prefersToJson: the type by its name, whose quality is above 0 and no lower than JSON's", () => {
  const cases: [string, boolean][] = [
    ["application/x-ndjson", true],
    ["Application/X-NDJSON ; charset=utf-8", true],
    ["text/html, application/x-ndjson;q=0.1", true],
    ["application/json, application/x-ndjson", true],
    ["application/x-ndjson; Q=0.9, application/json;q=0.8", true],
    ["application/json, application/x-ndjson;q=0.5", false],
    ["application/x-ndjson;q=0", false],
    ["application/x-ndjson;q=0.000, */*", false],
    ["application/x-ndjson;q=high", false],
    ["application/x-ndjson-not", false],
    ["*/*", false],
    ["application/*", false],
    ["", false],
  ];
  for (const [accept, expected] of cases) {
    const request = new Request("http://localhost/", { headers: { Accept: accept } });
    assert.equal(prefersToJson(request, NDJSON), expected, accept);
  }
});

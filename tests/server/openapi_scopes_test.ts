import assert from "node:assert/strict";
import { sharedApp } from "../support/app.ts";

const server = sharedApp();

/** They need more than a scope: a token for every project. */
const EVERY_PROJECT = new Set(["/v1/projects", "/v1/internal/tokens"]);

interface Operation {
  readonly description?: string;
  readonly parameters: { name: string }[];
}

Deno.test("OpenAPI: the scope that an operation names opens it", async () => {
  const { body } = await server.fetch("/v1/openapi.json");
  const paths = Object.entries(body.paths as Record<string, Record<string, Operation>>);
  const { id } = await server.project({ name: "Scopes" });
  let opened = 0;
  for (
    const [path, method, { description = "", parameters }] of paths.flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, it]) => [path, method, it] as const)
    )
  ) {
    const scope = /Needs a token with scope `(\w+)`/.exec(description)?.[1];
    // The routes for `people` need every scope beside it.
    if (scope === undefined || scope === "people" || EVERY_PROJECT.has(path)) continue;
    const query = parameters.some(({ name }) => name === "project") ? `?project=${id}` : "";
    const address = path.replace("/projects/{id}", `/projects/${id}`).replace(/\{\w+\}/g, "x");
    const headers = { Authorization: `Bearer ${await server.token([id], scope)}` };
    const init = { method: method.toUpperCase(), headers };
    const reply = await server.fetch(`${address}${query}`, init);
    assert.notEqual(reply.status, 403, `${method} ${path} ${scope}`);
    opened++;
  }
  assert.ok(opened > 60, String(opened));
});

import assert from "node:assert/strict";
import { assertProblem, newEvent, sharedApp, type TestProject } from "../../support/app.ts";

const server = sharedApp();

async function shop(): Promise<TestProject> {
  const project = await server.project();
  const { status } = await server.post(project, [
    newEvent({ name: "page_view", path: "/a", anonymousId: "a1", properties: { plan: "pro" } }),
    newEvent({ name: "page_view", path: "/b", anonymousId: "a1" }),
    newEvent({ name: "signup", path: "/b", userId: "ann", anonymousId: "a1" }),
    newEvent({ name: "click", path: "/c", anonymousId: "a2", properties: { x: 0.5, rage: true } }),
  ]);
  assert.equal(status, 200);
  return project;
}

const search = (field: string, op: string, values: unknown[] = []) => ({
  filters: JSON.stringify([{ field, op, values }]),
});

Deno.test("stored events: filters narrow them, what was just sent included", async () => {
  const project = await shop();
  const names = async (query: Record<string, string>) => {
    const { status, body } = await server.read(project, query);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual(body.query.filters, JSON.parse(query.filters!));
    return body.events.map(({ name, path }: { name: string; path: string }) => name + path).sort();
  };
  assert.deepEqual(await names({ ...search("path", "is", ["/b"]) }), ["page_view/b", "signup/b"]);
  assert.deepEqual(await names(search("userId", "is", ["ann"])), [
    "page_view/a",
    "page_view/b",
    "signup/b",
  ]);
  assert.deepEqual(await names(search("properties.plan", "exists")), ["page_view/a"]);
  assert.deepEqual(await names(search("properties.x", "gt", [0.4])), ["click/c"]);
  assert.deepEqual(await names(search("entryPath", "is", ["/a", "/b"])), [
    "page_view/a",
    "page_view/b",
    "signup/b",
  ]);
  assert.deepEqual(await names(search("name", "is_not", ["click", "page_view"])), ["signup/b"]);
  assert.deepEqual(await names(search("name", "is", ["no such"])), []);
});

Deno.test("stored events: pages and exports of a filtered list hold each event once", async () => {
  const project = await shop();
  const query = search("path", "matches", ["^/[ab]$"]);
  const found: string[] = [];
  for (let cursor = "";;) {
    const { body } = await server.read(project, { ...query, limit: "1", cursor });
    found.push(...body.events.map(({ eventId }: { eventId: string }) => eventId));
    cursor = body.nextCursor ?? "";
    if (cursor === "") break;
  }
  assert.equal(found.length, 3);
  assert.equal(new Set(found).size, 3);
  const { body } = await server.read(project, query, { Accept: "application/x-ndjson" });
  const lines = body.trim().split("\n").map((line: string) => JSON.parse(line).eventId);
  assert.deepEqual(lines, found);
});

Deno.test("stored events: a filtered tail shows what came since, once", async () => {
  const project = await shop();
  const query = search("name", "is", ["signup"]);
  const first = await server.read(project, query);
  assert.equal(first.body.events.length, 1);
  let after = first.body.tailCursor;
  for (let round = 0; round < 3; round++) {
    await server.post(project, [newEvent({ name: "signup" }), newEvent({ name: "other" })]);
    const { body } = await server.read(project, { ...query, after });
    assert.deepEqual(body.events.map(({ name }: { name: string }) => name), ["signup"]);
    after = body.tailCursor;
  }
  assert.deepEqual((await server.read(project, { ...query, after })).body.events, []);
});

Deno.test("stored events: every bad parameter is named at once", async () => {
  const project = await server.project();
  const reply = await server.read(project, { filters: "x", bots: "some", limit: "0", colour: "1" });
  assertProblem(reply, 400, "invalid_parameter");
  assert.deepEqual(
    reply.body.errors.map(({ field }: { field: string }) => field).sort(),
    ["bots", "colour", "filters", "limit"],
  );
});

import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import { Problem } from "../../../src/problem.ts";
import { readDefinition } from "../../../src/reports/funnels/funnel_definition.ts";
import { windowMs } from "../../../src/query/window.ts";
import { FUNNELS, SAVED_FUNNEL } from "../../../src/reports/funnels/funnels.ts";
import { deleteFunnel, putFunnel } from "../../../src/reports/funnels/saved_funnels.ts";
import { worldOf } from "../../fixtures/read_case.ts";
import { FUNNEL_CASES } from "../../fixtures/funnel_cases.ts";
import { onBothEngines } from "../../support/databases.ts";
import { openWithProjects } from "../../support/event_rows.ts";
import { answerOf, queryOf, storeWorld } from "./funnel_world.ts";

function put(database: Database, projectId: number, slug: string, body: unknown, headers = {}) {
  const request = new Request("http://localhost/", {
    method: "PUT",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return putFunnel({ sql: database }, { projectId }, { request, params: { slug } });
}

function remove(database: Database, projectId: number, slug: string) {
  const request = new Request("http://localhost/", { method: "DELETE" });
  return deleteFunnel({ sql: database }, { projectId }, { request, params: { slug } });
}

async function refusal(work: () => unknown): Promise<{ code: string; fields: unknown[] }> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return { code: error.code, fields: (error.options.errors ?? []).map(({ field }) => field) };
  }
  throw new Error("it was not refused");
}

const SIGNUP = {
  title: "Sign-up",
  steps: ["view", { name: "buy", label: "Bought" }],
  window: "1h",
};

onBothEngines("saved funnels: kept, listed, run, replaced, deleted", async (t, db) => {
  const database = await openWithProjects(db);
  const world = worldOf(
    FUNNEL_CASES.find(({ name }) => name.endsWith("deepest attempt counts, and gives the times"))!,
  );
  const projectId = await storeWorld(database, world);
  const list = async (ofProject: number) =>
    (await answerOf(FUNNELS, database, ofProject, queryOf({}), world)).funnels as {
      slug: string;
      updatedAt: string;
    }[];

  await t.step("none at first", async () => assert.deepEqual(await list(projectId), []));
  await t.step("a new one is 201 and shown with its defaults", async () => {
    const reply = await put(database, projectId, "sign-up", SIGNUP);
    assert.equal(reply.status, 201);
    const { updatedAt, ...funnel } = await reply.json();
    assert.equal(new Date(updatedAt).toISOString(), updatedAt);
    assert.deepEqual(funnel, {
      slug: "sign-up",
      title: "Sign-up",
      steps: [{ name: "view", filters: [] }, { name: "buy", filters: [], label: "Bought" }],
      window: "1h",
      order: "ordered",
      entry: "any",
      exclude: [],
      by: null,
    });
  });
  await t.step("it is listed only in its project", async () => {
    await put(database, projectId, "a", { title: "A", steps: ["cart"], by: "country" });
    assert.deepEqual((await list(projectId)).map(({ slug }) => slug), ["a", "sign-up"]);
    assert.deepEqual(await list(2), []);
  });
  await t.step("it runs as its definition does", async () => {
    const range = { from: "2026-03-02", to: "2026-03-02" };
    const { title, slug, ...saved } = await answerOf(
      SAVED_FUNNEL,
      database,
      projectId,
      queryOf(range),
      { ...world, slug: "sign-up" },
    );
    const { title: _, ...definition } = SIGNUP;
    const asked = queryOf({ ...range, ...definition });
    assert.deepEqual({ title, slug }, { title: "Sign-up", slug: "sign-up" });
    assert.deepEqual(saved, await answerOf(FUNNELS, database, projectId, asked, world));
    assert.deepEqual([saved.entered, saved.converted], [1, 1]);
  });
  await t.step("putting it again replaces it: 200", async () => {
    const reply = await put(database, projectId, "sign-up", { ...SIGNUP, order: "strict" });
    assert.equal(reply.status, 200);
    assert.equal((await reply.json()).order, "strict");
    assert.equal((await list(projectId)).length, 2);
  });
  await t.step(
    "one that is to be new replaces none, of those who make it at once either",
    async () => {
      const isNew = { "If-None-Match": "*" };
      const other = { ...SIGNUP, title: "Another" };
      const taken = { code: "already_exists", fields: [] };
      const made = () => put(database, projectId, "sign-up", other, isNew);
      assert.deepEqual(await refusal(made), taken);
      const known = (await list(projectId)).map(({ slug }) => slug);
      assert.deepEqual(known, ["a", "sign-up"]);
      const both = await Promise.allSettled(
        [SIGNUP, other].map((body) => put(database, projectId, "both", body, isNew)),
      );
      assert.deepEqual(both.map(({ status }) => status).toSorted(), ["fulfilled", "rejected"]);
      assert.equal((await remove(database, projectId, "both")).status, 204);
    },
  );
  await t.step("what is wrong in a body is named", async () => {
    const wrong = { title: " ", steps: [], window: "7w", order: "any", by: "colour", more: 1 };
    const { code, fields } = await refusal(() => put(database, projectId, "b", wrong));
    assert.equal(code, "invalid_body");
    assert.deepEqual(fields.toSorted(), ["by", "more", "order", "steps", "title", "window"]);
    // A person has several: a filter takes it, a breakdown does not.
    const byPerson = { title: "B", steps: ["cart"], by: "anonymousId" };
    assert.deepEqual((await refusal(() => put(database, projectId, "b", byPerson))).fields, ["by"]);
    const slug = await refusal(() => put(database, projectId, "-b", SIGNUP));
    assert.deepEqual(slug, { code: "invalid_parameter", fields: ["slug"] });
  });
  await t.step("a project keeps at most 200", async () => {
    await database.query(
      `INSERT INTO saved_funnels (project_id, slug, title, definition)
      SELECT $1::int, 'f' || i, 'F', '{}' FROM generate_series(1, 198) AS i`,
      [projectId],
    );
    const tooMany = await refusal(() => put(database, projectId, "one-more", SIGNUP));
    assert.equal(tooMany.code, "conflict");
    assert.equal((await put(database, projectId, "sign-up", SIGNUP)).status, 200);
    assert.equal((await put(database, 2, "one-more", SIGNUP)).status, 201);
  });
  await t.step("a deleted one is gone, and one that never existed is not found", async () => {
    assert.equal((await remove(database, projectId, "sign-up")).status, 204);
    const notFound = { code: "not_found", fields: [] };
    assert.deepEqual(await refusal(() => remove(database, projectId, "sign-up")), notFound);
    assert.deepEqual(await refusal(() => remove(database, projectId, "\0")), notFound);
    const run = () =>
      answerOf(SAVED_FUNNEL, database, projectId, queryOf({}), { ...world, slug: "sign-up" });
    assert.deepEqual(await refusal(run), notFound);
  });
});

const STEPS = '["view"]';

Deno.test("funnel definition: each parameter that is wrong is named", async (t) => {
  const cases: [Record<string, string>, string[]][] = [
    [{ steps: "[]" }, ["steps"]],
    [{ steps: JSON.stringify(Array(11).fill("view")) }, ["steps"]],
    [{ steps: "view" }, ["steps"]],
    [{ steps: '[{"name":"view","filter":[]}]' }, ["steps"]],
    [{ steps: STEPS, window: "0d" }, ["window"]],
    [{ steps: STEPS, window: "1.5h" }, ["window"]],
    [{ steps: STEPS, window: "367d" }, ["window"]],
    [{ steps: STEPS, window: "7D" }, ["window"]],
    [{ steps: STEPS, order: "any" }, ["order"]],
    [{ steps: STEPS, entry: "last" }, ["entry"]],
    [{ steps: STEPS, exclude: '["a", 1]' }, ["exclude"]],
    [{ steps: STEPS, by: "colour" }, ["by"]],
    [{ steps: "[", window: "x", order: "y" }, ["steps", "window", "order"]],
    [{ window: "1d" }, ["window"]],
    [{ by: "country" }, ["by"]],
  ];
  for (const [parameters, fields] of cases) {
    await t.step(JSON.stringify(parameters).slice(0, 60), async () => {
      const found = await refusal(() => readDefinition(queryOf(parameters)));
      assert.deepEqual(found, { code: "invalid_parameter", fields });
    });
  }
});

Deno.test("funnel definition: defaults and units", () => {
  assert.equal(readDefinition(queryOf({})), null);
  assert.deepEqual(readDefinition(queryOf({ steps: STEPS })), {
    steps: [{ name: "view", filters: [] }],
    window: "7d",
    order: "ordered",
    entry: "any",
    exclude: [],
    by: null,
  });
  const windows = { "30s": 30_000, "5m": 300_000, "24h": 86_400_000, "366d": 31_622_400_000 };
  for (const [window, ms] of Object.entries(windows)) assert.equal(windowMs(window), ms);
});

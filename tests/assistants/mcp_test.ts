/** Asked from an assistant: the protocol, every read as a tool, and who may ask. */
import assert from "node:assert/strict";
import { ENDPOINTS, FIRST_EVENT, SAVED } from "../reads/endpoints.ts";
import { assertProblem, type Json, newEvent, type TestProject } from "../support/app.ts";
import { onFreshEngines } from "../support/databases.ts";
import { makeDataDir } from "../support/embedded_template.ts";
import { operatorToken, startServer } from "../support/server_process.ts";
import { call, callMessage, McpServer, message, toolsOf } from "./mcp_server.ts";

/** Reads that are none: what lets somebody in, and pictures. */
const NO_TOOLS = ["/v1/tokens", "/v1/heatmaps/captures/{id}"];

const toolNameOf = (documented: string) =>
  documented === "/v1/session"
    ? "projects"
    : documented.slice(4).replaceAll(/\/\{(\w+)\}/g, "_by_$1").replaceAll(/[^A-Za-z0-9]+/g, "_");

async function filled({ app }: McpServer): Promise<TestProject> {
  const project = await app.project({ name: "Shop" });
  const query = `?project=${project.id}`;
  const steps = ["page_view", "buy"];
  await app.admin("PUT", `/v1/funnels/${SAVED}${query}`, { title: "Way", steps });
  await app.admin("PUT", `/v1/goals/${SAVED}${query}`, { title: "Buy", match: { name: "buy" } });
  const url = "https://shop.example/a?utm_source=news";
  const timestamp = Date.parse(FIRST_EVENT.timestamp) + 1_000;
  const events = [
    newEvent({ ...FIRST_EVENT, name: "page_view", url }),
    newEvent({ name: "buy", url, anonymousId: FIRST_EVENT.anonymousId, timestamp }),
  ];
  const { body } = await app.post(project, [...events, newEvent({ name: "page_view", url })]);
  assert.equal(body.accepted, 3);
  // Reads wait for what is pending.
  await app.admin("GET", `/v1/kpis${query}`);
  return project;
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly parameters: { name: string }[];
  readonly responses: Record<string, { content?: Record<string, unknown> }>;
}

/** The reads of numbers as the OpenAPI document tells them. */
async function documentedReads({ app }: McpServer): Promise<[string, Operation][]> {
  const { body } = await app.fetch("/v1/openapi.json");
  const paths = Object.entries(body.paths as Record<string, { get?: Operation }>);
  return paths.flatMap(([path, { get }]): [string, Operation][] => {
    const isRead = /scope `(?:read|aggregates)`/.test(get?.description ?? "");
    const isAsked = isRead || path === "/v1/session";
    return get !== undefined && isAsked && !NO_TOOLS.includes(path) ? [[path, get]] : [];
  });
}

onFreshEngines(
  "assistants: every read of the OpenAPI document is a tool, and answers",
  async (t, db) => {
    const server = await new McpServer({ ...db.env }).start();
    try {
      const project = await filled(server);
      const token = await server.app.token([project.id], "read");
      const reads = await documentedReads(server);
      await server.withClient(token, async (client) => {
        await t.step("it says what it is and how to ask", () => {
          assert.equal(client.getServerVersion()?.name, "footfall");
          assert.match(client.getInstructions() ?? "", /projects.*never instructions/s);
          assert.deepEqual(client.getServerCapabilities(), { tools: {} });
        });
        const tools = await toolsOf(client);
        await t.step(
          "the tools are the reads of the document, with their words and parameters",
          () => {
            assert.deepEqual(
              new Set(tools.map(({ name }) => name)),
              new Set(reads.map(([path]) => toolNameOf(path))),
            );
            for (const [path, { summary, parameters }] of reads) {
              const tool = tools.find(({ name }) => name === toolNameOf(path))!;
              assert.ok(tool.description?.startsWith(summary), path);
              assert.match(tool.description, /data, never instructions/);
              const { properties = {}, required } = tool.inputSchema;
              assert.deepEqual(Object.keys(properties), parameters.map(({ name }) => name), path);
              assert.deepEqual(required, [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
              assert.equal(tool.annotations?.readOnlyHint, true);
              assert.equal(tool.annotations?.destructiveHint, false);
            }
          },
        );
        await t.step("every report of the table is among them, with its definition", () => {
          for (const { documented, parameters, report } of ENDPOINTS) {
            const tool = tools.find(({ name }) => name === toolNameOf(documented));
            assert.ok(tool, documented);
            if (report !== undefined) assert.ok(tool.description?.includes(report.semantics));
            const known = Object.keys(tool.inputSchema.properties ?? {});
            for (const name of parameters) assert.ok(known.includes(name), `${documented} ${name}`);
          }
        });
        await t.step("each answers as over HTTP", async () => {
          for (const [path] of reads) {
            const report = ENDPOINTS.find(({ documented }) => documented === path);
            // Reads of one thing need its name.
            if (report === undefined && path.includes("{")) continue;
            const given = path === "/v1/session" || path === "/v1/overview"
              ? {}
              : { project: project.id, ...report?.required };
            const told = await call(client, toolNameOf(path), { ...given, ...report?.named });
            assert.equal(told.code, undefined, `${path}: ${told.detail}`);
            const query = new URLSearchParams(given as Record<string, string>);
            const { body } = await server.app.admin(
              "GET",
              `${report?.path ?? path}?${query}`,
            );
            const { query: resolved = {}, asOf: _, pending: __, tailCursor: ___, ...result } = body;
            const { tailCursor: ____, ...shown } = told.result;
            // What happens now may change from one call to the next.
            const isSteady = report !== undefined && path !== "/v1/live";
            if (isSteady) assert.deepEqual(shown, result, path);
            if (resolved.semantics === undefined) continue;
            assert.equal(told.definitions, resolved.semantics, path);
            assert.deepEqual(told.warnings, resolved.warnings, path);
            assert.match(told.asOf, /Z$/);
            assert.match(told.note, /never an instruction/);
          }
        });
        await t.step("rates come with what they are made of, and a link to the same", async () => {
          const { result, link } = await call(client, "kpis", {
            project: project.id,
            filters: [{ field: "name", op: "is", values: ["buy", "page_view"] }],
            compare: "previous",
          });
          assert.deepEqual(result.totals.bounceRate, { value: 0.5, numerator: 1, denominator: 2 });
          assert.ok("bounceRatePoints" in result.change, "rates change in points");
          const { origin, searchParams } = new URL(link);
          assert.equal(origin, server.url);
          assert.equal(searchParams.get("view"), "overview");
          assert.equal(searchParams.get("project"), project.id);
          assert.equal(searchParams.get("compare"), "previous");
          assert.match(searchParams.get("from") ?? "", /^\d{4}-\d\d-\d\d$/);
          assert.deepEqual(JSON.parse(searchParams.get("filters")!)[0].values, [
            "buy",
            "page_view",
          ]);
        });
        await t.step(
          "it says how to ask whom a number counts, and a link leads to them",
          async () => {
            const some = { project: project.id };
            const { behind, result } = await call(client, "kpis", some);
            const [, of] = /`of`: (\{"read":"kpis"), its own parameters, "place"/.exec(behind)!;
            const asked = JSON.parse(`${of},"place":{"count":"newVisitors"}}`);
            const { result: listed, link } = await call(client, "actors", { ...some, of: asked });
            assert.equal(listed.total, result.totals.newVisitors);
            const { searchParams } = new URL(link);
            assert.equal(searchParams.get("view"), "people");
            assert.deepEqual(JSON.parse(searchParams.get("of")!), asked);
            assert.match((await call(client, "vitals", some)).behind, /name is \$web_vitals/);
            assert.equal((await call(client, "notes", some)).behind, undefined);
          },
        );
        await t.step("a parameter may be its JSON too, and null is none", async () => {
          const steps = [{ name: "page_view" }, { name: "buy" }];
          const some = { project: project.id, interval: null };
          const asList = await call(client, "funnels", { ...some, steps });
          const asText = await call(client, "funnels", { ...some, steps: JSON.stringify(steps) });
          assert.deepEqual(asList.result, asText.result);
          assert.deepEqual([asList.result.entered, asList.result.converted], [2, 1]);
        });
        await t.step("the projects are those of the token", async () => {
          const { result } = await call(client, "projects");
          assert.deepEqual(result.projects.map(({ id }: Json) => id), [project.id]);
        });
      });
    } finally {
      await server.stop();
    }
  },
);

onFreshEngines("assistants: a refused caller learns why by the status", async (t, db) => {
  const server = await new McpServer({ ...db.env, PUBLIC_URL: "https://stats.example.com" })
    .start();
  try {
    const { app } = server;
    const own = await filled(server);
    const other = await app.project({ name: "Other" });
    const token = await app.token([own.id], "read");
    const ping = message("ping");
    await t.step(
      "without a token, with none of ours, and with one that has ended: 401",
      async () => {
        const none = await server.send(null, ping);
        assertProblem(none, 401, "missing_token");
        assert.equal(none.headers.get("www-authenticate"), 'Bearer realm="footfall"');
        const bad = await server.send("a.b.c", ping);
        assertProblem(bad, 401, "invalid_token");
        assert.match(bad.headers.get("www-authenticate") ?? "", /error="invalid_token"/);
        const wanted = {
          name: "Assistant",
          scope: "read",
          projects: [own.id],
          expiresAt: new Date(Date.now() + 600_000).toISOString(),
        };
        const { body: listed } = await app.admin("POST", "/v1/tokens", wanted);
        assert.equal((await server.send(listed.token, ping)).status, 200);
        await app.admin("DELETE", `/v1/tokens/${listed.id}`);
        await until(async () => (await server.send(listed.token, ping)).status === 401);
      },
    );
    await t.step("with another scope, or by a share: 403", async () => {
      const writer = await app.token([own.id], "write admin");
      const refused = await server.send(writer, ping);
      assertProblem(refused, 403, "insufficient_scope");
      assert.match(refused.headers.get("www-authenticate") ?? "", /scope="read"/);
      const share = await app.admin("POST", `/v1/projects/${own.id}/shares`, { title: "Board" });
      const { body } = await app.fetch(`/v1/shares/${share.body.id}/token`, { method: "POST" });
      assertProblem(await server.send(body.token, ping), 403, "insufficient_scope");
    });
    await t.step("a project of others is refused in the call's answer", async () => {
      const { body } = await server.send(token, callMessage("kpis", { project: other.id }));
      assert.equal(body.result.isError, true);
      assert.equal(body.result.structuredContent.code, "insufficient_scope");
      assert.equal("result" in body.result.structuredContent, false);
    });
    await t.step("by another site's page: 403, whatever the host is called", async () => {
      const { port } = new URL(server.url);
      for (
        const origin of ["https://evil.example", "null", `http://evil.example:${port}`]
          .concat(["https://stats.example.com.evil.example", "http://localhost.evil.example"])
      ) {
        const headers = { Origin: origin, Host: `evil.example:${port}` };
        assertProblem(await server.send(token, ping, headers), 403, "foreign_origin");
      }
      for (
        const origin of ["https://stats.example.com", "http://localhost:6274", "http://[::1]:1"]
      ) {
        assert.equal((await server.send(token, ping, { Origin: origin })).status, 200, origin);
      }
    });
    await t.step("other methods are 405", async () => {
      for (const method of ["GET", "DELETE", "PUT"]) {
        const reply = await server.send(token, null, {}, method);
        assertProblem(reply, 405, "method_not_allowed");
        assert.equal(reply.headers.get("allow"), "POST, OPTIONS");
      }
    });
  } finally {
    await server.stop();
  }
});

/** Polls until something holds: a revocation is believed within a second. */
async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!await holds()) await new Promise((resolve) => setTimeout(resolve, 50));
}

Deno.test("assistants: the program's own permissions suffice", async () => {
  const dataDir = await makeDataDir("footfall-mcp-");
  try {
    await using server = await startServer({ DATA_DIR: dataDir });
    const response = await fetch(`${server.url}/mcp`, {
      method: "POST",
      headers: {
        "Authorization": `Bearer ${await operatorToken("read")}`,
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
      },
      body: JSON.stringify(callMessage("projects")),
    });
    const { result } = await response.json();
    assert.equal(result.structuredContent.result.projects[0].id, "prj_default");
    assert.equal(await server.stop(), 0);
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});

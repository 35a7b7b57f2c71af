import assert from "node:assert/strict";
import { refusal } from "../src/db/refusal.ts";
import { FakePageCamera } from "./screenshots/fake_page_camera.ts";
import { type Json, newEvent, TestApp, type TestProject } from "./support/app.ts";
import { until } from "./support/server_process.ts";

/** What stands for people; none of it may be in the log. */
const USER = "user-marker-7351";
const ANONYMOUS = "anonymous-marker-7351";
const SESSION = "session-marker-7351";
const EMAIL = "jane.marker@people.example";
const PATH = "/account/jane-marker";
const PEER = "203.0.113.77";
const NETWORK_PEER = "2001:db8:77::1";
const MARKS = [USER, ANONYMOUS, SESSION, EMAIL, "jane-marker", PEER, NETWORK_PEER];
const SETTLED_MS_MAX = 20_000;

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

/** Whatever a parameter may be, with a person in it. */
const VALUES: Readonly<Record<string, string>> = {
  filters: JSON.stringify([
    { field: "userId", op: "is", values: [USER] },
    { field: "path", op: "starts_with", values: [PATH] },
    { field: "properties.email", op: "is", values: [EMAIL] },
  ]),
  steps: JSON.stringify([{ name: EMAIL }, { name: "page_view" }]),
  path: PATH,
  pattern: `${PATH}/*`,
  event: EMAIL,
  start: EMAIL,
  goal: USER,
  cursor: EMAIL,
  after: USER,
  key: EMAIL,
};

/** Sends each operation of the document, with people wherever there is room for them. */
async function askEverything(server: TestApp, project: TestProject): Promise<number> {
  // Of all that the operations do, revoking tokens must not end the tour.
  const token = server.app.controlToken;
  const { body: document } = await server.fetch("/v1/openapi.json");
  let asked = 0;
  for (const [path, methods] of Object.entries<Record<string, Operation>>(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      for (const id of path.includes("{") ? [project.id, EMAIL] : [project.id]) {
        const address = path.replace(/\{\w+\}/g, encodeURIComponent(id));
        const names = (operation.parameters ?? []).filter((each) => each.in === "query")
          .map(({ name }) => name).filter((name) => name in VALUES);
        // All at once, then one by one: a bad one hides what comes after it.
        for (const some of [[], names, ...names.map((name) => [name])]) {
          const query = new URLSearchParams({ project: project.id });
          for (const name of some) query.set(name, VALUES[name]!);
          const sendsBody = method !== "get" && method !== "delete";
          await server.fetch(`${address}?${query}`, {
            method: method.toUpperCase(),
            headers: { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" },
            ...(sendsBody ? { body: JSON.stringify({ [EMAIL]: USER, path: PATH }) } : {}),
          }, PEER);
          asked++;
        }
      }
    }
  }
  return asked;
}

async function sendEvents(server: TestApp, project: TestProject): Promise<void> {
  const person = { userId: USER, anonymousId: ANONYMOUS, sessionId: SESSION };
  const event = (more: Json = {}) =>
    newEvent({
      ...person,
      name: "page_view",
      url: `https://shop.example${PATH}?mail=${EMAIL}`,
      properties: { email: EMAIL },
      ...more,
    });
  const context = { ip: NETWORK_PEER, userAgent: EMAIL };
  assert.equal((await server.post(project, [event()], { peer: PEER })).status, 200);
  const backend = { key: project.secretKey, peer: PEER };
  assert.equal((await server.post(project, [event({ context })], backend)).status, 200);
  await server.post(project, [{ ...event(), eventId: USER }], { peer: PEER });
  await server.post(project, [event()], { key: `pk_${USER}`, peer: PEER });
  await server.post(project, [event()], { key: null, query: `?key=${project.secretKey}` });
  await server.postRaw(project, `{"events": [${EMAIL}`, { peer: PEER });
  const headers = { "X-Forwarded-For": PEER, "User-Agent": EMAIL };
  await server.post(project, [event()], { headers });
}

async function askNonsense(server: TestApp, token: string): Promise<void> {
  const paths = [
    `/v1/${EMAIL}`,
    `${PATH}?${EMAIL}`,
    `/v1/actors/${USER}%00`,
    `/v1/actors/%ff${USER}`,
    `/v1/heatmaps/captures/${EMAIL}`,
  ];
  for (const path of paths) {
    for (const method of ["GET", "PATCH", "DELETE", "OPTIONS"]) {
      await server.fetch(path, { method, headers: { Authorization: `Bearer ${token}` } }, PEER);
    }
  }
  for (const sent of [`Bearer ${token}x`, "Bearer eyJhbGciOiJub25lIn0.e30.", `Basic ${EMAIL}`]) {
    await server.fetch("/v1/session", { headers: { Authorization: sent } }, PEER);
  }
}

Deno.test("log: the whole API at debug level names no person, key or token", async () => {
  const pageCamera = new FakePageCamera(() => {
    throw new Error(`Navigation to https://shop.example${PATH}?${EMAIL} was given up`);
  });
  const server = await new TestApp({ LOG_LEVEL: "debug" }, { pageCamera }).start();
  try {
    const project = await server.project({ siteUrl: "https://shop.example" });
    const token = await server.token(["*"], "read write jobs admin");
    await sendEvents(server, project);
    server.app.startCaptures();
    const { status } = await server.admin("POST", "/v1/internal/jobs/heatmap-captures", {
      project: project.id,
      path: PATH,
      devices: ["desktop"],
    });
    assert.equal(status, 202);
    const failed = () =>
      Promise.resolve(server.logLines.some((line) => line.includes("capture failed")));
    await until(SETTLED_MS_MAX, failed, "the capture has failed");
    await askNonsense(server, token);
    assert.ok(await askEverything(server, project) > 100);

    assert.ok(server.logLines.some((line) => line.includes('"route":"/v1/actors/:id"')));
    const { publicKey, secretKey } = project;
    for (const secret of [...MARKS, publicKey, secretKey, token, server.app.controlToken]) {
      const line = server.logLines.find((each) =>
        each.toLowerCase().includes(secret.toLowerCase())
      );
      assert.equal(line, undefined, secret);
    }
  } finally {
    await server.stop();
  }
});

Deno.test("log: a value that PostgreSQL quotes is not logged", () => {
  const quoted = 'invalid input syntax for type uuid: "jane "the" marker"';
  assert.equal(refusal(quoted, "22P02").message, 'invalid input syntax for type uuid: "…"');
  const named = 'relation "events" does not exist';
  assert.equal(refusal(named, "42P01").message, named);
});

import assert from "node:assert/strict";
import { BASE, PUBLIC_PEER, TestApp } from "../../support/app.ts";
import { signedIn } from "../../support/person_browser.ts";

/** Waits until a token is refused, which no server may put off for a second. */
async function refused(app: TestApp, token: string): Promise<void> {
  for (let i = 0; i < 2_000; i++) {
    const { status } = await app.fetch("/v1/session", {
      headers: { Authorization: `Bearer ${token}` },
    });
    if (status === 401) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  assert.fail("the token is still taken");
}

Deno.test("API tokens: made by a signed-in person, seen by the owner, and revoked together with their stream", async () => {
  const app = await new TestApp({}).start();
  try {
    app.app.startJobs();
    const { id: project } = await app.project();
    const ann = await signedIn(app, { role: "editor", projects: [project] });
    const asAnn = async (method: string, path: string, body?: unknown) =>
      await ann.as(await ann.token(), method, path, body);
    const wanted = { name: "Weekly report", scope: "read", projects: [project] };
    const beyond = await asAnn("POST", "/v1/tokens", { ...wanted, scope: "read admin" });
    assert.equal(beyond.status, 403);
    const made = [];
    for (let i = 0; i < 2; i++) made.push((await asAnn("POST", "/v1/tokens", wanted)).body);
    const lasting = Date.parse(made[0].expiresAt) - Date.now();
    assert.ok(lasting > 80 * 86_400_000, "it outlives the browser");
    const { tokens } = (await app.admin("GET", "/v1/tokens")).body;
    assert.deepEqual(
      tokens.map(({ id }: { id: string }) => id).toSorted(),
      made.map(({ id }) => id).toSorted(),
    );
    const { subject } = (await asAnn("GET", "/v1/session")).body;
    assert.equal(tokens[0].createdBy, subject);
    const [entry] = (await app.admin("GET", "/v1/audit?limit=1")).body.rows;
    assert.deepEqual([entry.who, entry.what, entry.from], [subject, "token.create", "203.0.113.7"]);

    const headers = { Authorization: `Bearer ${made[0].token}`, Accept: "text/event-stream" };
    const stream = await app.app.fetch(new Request(`${BASE}/v1/live`, { headers }), PUBLIC_PEER);
    assert.equal(stream.status, 200);
    const ended = (async () => {
      for await (const _ of stream.body!) { /* until it ends */ }
    })();
    assert.equal((await asAnn("DELETE", `/v1/tokens/${made[0].id}`)).status, 204);
    await ended;
    await refused(app, made[0].token);

    const { people } = (await app.admin("GET", "/v1/people")).body;
    const annId = people.find(({ email }: { email: string }) => email === subject).id;
    assert.equal((await app.admin("DELETE", `/v1/people/${annId}`)).status, 204);
    await refused(app, made[1].token);
    assert.deepEqual((await app.admin("GET", "/v1/tokens")).body, { tokens: [] });
  } finally {
    await app.stop();
  }
});

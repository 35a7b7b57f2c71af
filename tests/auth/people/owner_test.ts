import assert from "node:assert/strict";
import { assertProblem, TestApp } from "../../support/app.ts";
import { PASSWORD, PersonBrowser } from "../../support/person_browser.ts";

async function withApp(
  env: Record<string, string>,
  work: (app: TestApp) => Promise<void>,
): Promise<void> {
  const app = await new TestApp(env).start();
  try {
    await work(app);
  } finally {
    await app.stop();
  }
}

const owner = (setupToken: string, email = "Ada@Example.com") => ({
  setupToken,
  email,
  name: "Ada",
  password: PASSWORD,
});

Deno.test("owner: the set-up link makes the owner once, and signs them in", async () => {
  await withApp({}, async (app) => {
    const anyone = new PersonBrowser(app);
    const before = await anyone.ask("GET", "/v1/auth");
    assert.deepEqual(before.body, {
      ownerExists: false,
      password: true,
      passkeys: before.body.passkeys,
      oidc: null,
    });
    const first = await app.app.makeSetUpLink();
    const link = await app.app.makeSetUpLink();
    assert.ok(first !== null && link !== null && first !== link);

    const forged = await anyone.ask("POST", "/v1/auth/owner", owner("x".repeat(43)));
    assertProblem(forged, 403, "invalid_link");
    const cut = await anyone.ask("POST", "/v1/auth/owner", owner(link.slice(1)));
    assertProblem(cut, 403, "invalid_link");
    const weak = { ...owner(link), password: "password123" };
    assertProblem(await anyone.ask("POST", "/v1/auth/owner", weak), 400, "invalid_body");
    assert.equal(anyone.cookies.size, 0);

    const made = await anyone.ask("POST", "/v1/auth/owner", owner(link));
    assert.equal(made.status, 201, JSON.stringify(made.body));
    const { id, createdAt, joinedAt, lastSeenAt, ...rest } = made.body.person;
    assert.match(id, /^per_[A-Za-z0-9]{16}$/);
    for (const at of [createdAt, joinedAt]) assert.ok(Date.parse(at) > 0);
    assert.equal(lastSeenAt, null);
    assert.deepEqual(rest, {
      email: "ada@example.com",
      name: "Ada",
      role: "owner",
      projects: ["*"],
    });

    // Neither this link, nor an earlier one, nor a forged one makes another.
    for (const secret of [link, first, "x".repeat(43)]) {
      const again = await new PersonBrowser(app).ask(
        "POST",
        "/v1/auth/owner",
        owner(secret, "eve@example.com"),
      );
      assertProblem(again, 409, "owner_exists");
    }
    assert.equal(await app.app.makeSetUpLink(), null);
    assert.equal((await anyone.ask("GET", "/v1/auth")).body.ownerExists, true);

    const session = await anyone.as(await anyone.token(), "GET", "/v1/session");
    assert.equal(session.body.subject, "ada@example.com");
    assert.deepEqual(session.body.scopes, ["read", "write", "jobs", "admin", "people"]);
    assert.deepEqual(session.body.projects.map((one: { id: string }) => one.id), ["prj_default"]);
    const audit = await app.admin("GET", "/v1/audit");
    const entry = audit.body.rows.find((one: { what: string }) => one.what === "owner.create");
    assert.deepEqual([entry.who, entry.from], ["ada@example.com", "203.0.113.7"]);
  });
});

Deno.test("owner: two links used at once make one owner", async () => {
  await withApp({}, async (app) => {
    const links = [await app.app.makeSetUpLink(), await app.app.makeSetUpLink()];
    const replies = await Promise.all(
      [links[0]!, links[1]!, links[0]!].map((link, i) =>
        new PersonBrowser(app).ask("POST", "/v1/auth/owner", owner(link, `p${i}@example.com`))
      ),
    );
    const statuses = replies.map(({ status }) => status).sort();
    assert.deepEqual(statuses, [201, 409, 409], JSON.stringify(replies.map(({ body }) => body)));
    const { body } = await app.admin("GET", "/v1/people");
    assert.equal(body.people.length, 1);
  });
});

Deno.test("owner: nobody signs in here if an identity provider issues the tokens", async () => {
  const env = { JWT_SECRET: "", JWT_JWKS_URL: "http://127.0.0.1:9/keys" };
  await withApp(env, async (app) => {
    assert.equal(app.app.signsIn, false);
    const browser = new PersonBrowser(app);
    const { body } = await browser.ask("GET", "/v1/auth");
    assert.deepEqual(body, { ownerExists: false, password: false, passkeys: false, oidc: null });
    const link = await app.app.makeSetUpLink();
    assertProblem(await browser.ask("POST", "/v1/auth/owner", owner(link!)), 409, "conflict");
    assertProblem(await browser.signIn("ada@example.com"), 409, "conflict");
  });
});

Deno.test("owner: before the database is ready the reply is 503 with Retry-After", async () => {
  const app = new TestApp({});
  await app.start({ prepare: false });
  try {
    const browser = new PersonBrowser(app);
    for (const path of ["/v1/auth/sign-in", "/v1/auth/owner", "/v1/auth/token"]) {
      const reply = await browser.ask("POST", path, {});
      assertProblem(reply, 503, "database_unavailable");
      assert.ok(Number(reply.headers.get("retry-after")) > 0);
    }
  } finally {
    await app.stop();
  }
});

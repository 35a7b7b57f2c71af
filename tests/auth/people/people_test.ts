import assert from "node:assert/strict";
import { assertProblem } from "../../support/app.ts";
import { PASSWORD, PersonBrowser } from "../../support/person_browser.ts";
import { sharedPeopleApp } from "../../support/people_database.ts";

const people = sharedPeopleApp();

async function ownerToken(): Promise<{ id: string; browser: PersonBrowser; token: string }> {
  const { id } = await people.person("owner");
  const browser = await people.browserOf(id);
  return { id, browser, token: await browser.token() };
}

const newEmail = () => `${crypto.randomUUID().slice(0, 8)}@example.com`;

/** What a link holds. */
function secretOf(url: string, kind: string): string {
  const [, secret] = new RegExp(`^http://footfall\\.test/#${kind}=([\\w-]{43})$`).exec(url) ?? [];
  assert.ok(secret !== undefined, url);
  return secret;
}

Deno.test("people: an invitation is shown, accepted once, and gives the person's rights only", async () => {
  const { browser: owner, token } = await ownerToken();
  const own = (await people.app.project({ name: "Own" })).id;
  const other = (await people.app.project({ name: "Other" })).id;
  const email = newEmail();
  const wanted = { email, name: "Ada", role: "viewer", projects: [own] };
  const made = await owner.as(token, "POST", "/v1/people", wanted);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { person, invitation } = made.body;
  assert.equal(made.headers.get("location"), `/v1/people/${person.id}`);
  assert.deepEqual([person.joinedAt, person.projects], [null, [own]]);
  const days = (Date.parse(invitation.expiresAt) - Date.now()) / 86_400_000;
  assert.ok(days > 6.9 && days <= 7, `${days}`);
  assertProblem(await owner.as(token, "POST", "/v1/people", wanted), 409, "conflict");

  const invited = new PersonBrowser(people.app);
  const link = secretOf(invitation.url, "invitation");
  const look = await invited.ask("POST", "/v1/auth/invitation/look", { token: link });
  assert.deepEqual(look.body, {
    kind: "invitation",
    email,
    name: "Ada",
    role: "viewer",
    expiresAt: invitation.expiresAt,
  });
  assertProblem(await invited.signIn(email), 401, "invalid_credentials");
  const accept = { token: link, name: "Ada L.", password: PASSWORD };
  const twice = await Promise.all([
    invited.ask("POST", "/v1/auth/invitation", accept),
    new PersonBrowser(people.app).ask("POST", "/v1/auth/invitation", accept),
  ]);
  const statuses = twice.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [200, 403], JSON.stringify(twice.map(({ body }) => body)));
  assertProblem(await invited.ask("POST", "/v1/auth/invitation", accept), 403, "used_link");

  const browser = new PersonBrowser(people.app);
  assert.equal((await browser.signIn(email)).body.person.name, "Ada L.");
  const mine = await browser.token();
  const session = await browser.as(mine, "GET", "/v1/session");
  assert.deepEqual(session.body.projects.map(({ id }: { id: string }) => id), [own]);
  assert.equal((await browser.as(mine, "GET", `/v1/kpis?project=${own}`)).status, 200);
  for (
    const [method, path] of [
      ["GET", `/v1/kpis?project=${other}`],
      ["PUT", `/v1/goals/mine?project=${own}`],
      ["PATCH", `/v1/projects/${own}`],
      ["GET", `/v1/projects/${own}/keys`],
      ["GET", "/v1/people"],
    ] as const
  ) {
    const body = method === "GET" ? undefined : {};
    assertProblem(await browser.as(mine, method, path, body), 403, "insufficient_scope");
  }
});

Deno.test("people: a change of role or projects ends earlier tokens; the next has the new rights", async () => {
  const { browser: owner, token } = await ownerToken();
  const project = (await people.app.project()).id;
  const { id } = await people.person("editor", [project]);
  const browser = await people.browserOf(id);
  const before = await browser.token();
  const named = await owner.as(token, "PATCH", `/v1/people/${id}`, { name: "Bo" });
  assert.equal(named.body.person.name, "Bo");
  assert.equal((await browser.as(before, "GET", "/v1/session")).status, 200);
  for (const patch of [{ role: "viewer" }, { projects: ["*"] }, { role: "admin" }]) {
    const held = await browser.token();
    const reply = await owner.as(token, "PATCH", `/v1/people/${id}`, patch);
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    assertProblem(await browser.as(held, "GET", "/v1/session"), 401, "expired_token");
  }
  const after = await browser.as(await browser.token(), "GET", "/v1/session");
  assert.deepEqual(after.body.scopes, ["read", "write", "jobs", "admin"]);
  const raised = await owner.as(token, "PATCH", `/v1/people/${id}`, { role: "owner" });
  assert.deepEqual(raised.body.person.projects, ["*"]);
});

Deno.test("people: a removal ends the person's sessions and invitation at once", async () => {
  const { browser: owner, token } = await ownerToken();
  const email = newEmail();
  const { body } = await owner.as(token, "POST", "/v1/people", { email, role: "owner" });
  const link = secretOf(body.invitation.url, "invitation");
  const { id } = await people.person("admin");
  const browser = await people.browserOf(id);
  const held = await browser.token();
  for (const one of [id, body.person.id]) {
    assert.equal((await owner.as(token, "DELETE", `/v1/people/${one}`)).status, 204);
    assertProblem(await owner.as(token, "DELETE", `/v1/people/${one}`), 404, "not_found");
  }
  for (const [method, of] of [["DELETE", ""], ["PATCH", ""], ["POST", "/invitation"]] as const) {
    const body = method === "PATCH" ? { name: "Nobody" } : undefined;
    const reply = await owner.as(token, method, `/v1/people/per_%00${of}`, body);
    assertProblem(reply, 404, "not_found");
  }
  assertProblem(await browser.as(held, "GET", "/v1/session"), 401, "invalid_token");
  assertProblem(await browser.ask("POST", "/v1/auth/token"), 401, "no_session");
  const accept = { token: link, password: PASSWORD };
  const late = await new PersonBrowser(people.app).ask("POST", "/v1/auth/invitation", accept);
  assertProblem(late, 403, "invalid_link");
});

Deno.test("people: a newer link replaces an older one, and each expires after 7 days", async () => {
  const { browser: owner, token } = await ownerToken();
  const { body } = await owner.as(token, "POST", "/v1/people", {
    email: newEmail(),
    role: "viewer",
    projects: ["*"],
  });
  const again = await owner.as(token, "POST", `/v1/people/${body.person.id}/invitation`);
  assert.equal(again.status, 201);
  const [old, fresh] = [body, again.body].map((one) => secretOf(one.invitation.url, "invitation"));
  const look = (secret: string | undefined) =>
    owner.ask("POST", "/v1/auth/invitation/look", { token: secret });
  assertProblem(await look(old), 403, "expired_link");
  assert.equal((await look(fresh)).status, 200);
  await people.sql.query(
    "UPDATE person_links SET expires_at = expires_at - interval '7 days' WHERE person_id = $1::text",
    [body.person.id],
  );
  assertProblem(await look(fresh), 403, "expired_link");
  assertProblem(await look(fresh!.slice(2)), 403, "invalid_link");
});

Deno.test("people: a reset works once, ends every session, and sets the new password", async () => {
  const { browser: owner, token } = await ownerToken();
  const { id, email } = await people.person("viewer");
  const browser = await people.browserOf(id);
  const held = await browser.token();
  const { body } = await owner.as(token, "POST", `/v1/people/${id}/invitation`);
  const secret = secretOf(body.invitation.url, "reset");
  const fresh = new PersonBrowser(people.app);
  assert.equal((await browser.as(held, "GET", "/v1/session")).status, 200);
  const reply = await fresh.ask("POST", "/v1/auth/reset", { token: secret, password: PASSWORD });
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  assertProblem(await browser.as(held, "GET", "/v1/session"), 401, "invalid_token");
  assert.equal((await fresh.ask("GET", "/v1/auth/account")).body.person.id, id);
  assert.equal((await new PersonBrowser(people.app).signIn(email)).status, 200);
  const again = await fresh.ask("POST", "/v1/auth/reset", { token: secret, password: PASSWORD });
  assertProblem(again, 403, "used_link");
});

Deno.test("people: invalid bodies are refused by member", async () => {
  const { browser: owner, token } = await ownerToken();
  const cases: [Record<string, unknown>, string][] = [
    [{ email: "ada", role: "viewer", projects: ["*"] }, "email"],
    [{ email: newEmail(), role: "king", projects: ["*"] }, "role"],
    [{ email: newEmail(), role: "viewer" }, "projects"],
    [{ email: newEmail(), role: "viewer", projects: [] }, "projects"],
    [{ email: newEmail(), role: "viewer", projects: ["prj_none"] }, "projects.0"],
    [{ email: newEmail(), role: "owner", projects: ["prj_default"] }, "projects"],
    [{ email: newEmail(), role: "owner", password: "password123" }, "password"],
    [{ email: newEmail(), role: "owner", rights: 7 }, "rights"],
  ];
  for (const [body, field] of cases) {
    const reply = await owner.as(token, "POST", "/v1/people", body);
    assertProblem(reply, 400, "invalid_body");
    assert.equal(reply.body.errors[0].field, field);
  }
});

Deno.test("people: nobody makes or changes somebody with more rights than their own", async () => {
  const { id } = await people.person("owner");
  const only = await people.app.token(["*"], "people read");
  const some = await people.app.token(["prj_default"], "people read write jobs admin");
  const browser = new PersonBrowser(people.app);
  const owner = { email: newEmail(), role: "owner" };
  for (const token of [only, some]) {
    assertProblem(
      await browser.as(token, "POST", "/v1/people", owner),
      403,
      "insufficient_scope",
    );
    for (
      const [method, path] of [["PATCH", ""], ["DELETE", ""], ["POST", "/invitation"]] as const
    ) {
      const reply = await browser.as(token, method, `/v1/people/${id}${path}`, {});
      assertProblem(reply, 403, "insufficient_scope");
    }
  }
  const viewer = { email: newEmail(), role: "viewer", projects: ["*"] };
  const made = await browser.as(only, "POST", "/v1/people", viewer);
  assert.equal(made.status, 201);
  const raise = await browser.as(only, "PATCH", `/v1/people/${made.body.person.id}`, {
    role: "editor",
  });
  assertProblem(raise, 403, "insufficient_scope");
});

Deno.test("people: the audit says who did what to whom", async () => {
  const { id, browser, token } = await ownerToken();
  const email = newEmail();
  const { body } = await browser.as(token, "POST", "/v1/people", { email, role: "owner" });
  const path = `/v1/people/${body.person.id}`;
  await browser.as(token, "PATCH", path, { role: "viewer", projects: ["prj_default"] });
  await browser.as(token, "PATCH", path, { name: "Bo" });
  await browser.as(token, "POST", `${path}/invitation`);
  await browser.as(token, "DELETE", path);
  const audit = await browser.as(token, "GET", "/v1/audit");
  const who = (await browser.as(token, "GET", "/v1/people")).body.people
    .find((one: { id: string }) => one.id === id).email;
  const told = audit.body.rows.filter((row: { subject: string }) => row.subject.includes(email))
    .map((row: Record<string, string>) => [row.who, row.what, row.from]);
  const from = "203.0.113.7";
  assert.deepEqual(told, [
    [who, "person.remove", from],
    [who, "person.invite", from],
    [who, "person.change", from],
    [who, "person.role", from],
    [who, "person.invite", from],
  ]);
  const secret = secretOf(body.invitation.url, "invitation");
  assert.ok(!JSON.stringify(audit.body).includes(secret));
});

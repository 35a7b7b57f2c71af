import assert from "node:assert/strict";
import { addPasskey } from "../../../src/auth/passkeys/passkeys.ts";
import { hashPassword } from "../../../src/auth/people/passwords.ts";
import { setPassword } from "../../../src/auth/people/people.ts";
import { assertProblem } from "../../support/app.ts";
import { PASSWORD, PersonBrowser } from "../../support/person_browser.ts";
import { sharedPeopleApp } from "../../support/people_database.ts";

const people = sharedPeopleApp();
const CHEAP = { N: 2 ** 10, r: 8, p: 1 };
const NEXT = "four large blue boats";

async function withPassword(role: "owner" | "viewer" = "viewer") {
  const person = await people.person(role);
  const password = await hashPassword(PASSWORD, CHEAP);
  await setPassword(people.sql, { personId: person.id, password, nowMs: Date.now() });
  return person;
}

/** Whether a token still opens anything. */
async function holds(token: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await people.app.fetch("/v1/session", { headers })).status === 200;
}

Deno.test("account: shows who is signed in, and changes their name", async () => {
  const { id } = await people.person("viewer");
  const browser = await people.browserOf(id);
  const { body } = await browser.ask("GET", "/v1/auth/account");
  assert.deepEqual([body.person.id, body.hasPassword], [id, false]);
  const named = await browser.ask("PATCH", "/v1/auth/account", { name: " Ada " });
  assert.equal(named.body.person.name, "Ada");
  assertProblem(
    await browser.ask("PATCH", "/v1/auth/account", { name: "Ada", role: "owner" }),
    400,
    "invalid_body",
  );
});

Deno.test("account: the only owner keeps the passkey that is their only way in", async () => {
  const { id } = await people.person("owner");
  const browser = await people.browserOf(id);
  const passkey = { publicKey: new Uint8Array(1), counter: 0, transports: [] };
  for (const credentialId of ["one", "two"]) {
    const added = { ...passkey, credentialId };
    await addPasskey(people.sql, { personId: id, name: "x", passkey: added, nowMs: Date.now() });
  }
  const remove = (name: string) => browser.ask("DELETE", `/v1/auth/passkeys/${name}`);
  assert.equal((await remove("one")).status, 204);
  assertProblem(await remove("two"), 409, "last_owner");
  const { body } = await browser.ask("GET", "/v1/auth/passkeys");
  assert.deepEqual(body.passkeys.map((kept: { id: string }) => kept.id), ["two"]);
  assert.equal((await browser.ask("POST", "/v1/auth/password", { next: NEXT })).status, 204);
  assert.equal((await remove("two")).status, 204);
});

Deno.test("sessions: listed with device and place, ended one by one, and nobody else's", async () => {
  const { id, email } = await withPassword();
  const here = new PersonBrowser(people.app);
  await here.signIn(email, PASSWORD, { peer: "8.8.8.8" });
  const there = await people.browserOf(id);
  const foreign = await people.browserOf((await people.person("viewer")).id);
  const { body } = await here.ask("GET", "/v1/auth/sessions", undefined, { peer: "8.8.8.8" });
  assert.equal(body.sessions.length, 2);
  const [mine, other] = [true, false].map((current) =>
    body.sessions.find((one: { current: boolean }) => one.current === current)
  );
  assert.deepEqual([mine.device, mine.place, mine.address], ["Chrome on Linux", "US", "8.8.8.8"]);
  assert.equal(other.device, "Firefox on Linux");
  assert.match(mine.id, /^ses_[A-Za-z0-9]{22}$/);

  const stolen = await foreign.ask("DELETE", `/v1/auth/sessions/${mine.id}`);
  assertProblem(stolen, 404, "not_found");
  const token = await there.token();
  assert.equal(await holds(token), true);
  assert.equal((await here.ask("DELETE", `/v1/auth/sessions/${other.id}`)).status, 204);
  assert.equal(await holds(token), false);
  assertProblem(await there.ask("POST", "/v1/auth/token"), 401, "no_session");
  assert.equal((await here.ask("GET", "/v1/auth/account")).status, 200);

  const another = await (await people.browserOf(id)).token();
  assert.equal((await here.ask("DELETE", "/v1/auth/sessions")).status, 204);
  assert.equal(await holds(another), false);
  assert.match(here.setCookie ?? "", /^footfall=; Path=\/; Max-Age=0; HttpOnly/);
  assertProblem(await here.ask("POST", "/v1/auth/token"), 401, "no_session");
});

Deno.test("sessions: signing out ends only this one, with its tokens and those made with them", async () => {
  const { id } = await people.person("owner");
  const [here, there] = [await people.browserOf(id), await people.browserOf(id)];
  const [token, kept] = [await here.token(), await there.token()];
  const made = await here.as(token, "POST", "/v1/internal/tokens", {
    projects: ["*"],
    scope: "read",
    ttlSeconds: 600,
    subject: "somebody else",
  });
  assert.equal(made.status, 201);
  const secret = here.cookies.get("footfall")!;
  assert.equal((await here.ask("POST", "/v1/auth/sign-out")).status, 204);
  assert.equal(here.cookies.size, 0);
  here.cookies.set("footfall", secret);
  assertProblem(await here.ask("POST", "/v1/auth/token"), 401, "no_session");
  assert.deepEqual(
    [await holds(token), await holds(made.body.token), await holds(kept)],
    [false, false, true],
  );
  // Who is out already is out.
  assert.equal((await here.ask("POST", "/v1/auth/sign-out")).status, 204);
});

Deno.test("sessions: one expires 30 days after its last use", async () => {
  const { id } = await people.person("viewer");
  const browser = await people.browserOf(id);
  const rewind = (time: string) =>
    people.sql.query(
      `UPDATE person_sessions SET last_seen_at = last_seen_at - $2::text::interval,
        expires_at = expires_at - $2::text::interval WHERE person_id = $1::text`,
      [id, time],
    );
  await rewind("29 days 23 hours");
  await browser.token();
  // Its use has made it last for 30 days again.
  await rewind("29 days 23 hours");
  await browser.token();
  await rewind("30 days");
  assertProblem(await browser.ask("POST", "/v1/auth/token"), 401, "no_session");
});

Deno.test("password: a change needs the current one, and ends the other sessions", async () => {
  const { id, email } = await withPassword();
  const [here, there] = [await people.browserOf(id), await people.browserOf(id)];
  const [mine, other] = [await here.token(), await there.token()];
  const change = (current: unknown, next: string) =>
    here.ask("POST", "/v1/auth/password", { current, next });
  const guess = await change("not the password", NEXT);
  assertProblem(guess, 401, "invalid_credentials");
  const message = "This is not your password.";
  assert.deepEqual(guess.body.errors, [{ field: "current", code: "invalid_value", message }]);
  assertProblem(await change(null, NEXT), 401, "invalid_credentials");
  for (
    const weak of [
      "short",
      "password123",
      "1234567890",
      "aaaaaaaaaaaa",
      email,
      "ＰＡＳＳＷＯＲＤ１２３",
    ]
  ) {
    const reply = await change(PASSWORD, weak);
    assertProblem(reply, 400, "invalid_body");
    assert.deepEqual([reply.body.errors[0].field, reply.body.errors[0].code], [
      "next",
      "weak_password",
    ]);
  }
  assert.equal((await change(PASSWORD, NEXT)).status, 204);
  assert.deepEqual([await holds(mine), await holds(other)], [true, false]);
  assertProblem(await there.ask("POST", "/v1/auth/token"), 401, "no_session");
  const browser = new PersonBrowser(people.app);
  assertProblem(await browser.signIn(email, PASSWORD), 401, "invalid_credentials");
  assert.equal((await browser.signIn(email, NEXT)).status, 200);
});

Deno.test("password: a change ends an earlier link for a new one", async () => {
  const { id } = await withPassword();
  const owner = await people.browserOf((await people.person("owner")).id);
  const made = await owner.as(await owner.token(), "POST", `/v1/people/${id}/invitation`);
  const token = made.body.invitation.url.split("#reset=")[1];
  const here = await people.browserOf(id);
  const next = { current: PASSWORD, next: NEXT };
  assert.equal((await here.ask("POST", "/v1/auth/password", next)).status, 204);
  const found = new PersonBrowser(people.app);
  const reply = await found.ask("POST", "/v1/auth/reset", {
    token,
    password: "five small red cars",
  });
  assertProblem(reply, 403, "expired_link");
  assert.match(reply.body.detail, /or changed the password/);
  assert.equal((await here.ask("GET", "/v1/auth/account")).status, 200);
});

Deno.test("password: somebody without one sets one; guesses at the current one are bounded", async () => {
  const { id, email } = await people.person("viewer");
  const browser = await people.browserOf(id);
  assert.equal((await browser.ask("POST", "/v1/auth/password", { next: NEXT })).status, 204);
  assert.equal((await new PersonBrowser(people.app).signIn(email, NEXT)).status, 200);
  await people.sql.query(
    `INSERT INTO sign_in_attempts (subject, tried_at)
    SELECT sha256(convert_to('account ' || $1::text, 'UTF8')), array_fill(now(), ARRAY[10])
    ON CONFLICT (subject) DO UPDATE SET tried_at = EXCLUDED.tried_at`,
    [email],
  );
  const guess = await browser.ask("POST", "/v1/auth/password", { current: "a guess", next: NEXT });
  assertProblem(guess, 429, "too_many_attempts");
});

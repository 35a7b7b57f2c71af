import assert from "node:assert/strict";
import { requireCredentials } from "../../../src/auth/people/credentials.ts";
import { hashPassword, isWeakHash, SCRYPT_COST } from "../../../src/auth/people/passwords.ts";
import { SIGN_IN_ATTEMPTS_MAX } from "../../../src/auth/people/people_limits.ts";
import { Problem } from "../../../src/problem.ts";
import { assertProblem } from "../../support/app.ts";
import { PASSWORD, PersonBrowser } from "../../support/person_browser.ts";
import { sharedPeopleApp } from "../../support/people_database.ts";

const people = sharedPeopleApp();

/** Cheap, so that tests need not wait; the first sign-in makes it anew. */
const CHEAP = { N: 2 ** 10, r: 8, p: 1 };

/** Somebody with PASSWORD, kept as an early version would have. */
async function withPassword(role: "owner" | "viewer" = "viewer") {
  const person = await people.person(role);
  const hash = await hashPassword(PASSWORD, CHEAP);
  await people.sql.query("UPDATE people SET password = $2::text WHERE person_id = $1::text", [
    person.id,
    hash,
  ]);
  return person;
}

async function storedHash(id: string): Promise<string> {
  const [row] = await people.sql.query<{ password: string }>(
    "SELECT password FROM people WHERE person_id = $1::text",
    [id],
  );
  return row!.password;
}

Deno.test("sign-in: only the cookie gives tokens", async () => {
  const { email, id } = await withPassword();
  const browser = new PersonBrowser(people.app);
  const before = await browser.ask("POST", "/v1/auth/token");
  assertProblem(before, 401, "no_session");

  const reply = await browser.signIn(` ${email.toUpperCase()} `);
  assert.equal(reply.status, 200, JSON.stringify(reply.body));
  assert.equal(reply.body.person.id, id);
  assert.ok(!JSON.stringify(reply.body).includes("scrypt"));
  assert.match(
    browser.setCookie ?? "",
    /^footfall=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
  );
  const minted = await browser.ask("POST", "/v1/auth/token");
  assert.deepEqual(Object.keys(minted.body).sort(), ["expiresAt", "person", "token"]);
  const aheadMs = Date.parse(minted.body.expiresAt) - Date.now();
  assert.ok(aheadMs > 13 * 60_000 && aheadMs <= 15 * 60_000, `${aheadMs}`);
  // It is renewed while it is used.
  assert.match(browser.setCookie ?? "", /Max-Age=2592000/);
  const session = await browser.as(minted.body.token, "GET", "/v1/session");
  assert.deepEqual([session.body.subject, session.body.scopes], [email, ["read"]]);

  // The database holds no cookie.
  const secret = browser.cookies.get("footfall")!;
  const rows = await people.sql.query("SELECT * FROM person_sessions WHERE person_id = $1::text", [
    id,
  ]);
  assert.equal(rows.length, 1);
  assert.ok(!JSON.stringify(rows).includes(secret));
  for (const forged of [secret.slice(1), `${secret}x`, "A".repeat(43), ""]) {
    const other = new PersonBrowser(people.app);
    other.cookies.set("footfall", forged);
    assertProblem(await other.ask("POST", "/v1/auth/token"), 401, "no_session");
  }
  const hash = await storedHash(id);
  assert.equal(isWeakHash(hash), false, "the hash was made anew");
  assert.match(hash, new RegExp(`^scrypt\\$N=${SCRYPT_COST.N},r=8,p=${SCRYPT_COST.p}\\$`));
  assert.equal((await new PersonBrowser(people.app).signIn(email)).status, 200);
});

Deno.test("sign-in: a wrong password, an unknown address and no address get the same reply", async () => {
  const { email } = await withPassword();
  const without = await people.person("viewer");
  const told = [];
  for (
    const [address, password] of [
      [email, "not the password"],
      ["nobody@example.com", PASSWORD],
      [without.email, PASSWORD],
      ["no address", PASSWORD],
      ["", ""],
    ] as const
  ) {
    const browser = new PersonBrowser(people.app);
    const reply = await browser.signIn(address, password, { peer: "192.0.2.1" });
    assertProblem(reply, 401, "invalid_credentials");
    assert.equal(reply.headers.get("set-cookie"), null);
    told.push({ ...reply.body, requestId: "" });
  }
  for (const one of told) assert.deepEqual(one, told[0]);
});

Deno.test("sign-in: ten may fail in 15 minutes for one account, from any address", async () => {
  const { email, id } = await withPassword();
  const fail = (i: number) =>
    new PersonBrowser(people.app).signIn(email, "not the password", { peer: `198.51.100.${i}` });
  const replies = await Promise.all(Array.from({ length: 14 }, (_, i) => fail(i)));
  const statuses = replies.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [...Array(10).fill(401), ...Array(4).fill(429)]);
  const refused = await new PersonBrowser(people.app).signIn(email);
  assertProblem(refused, 429, "too_many_attempts");
  const waitS = Number(refused.headers.get("retry-after"));
  assert.ok(waitS > 600 && waitS <= 900, `${waitS}`);
  // Others sign in meanwhile, from the same addresses too.
  const other = await withPassword();
  const peer = "198.51.100.1";
  assert.equal(
    (await new PersonBrowser(people.app).signIn(other.email, PASSWORD, { peer })).status,
    200,
  );
  await people.sql.query(
    `UPDATE sign_in_attempts SET tried_at =
      ARRAY(SELECT at - interval '16 minutes' FROM unnest(tried_at) at)`,
  );
  const browser = new PersonBrowser(people.app);
  assert.equal((await browser.signIn(email)).body.person.id, id);
  // Who got in has failed no more.
  assert.equal((await fail(1)).status, 401);
});

Deno.test("sign-in: a 503 does not count as a failure", async () => {
  const { email } = await withPassword();
  const crowded = () => Promise.reject(new Problem("overloaded", "Try again."));
  for (let i = 0; i < SIGN_IN_ATTEMPTS_MAX; i++) {
    const attempt = { email, address: "198.51.100.77", nowMs: Date.now() };
    const use = () => Promise.resolve();
    await assert.rejects(
      requireCredentials(people.sql, attempt, PASSWORD, { use, beforehand: crowded }),
      { code: "overloaded" },
    );
  }
  assert.equal((await new PersonBrowser(people.app).signIn(email)).status, 200);
});

Deno.test("sign-in: ten may fail for one address, with any account; other addresses sign in", async () => {
  const { email } = await withPassword();
  const from = (peer: string, address = `${crypto.randomUUID()}@example.com`) =>
    new PersonBrowser(people.app).signIn(address, "not the password", { peer });
  for (let i = 0; i < 10; i++) {
    assertProblem(await from(`2001:db8:1:2::${i + 1}`), 401, "invalid_credentials");
  }
  // A customer has a whole network of IPv6.
  assertProblem(await from("2001:db8:1:2:ffff::1"), 429, "too_many_attempts");
  assertProblem(await from("2001:db8:1:2::77", email), 429, "too_many_attempts");
  assertProblem(await from("2001:db8:1:3::1"), 401, "invalid_credentials");
  // What was refused for its address did not count against the account.
  assert.equal((await new PersonBrowser(people.app).signIn(email)).status, 200);
});

Deno.test("sign-in: the names of the cookie over https, below a path, and behind a proxy", async () => {
  const person = await withPassword();
  const cases: [Record<string, string>, RegExp][] = [
    // A page by https, though no proxy is trusted to say so: its Origin does.
    [
      { Origin: "https://footfall.test" },
      /^__Host-footfall=\S{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Lax; Secure$/,
    ],
    [{ Origin: "http://footfall.test" }, /^footfall=(?!.*Secure)/],
    // Nobody believes it of a client.
    [{ "X-Forwarded-Proto": "https", Origin: "http://footfall.test" }, /^footfall=/],
  ];
  for (const [headers, expected] of cases) {
    const browser = new PersonBrowser(people.app);
    const reply = await browser.signIn(person.email, PASSWORD, { headers });
    assert.equal(reply.status, 200, JSON.stringify(reply.body));
    assert.match(browser.setCookie ?? "", expected);
    assert.equal(
      (await browser.ask("GET", "/v1/auth/account", undefined, { headers })).status,
      200,
    );
  }
  // A page of another host of the domain may set one of this name, which is never ours here.
  const { cookies } = await people.browserOf(person.id);
  const browser = new PersonBrowser(people.app);
  browser.cookies.set("__Secure-footfall", cookies.get("footfall")!);
  assertProblem(await browser.ask("GET", "/v1/auth/account"), 401, "no_session");
});

Deno.test("sign-in: a session is valid while its use cannot be stored", async () => {
  const { id } = await people.person("viewer");
  const browser = await people.browserOf(id);
  await people.sql.script(`
    UPDATE person_sessions SET last_seen_at = now() - interval '1 hour';
    ALTER TABLE person_sessions ADD CONSTRAINT unused CHECK (false) NOT VALID`);
  try {
    assert.equal((await browser.ask("POST", "/v1/auth/token")).status, 200);
  } finally {
    await people.sql.script("ALTER TABLE person_sessions DROP CONSTRAINT unused");
  }
});

Deno.test("sign-in: another site's page cannot sign anybody in, nor a form", async () => {
  const { email } = await withPassword();
  const body = { email, password: PASSWORD };
  for (const headers of [{ Origin: "https://evil.example" }, { "Sec-Fetch-Site": "same-site" }]) {
    const reply = await new PersonBrowser(people.app).signIn(email, PASSWORD, { headers });
    assertProblem(reply, 403, "foreign_origin");
  }
  const form = await people.app.fetch("/v1/auth/sign-in", {
    method: "POST",
    headers: { "Content-Type": "text/plain" },
    body: JSON.stringify(body),
  });
  assertProblem(form, 415, "unsupported_media_type");
  // A script without any page may, to have a session of its own.
  const script = await people.app.fetch("/v1/auth/sign-in", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.equal(script.status, 200);
});

Deno.test("sign-in: no log line holds a password, a cookie, a token or an address", async () => {
  const { email } = await withPassword();
  const browser = new PersonBrowser(people.app);
  await browser.signIn(email, "not the password");
  await browser.signIn(email);
  const token = await browser.token();
  const log = people.app.logLines.join("\n");
  for (
    const secret of [email, PASSWORD, "not the password", browser.cookies.get("footfall")!, token]
  ) {
    assert.ok(!log.includes(secret), secret);
  }
});

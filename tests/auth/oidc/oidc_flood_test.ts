import assert from "node:assert/strict";
import { createOidcProvider, OidcUnavailable } from "../../../src/auth/oidc/oidc_provider.ts";
import { SIGN_IN_ATTEMPTS_MAX } from "../../../src/auth/people/people_limits.ts";
import { BASE, PUBLIC_PEER, TestApp } from "../../support/app.ts";
import { CountingProvider } from "./counting_provider.ts";
import { signInThere, startProvider } from "./provider.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./provider_process.ts";

const REDIRECT = `${BASE}/v1/auth/oidc/callback`;

async function withApp(issuer: string, work: (app: TestApp) => Promise<void>): Promise<void> {
  const app = await new TestApp({
    OIDC_ISSUER: issuer,
    OIDC_CLIENT_ID: CLIENT_ID,
    OIDC_CLIENT_SECRET: CLIENT_SECRET,
    OIDC_ALLOWED_DOMAINS: "shop.example",
  }).start();
  try {
    await work(app);
  } finally {
    await app.stop();
  }
}

/** A sign-in that was begun: where the browser is sent, its cookie and its state. */
async function begun(app: TestApp) {
  const { headers } = await app.fetch("/v1/auth/oidc/start");
  const there = headers.get("location")!;
  const cookie = headers.getSetCookie()[0]!.split(";")[0]!;
  return { there, cookie, state: new URL(there).searchParams.get("state")! };
}

/** Comes back with an answer, and keeps the cookie. @returns what the dashboard is told; empty: nothing */
async function comesBack(app: TestApp, cookie: string, answer: string, peer = PUBLIC_PEER) {
  const init = { headers: { Cookie: cookie } };
  const { status, headers } = await app.fetch(`/v1/auth/oidc/callback?${answer}`, init, peer);
  assert.equal(status, 303);
  return new URL(headers.get("location")!).hash.replace("#provider=", "");
}

/** A sign-in with a made-up code. */
async function madeUp(app: TestApp, peer = PUBLIC_PEER): Promise<string> {
  const { cookie, state } = await begun(app);
  return await comesBack(app, cookie, `code=x&state=${state}`, peer);
}

Deno.test("oidc: the provider is asked once per sign-in, and only about an answer to it", async () => {
  await using provider = new CountingProvider();
  await withApp(provider.issuer, async (app) => {
    const { cookie, state } = await begun(app);
    assert.deepEqual([provider.discoveries, provider.codes], [1, 0]);
    const noAnswers = [
      "code=x&state=another",
      "code=x",
      `state=${state}`,
      `code=&state=${state}`,
      `error=access_denied&state=${state}`,
    ];
    for (const answer of noAnswers) {
      assert.equal(await comesBack(app, cookie, answer), "refused", answer);
    }
    assert.deepEqual([provider.discoveries, provider.codes], [1, 0], "nothing is sent for these");
    const answer = `code=x&state=${state}`;
    const told = await Promise.all(
      Array.from({ length: 5 }, () => comesBack(app, cookie, answer)),
    );
    assert.deepEqual(told, Array(5).fill("refused"));
    assert.deepEqual([provider.discoveries, provider.codes], [2, 1], "one of the five is sent");
  });
});

Deno.test("oidc: after too many refused answers from a network, the provider is not asked", async () => {
  await using provider = new CountingProvider();
  await withApp(provider.issuer, async (app) => {
    for (let i = 0; i < SIGN_IN_ATTEMPTS_MAX; i++) assert.equal(await madeUp(app), "refused");
    assert.equal(provider.codes, SIGN_IN_ATTEMPTS_MAX);
    const asked = [provider.discoveries, provider.codes];
    assert.equal(await madeUp(app), "too_many");
    assert.deepEqual([provider.discoveries, provider.codes], asked);
    assert.equal(await madeUp(app, "9.9.9.9"), "refused", "another network");
  });
});

for (const says of ["nonsense", "unknown client", "busy"] as const) {
  Deno.test(`oidc: answers do not count while the provider is out of order: ${says}`, async () => {
    await using provider = new CountingProvider();
    provider.says = says;
    await withApp(provider.issuer, async (app) => {
      for (let i = 0; i <= SIGN_IN_ATTEMPTS_MAX; i++) {
        assert.equal(await madeUp(app), "unavailable");
      }
      assert.equal(provider.codes, SIGN_IN_ATTEMPTS_MAX + 1);
    });
  });
}

Deno.test("oidc: who comes back from a provider that is out of order is told so", async () => {
  await using provider = new CountingProvider();
  await withApp(provider.issuer, async (app) => {
    const { cookie, state } = await begun(app);
    for (const error of ["temporarily_unavailable", "server_error", "invalid_scope"]) {
      const told = await comesBack(app, cookie, `error=${error}&state=${state}`);
      assert.equal(told, "unavailable", error);
    }
    assert.equal(provider.codes, 0);
  });
});

Deno.test("oidc: successful sign-ins are not limited, and each answer counts once", async () => {
  const provider = await startProvider({ port: 0, redirectUri: REDIRECT, keyId: "first" });
  try {
    await withApp(provider.issuer, async (app) => {
      for (let i = 0; i <= SIGN_IN_ATTEMPTS_MAX; i++) {
        const { there, cookie } = await begun(app);
        const back = await signInThere(there, "ada");
        assert.equal(await comesBack(app, cookie, back.search.slice(1)), "");
        if (i === 0) {
          assert.equal(await comesBack(app, cookie, back.search.slice(1)), "refused", "again");
        }
      }
    });
  } finally {
    await provider.stop();
  }
});

Deno.test("oidc: concurrent sign-ins share one request for the provider's metadata", async () => {
  await using counting = new CountingProvider();
  counting.slowMs = 100;
  const provider = createOidcProvider({
    issuer: counting.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    scopes: "openid",
    roleClaim: null,
    allowedDomains: [],
    name: "Tests",
  }, Date.now);
  const five = () => Array.from({ length: 5 }, () => provider.begin(REDIRECT));
  counting.isDown = true;
  for (const { status, ...settled } of await Promise.allSettled(five())) {
    assert.equal(status, "rejected");
    assert.ok("reason" in settled && settled.reason instanceof OidcUnavailable);
  }
  assert.equal(counting.discoveries, 1);
  counting.isDown = false;
  const begun = await Promise.all(five());
  assert.equal(new Set(begun.map(({ checks }) => checks.state)).size, 5);
  assert.equal(counting.discoveries, 2, "a failure is not kept");
});

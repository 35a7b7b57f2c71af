import assert from "node:assert/strict";
import {
  createOidcProvider,
  OidcRefused,
  type OidcSettings,
  OidcUnavailable,
} from "../../../src/auth/oidc/oidc_provider.ts";
import { OIDC_CLOCK_LEEWAY_S } from "../../../src/auth/oidc/oidc_limits.ts";
import { signInThere, startProvider } from "./provider.ts";
import { CLIENT_ID, CLIENT_SECRET } from "./provider_process.ts";

const REDIRECT = "http://127.0.0.1:1/v1/auth/oidc/callback";
const ORDER = { port: 0, redirectUri: REDIRECT, keyId: "first" };

function settingsOf(issuer: string, more: Partial<OidcSettings> = {}): OidcSettings {
  return {
    issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    scopes: "openid email profile",
    roleClaim: null,
    allowedDomains: [],
    name: "Tests",
    ...more,
  };
}

Deno.test({
  name: "oidc: the provider's answer is accepted once, and only with the values of its sign-in",
  async fn(t) {
    let running = await startProvider(ORDER);
    try {
      const { issuer } = running;
      const provider = createOidcProvider(settingsOf(issuer, { roleClaim: "roles" }), Date.now);
      await t.step("name, address, role", async () => {
        const { url, checks } = await provider.begin(REDIRECT);
        const claims = await provider.finish(await signInThere(url, "editor-ada"), checks);
        assert.deepEqual(claims, {
          issuer,
          subject: "editor-ada",
          email: "editor-ada@shop.example",
          isEmailVerified: true,
          name: "Editor-ada",
          roles: ["staff", "editor"],
        });
      });
      await t.step("an address that nobody checked is said to be none", async () => {
        const { url, checks } = await provider.begin(REDIRECT);
        const claims = await provider.finish(await signInThere(url, "unverified-eve"), checks);
        assert.equal(claims.isEmailVerified, false);
      });
      await t.step("a subject has at most 255 characters", async () => {
        for (const [length, holds] of [[255, true], [256, false]] as const) {
          const { url, checks } = await provider.begin(REDIRECT);
          const finished = provider.finish(await signInThere(url, "s".repeat(length)), checks);
          if (holds) assert.equal((await finished).subject.length, length);
          else await assert.rejects(finished, OidcUnavailable);
        }
      });
      await t.step("a code that was used, or belongs to another sign-in, is refused", async () => {
        const mine = await provider.begin(REDIRECT);
        const other = await provider.begin(REDIRECT);
        const back = await signInThere(mine.url, "ada");
        await assert.rejects(provider.finish(back, other.checks), OidcRefused);
        const forged = new URL(back);
        forged.searchParams.set("state", other.checks.state);
        await assert.rejects(provider.finish(forged, other.checks), OidcRefused);
        await assert.rejects(
          provider.finish(back, { ...mine.checks, nonce: other.checks.nonce }),
          OidcRefused,
        );
        await assert.rejects(provider.finish(back, mine.checks), OidcRefused, "redeemed before");
      });
      await t.step("who does not agree is refused", async () => {
        const { url, checks } = await provider.begin(REDIRECT);
        const back = await signInThere(url, "ada", false);
        assert.equal(back.searchParams.get("error"), "access_denied");
        await assert.rejects(provider.finish(back, checks), OidcRefused);
      });
      await t.step("the provider has another key: it is looked up", async () => {
        await running.stop();
        const port = Number(new URL(issuer).port);
        running = await startProvider({ ...ORDER, port, keyId: "second" });
        const { url, checks } = await provider.begin(REDIRECT);
        const claims = await provider.finish(await signInThere(url, "ada"), checks);
        assert.equal(claims.subject, "ada");
      });
      await t.step("it is down", async () => {
        const { url, checks } = await provider.begin(REDIRECT);
        const back = await signInThere(url, "ada");
        await running.stop();
        await assert.rejects(provider.finish(back, checks), OidcUnavailable);
        const fresh = createOidcProvider(settingsOf(issuer), Date.now);
        await assert.rejects(fresh.begin(REDIRECT), OidcUnavailable);
      });
    } finally {
      await running.stop();
    }
  },
});

/** What the tests' provider gives its tokens. */
const TOKEN_S = 3_600;

for (
  const [seconds, holds] of [
    [OIDC_CLOCK_LEEWAY_S, true],
    [-OIDC_CLOCK_LEEWAY_S, true],
    [-TOKEN_S - OIDC_CLOCK_LEEWAY_S + 60, true],
    [-TOKEN_S - OIDC_CLOCK_LEEWAY_S - 60, false],
  ] as const
) {
  Deno.test({
    name: `oidc: the provider's clock is ${seconds} s ahead: ${holds ? "taken" : "refused"}`,
    async fn() {
      const running = await startProvider({ ...ORDER, clockSeconds: seconds });
      try {
        const provider = createOidcProvider(settingsOf(running.issuer), Date.now);
        const { url, checks } = await provider.begin(REDIRECT);
        const finished = provider.finish(await signInThere(url, "ada"), checks);
        if (holds) assert.equal((await finished).subject, "ada");
        else await assert.rejects(finished, OidcRefused);
      } finally {
        await running.stop();
      }
    },
  });
}

Deno.test({
  name: "oidc: a provider with a malformed answer is unavailable",
  async fn() {
    for (const nonsense of ["hello", "{}", "[]", '{"issuer":"https://elsewhere.example"}']) {
      const server = Deno.serve(
        { port: 0, hostname: "127.0.0.1", onListen: () => {} },
        () => new Response(nonsense, { headers: { "Content-Type": "application/json" } }),
      );
      try {
        const provider = createOidcProvider(
          settingsOf(`http://127.0.0.1:${server.addr.port}`),
          Date.now,
        );
        await assert.rejects(provider.begin(REDIRECT), OidcUnavailable, nonsense);
      } finally {
        await server.shutdown();
      }
    }
  },
});

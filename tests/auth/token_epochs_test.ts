import assert from "node:assert/strict";
import { SignJWT } from "jose";
import { watchRevocations } from "../../src/auth/revocation_watch.ts";
import { createTokenEpochs } from "../../src/auth/token_epochs.ts";
import { createTokens } from "../../src/auth/tokens.ts";
import { DatabaseUnavailable } from "../../src/db/sql.ts";
import { TOKEN_EPOCH_CACHED_MS_MAX, TOKEN_EPOCH_FRESH_MS } from "../../src/limits.ts";
import { onBothEngines } from "../support/databases.ts";
import { withMembers } from "../support/fake_sql.ts";
import { pause, until } from "../support/server_process.ts";
import { authServer, counted, NOTHING_CONFIGURED, openMigrated, SECRET } from "./auth_server.ts";

const TOKENS = "/v1/internal/tokens";
const EVERYTHING = {
  subject: "ada",
  projects: "*",
  scopes: ["read", "admin"],
  ttlSeconds: 60,
} as const;

/** A token that somebody else signed with the shared secret. */
function foreign(claims: Record<string, unknown>): Promise<string> {
  return new SignJWT({ projects: ["*"], scope: "read", ...claims })
    .setProtectedHeader({ alg: "HS256" }).setExpirationTime("1h")
    .sign(new TextEncoder().encode(SECRET));
}

onBothEngines("revoked tokens: all existing ones, on every server", async (_, db) => {
  const sql = await openMigrated(db);
  let nowMs = Date.now();
  const now = () => nowMs;
  const [one, other] = [authServer(sql, { now }), authServer(sql, { now })];
  const [admin, reader] = [await one.grant(), await other.grant({ scopes: ["read"] })];
  const session = async (server: typeof one, token: string) => {
    const { status, body } = await server.call("GET", "/v1/session", token);
    return status === 200 ? status : [status, body.code, body.detail];
  };
  assert.deepEqual([await session(one, reader), await session(other, reader)], [200, 200]);

  const limited = await one.grant({ projects: ["prj_a"] });
  const refused = await one.call("DELETE", TOKENS, limited);
  assert.deepEqual([refused.status, refused.body.code], [403, "insufficient_scope"]);
  assert.equal((await one.call("DELETE", TOKENS, reader)).status, 403);
  const done = await one.call("DELETE", TOKENS, admin);
  assert.equal(done.status, 200);
  assert.ok(Math.abs(Date.parse(done.body.revokedAt) - Date.now()) < 60_000);

  const revoked = [401, "invalid_token", "The token has been revoked. Get a new one."];
  for (const token of [admin, reader, limited]) {
    assert.deepEqual(await session(one, token), revoked);
  }
  // A server that knows an epoch of less than 0.8 s ago may still go by it, and no longer.
  nowMs += TOKEN_EPOCH_CACHED_MS_MAX + 1;
  assert.deepEqual(await session(other, reader), revoked);
  const fresh = await other.grant();
  assert.deepEqual([await session(one, fresh), await session(other, fresh)], [200, 200]);
});

onBothEngines("revoked tokens: a provider's, by `iat`, and without one", async (_, db) => {
  const sql = await openMigrated(db);
  const server = authServer(sql);
  const at = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;
  const [before, undated] = [await foreign({ iat: at(-5) }), await foreign({})];
  const status = async (token: string) => (await server.call("GET", "/v1/session", token)).status;
  assert.deepEqual([await status(before), await status(undated)], [200, 200]);
  assert.equal((await server.call("DELETE", TOKENS, await server.grant())).status, 200);
  const after = await foreign({ iat: at(5) });
  assert.deepEqual(
    [await status(before), await status(undated), await status(after)],
    [401, 401, 200],
  );
  assert.equal(await status(await foreign({})), 401, "nobody knows when it was issued");
});

onBothEngines("token epochs: an outage revokes nothing and confirms nothing", async (_, db) => {
  const stored = await openMigrated(db);
  let isDown = false;
  let nowMs = Date.now();
  const sql = withMembers(stored, {
    query: (text, params) =>
      isDown ? Promise.reject(new DatabaseUnavailable("down")) : stored.query(text, params),
  });
  const epochs = createTokenEpochs(sql, () => nowMs);
  const config = { ...NOTHING_CONFIGURED, secret: SECRET };
  const tokens = createTokens(config, sql, () => nowMs, epochs);
  const token = await tokens.issue(EVERYTHING);
  assert.equal((await tokens.verify(token)).subject, "ada");
  isDown = true;
  nowMs += TOKEN_EPOCH_CACHED_MS_MAX;
  assert.equal((await tokens.verify(token)).subject, "ada");
  nowMs += 1;
  await assert.rejects(tokens.verify(token), DatabaseUnavailable);
  await assert.rejects(tokens.issue(EVERYTHING), DatabaseUnavailable);
  isDown = false;
  assert.equal((await tokens.verify(token)).subject, "ada");
});

onBothEngines("token epochs: two queries a second, for any number of requests", async (_, db) => {
  const sql = counted(await openMigrated(db));
  let nowMs = Date.now();
  const epochs = createTokenEpochs(sql, () => nowMs);
  const burst = () => Promise.all(Array.from({ length: 100 }, () => epochs.cached()));
  await burst();
  assert.equal(sql.queries, 1);
  nowMs += TOKEN_EPOCH_FRESH_MS;
  await burst();
  assert.equal(sql.queries, 1);
  nowMs += 1;
  await burst();
  assert.equal(sql.queries, 2, "asked for again in the background");
  await epochs.latest();
});

onBothEngines("a clock set back by an hour: our tokens stay valid, others wait", async (_, db) => {
  const sql = await openMigrated(db);
  let nowMs = Date.now();
  const server = authServer(sql, { now: () => nowMs });
  const own = await server.grant();
  const other = await foreign({ iat: Math.floor(nowMs / 1000) });
  const status = async (token: string) => (await server.call("GET", "/v1/session", token)).status;
  assert.deepEqual([await status(own), await status(other)], [200, 200]);
  nowMs -= 3_600_000;
  assert.deepEqual([await status(own), await status(other)], [200, 401]);
  // A revocation is heard all the same.
  assert.equal((await server.call("DELETE", TOKENS, await server.grant())).status, 200);
  assert.equal(await status(own), 401);
});

Deno.test("revoked tokens: open streams end with the epoch, and only then", async () => {
  let number = 3;
  let asked = 0;
  const streams = {
    listeners: 0,
    ended: 0,
    looked: 0,
    endAll: () => void streams.ended++,
    endRefused: () => Promise.resolve(void streams.looked++),
  };
  const epochs = {
    cached() {
      asked++;
      return number < 0
        ? Promise.reject(new DatabaseUnavailable("down"))
        : Promise.resolve({ number, begunAtMs: null });
    },
  };
  const stop = new AbortController();
  const looks = async (count: number) => {
    const before = asked;
    await until(20_000, () => Promise.resolve(asked >= before + count), "the epoch is asked for");
    await pause(0);
  };
  watchRevocations(epochs, streams, stop.signal);
  try {
    await looks(1);
    streams.listeners = 1;
    await looks(2);
    assert.equal(streams.ended, 0);
    assert.ok(streams.looked > 0, "each is asked whether its token holds");
    number = -1;
    await looks(1);
    assert.equal(streams.ended, 0, "an outage revokes nothing");
    number = 4;
    await looks(2);
    assert.equal(streams.ended, 1);
  } finally {
    stop.abort();
  }
});

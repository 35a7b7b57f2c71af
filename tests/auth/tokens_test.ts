import assert from "node:assert/strict";
import fc from "fast-check";
import {
  base64url,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  type JWTPayload,
  SignJWT,
  UnsecuredJWT,
} from "jose";
import { createTokens, type JwtConfig } from "../../src/auth/tokens.ts";
import { DatabaseUnavailable } from "../../src/db/sql.ts";
import { TOKEN_KEYS_RETRY_MS } from "../../src/limits.ts";
import { pause } from "../../src/turns/pause.ts";
import { Problem } from "../../src/problem.ts";
import { serveKeys } from "./key_server.ts";
import { onBothEngines } from "../support/databases.ts";
import { fakeSql, withMembers } from "../support/fake_sql.ts";
import { counted, NEVER_REVOKED, NOTHING_CONFIGURED, openMigrated, SECRET } from "./auth_server.ts";

const NOW_MS = Date.UTC(2026, 10, 21, 4);
const NOW_S = NOW_MS / 1000;
const BYTES = new TextEncoder().encode(SECRET);

function tokensOf(config: Partial<JwtConfig>, sql = fakeSql({}), now = () => NOW_MS) {
  return createTokens({ ...NOTHING_CONFIGURED, ...config }, sql, now, NEVER_REVOKED);
}

function signed(
  claims: JWTPayload,
  key: Parameters<SignJWT["sign"]>[0] = BYTES,
  header: { alg: string; kid?: string } = { alg: "HS256" },
): Promise<string> {
  return new SignJWT({ exp: NOW_S + 60, ...claims }).setProtectedHeader(header).sign(key);
}

function refused(code: string) {
  return (error: unknown) => {
    assert.ok(error instanceof Problem, String(error));
    assert.equal(error.code, code);
    if (error.status === 401) assert.ok(error.options.headers?.["WWW-Authenticate"]);
    return true;
  };
}

Deno.test("createTokens: issued tokens are verified with the same claims", async () => {
  const tokens = tokensOf({ secret: SECRET, issuer: "footfall", audience: "dashboards" });
  assert.equal(tokens.canIssue, true);
  const token = await tokens.issue({
    subject: "ada",
    projects: ["prj_a", "prj_b"],
    scopes: ["read", "write"],
    ttlSeconds: 60,
  });
  assert.deepEqual(await tokens.verify(token), {
    subject: "ada",
    projects: ["prj_a", "prj_b"],
    scopes: new Set(["read", "write"]),
    expiresAtMs: NOW_MS + 60_000,
    epoch: 0,
  });
  const every = { subject: "ada", projects: "*", scopes: ["jobs"], ttlSeconds: 60 } as const;
  assert.equal((await tokens.verify(await tokens.issue(every))).projects, "*");
});

Deno.test("createTokens: a secret may be as short as it is allowed to be", async () => {
  const tokens = tokensOf({ secret: "8 bytes!" });
  const grant = { subject: "ada", projects: [], scopes: [], ttlSeconds: 60 };
  assert.equal((await tokens.verify(await tokens.issue(grant))).subject, "ada");
});

Deno.test("verify: absent claims mean nothing is allowed, never everything", async () => {
  const { subject, scopes, projects } = await tokensOf({ secret: SECRET }).verify(await signed({}));
  assert.deepEqual({ subject, scopes, projects }, { subject: "", scopes: new Set(), projects: [] });
});

Deno.test("verify: exp is exact, nbf and iat have a leeway of 30 seconds", async () => {
  const { verify } = tokensOf({ secret: SECRET });
  await verify(await signed({ exp: NOW_S + 1 }));
  for (const exp of [NOW_S, NOW_S - 1, NOW_S - 3600, -1]) {
    await assert.rejects(verify(await signed({ exp })), refused("expired_token"));
  }
  for (const claim of ["nbf", "iat"]) {
    await verify(await signed({ [claim]: NOW_S + 29 }));
    await assert.rejects(verify(await signed({ [claim]: NOW_S + 31 })), refused("invalid_token"));
  }
});

Deno.test("verify: malformed claims are invalid_token", async () => {
  const { verify } = tokensOf({ secret: SECRET });
  const malformed: Record<string, unknown>[] = [
    { exp: undefined },
    { exp: "2030-01-01" },
    { exp: 1e300 },
    { iat: "now" },
    { nbf: {} },
    { sub: 7 },
    { scope: ["read"] },
    { scope: { read: true } },
    { projects: "*" },
    { projects: "prj_a" },
    { projects: { 0: "prj_a" } },
    { projects: ["prj_a", 7] },
    { projects: [null] },
    { projects: [""] },
    { projects: ["prj_\u0000"] },
  ];
  for (const claims of malformed) {
    const token = await signed(claims as JWTPayload);
    await assert.rejects(verify(token), refused("invalid_token"), JSON.stringify(claims));
  }
});

Deno.test("verify: iss and aud are checked only if they are configured", async () => {
  const strict = tokensOf({ secret: SECRET, issuer: "https://id.test", audience: "footfall" });
  const right = { iss: "https://id.test", aud: ["other", "footfall"] };
  await strict.verify(await signed(right));
  for (const wrong of [{ iss: "https://evil.test" }, { aud: "other" }, { iss: undefined }]) {
    const token = await signed({ ...right, ...wrong } as JWTPayload);
    await assert.rejects(strict.verify(token), refused("invalid_token"));
  }
  await tokensOf({ secret: SECRET }).verify(await signed({ iss: "anyone", aud: "anything" }));
});

Deno.test("verify: no algorithm but the configured one, whatever the token says", async () => {
  const { publicKey, privateKey } = await generateKeyPair("RS256", { extractable: true });
  const pem = await exportSPKI(publicKey);
  const rsa = tokensOf({ publicKey: pem });
  await rsa.verify(await signed({}, privateKey, { alg: "RS256" }));
  for (const text of [pem, pem.trim(), JSON.stringify(await exportJWK(publicKey))]) {
    const confused = await signed({}, new TextEncoder().encode(text));
    await assert.rejects(rsa.verify(confused), refused("invalid_token"));
  }
  const unsigned = new UnsecuredJWT({ projects: ["*"], scope: "admin" })
    .setExpirationTime(NOW_S + 60).encode();
  const hmac = tokensOf({ secret: SECRET });
  for (const tokens of [rsa, hmac]) {
    await assert.rejects(tokens.verify(unsigned), refused("invalid_token"));
    await assert.rejects(tokens.verify(`${unsigned}AAAA`), refused("invalid_token"));
  }
  await assert.rejects(
    hmac.verify(await signed({}, privateKey, { alg: "RS256" })),
    refused("invalid_token"),
  );
  const longer = new Uint8Array([...BYTES, ...BYTES]);
  for (const alg of ["HS384", "HS512"]) {
    const { verify } = tokensOf({ secret: SECRET + SECRET });
    await assert.rejects(verify(await signed({}, longer, { alg })), refused("invalid_token"));
  }
});

Deno.test("verify: any change to a token makes it invalid", async () => {
  const { verify } = tokensOf({ secret: SECRET });
  const [header, , signature] = (await signed({ scope: "read" })).split(".");
  const better = base64url.encode(JSON.stringify({ exp: NOW_S + 60, scope: "admin" }));
  await assert.rejects(verify(`${header}.${better}.${signature}`), refused("invalid_token"));
  await assert.rejects(
    verify(await signed({}, new TextEncoder().encode("another secret, as long as the first one"))),
    refused("invalid_token"),
  );
});

Deno.test("verify: any text that is not a token is invalid_token", async () => {
  const { verify } = tokensOf({ secret: SECRET });
  const segment = fc.oneof(
    fc.string(),
    fc.json().map((text) => base64url.encode(text)),
    fc.record({ alg: fc.constantFrom("HS256", "none", "RS256"), crit: fc.jsonValue() })
      .map((header) => base64url.encode(JSON.stringify(header))),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(segment, { maxLength: 6 }), async (segments) => {
      await assert.rejects(verify(segments.join(".")), refused("invalid_token"));
    }),
    { numRuns: 300 },
  );
});

Deno.test("createTokens: a public key, PEM or JWK, fixes the one algorithm of its type", async () => {
  const kinds = ["RS256", "ES256", "EdDSA"];
  const pairs = await Promise.all(kinds.map((alg) => generateKeyPair(alg, { extractable: true })));
  for (const [i, { publicKey }] of pairs.entries()) {
    const pem = await exportSPKI(publicKey);
    for (const text of [pem, JSON.stringify(await exportJWK(publicKey))]) {
      const tokens = tokensOf({ publicKey: text });
      for (const [j, { privateKey }] of pairs.entries()) {
        const token = await signed({ sub: "ada" }, privateKey, { alg: kinds[j]! });
        if (i === j) assert.equal((await tokens.verify(token)).subject, "ada");
        else await assert.rejects(tokens.verify(token), refused("invalid_token"));
      }
      assert.equal(tokens.canIssue, false);
      const grant = { subject: "ada", projects: [], scopes: [], ttlSeconds: 1 };
      await assert.rejects(tokens.issue(grant), refused("conflict"));
    }
  }
  const stranger = await generateKeyPair("ES256");
  const forged = await signed({}, stranger.privateKey, { alg: "ES256" });
  const own = tokensOf({ publicKey: await exportSPKI(pairs[1]!.publicKey) });
  await assert.rejects(own.verify(forged), refused("invalid_token"));
});

Deno.test("createTokens: a key that cannot be used is refused at the start", async () => {
  const p384 = await exportSPKI((await generateKeyPair("ES384", { extractable: true })).publicKey);
  const jwk = { kty: "oct", k: base64url.encode(SECRET) };
  for (const publicKey of ["", "no key", "{", "{}", JSON.stringify(jwk), p384]) {
    assert.throws(() => tokensOf({ publicKey }), /JWT_PUBLIC_KEY/, publicKey);
  }
  assert.throws(() => tokensOf({ secret: "7 bytes" }), /JWT_SECRET/);
  assert.throws(() => tokensOf({ secret: SECRET, jwksUrl: "http://127.0.0.1/" }), /only one/);
});

Deno.test("verify: a key set verifies RS256, ES256 and EdDSA by kid, fetched once", async () => {
  const kinds = ["RS256", "ES256", "EdDSA"];
  const pairs = await Promise.all(kinds.map((alg) => generateKeyPair(alg)));
  const keys = await Promise.all(
    pairs.map(async (pair, i) => ({ ...await exportJWK(pair.publicKey), kid: `key${i}` })),
  );
  const server = serveKeys([...keys, { kty: "oct", k: base64url.encode(SECRET), kid: "oct" }]);
  try {
    const tokens = tokensOf({ jwksUrl: server.url });
    assert.equal(tokens.canIssue, false);
    const good = await Promise.all(
      pairs.map(({ privateKey }, i) =>
        signed({ sub: `by${i}` }, privateKey, { alg: kinds[i]!, kid: `key${i}` })
      ),
    );
    const subjects = await Promise.all(good.map(async (t) => (await tokens.verify(t)).subject));
    assert.deepEqual(subjects, ["by0", "by1", "by2"]);
    assert.equal(server.fetches, 1);
    const confused = await signed({}, BYTES, { alg: "HS256", kid: "oct" });
    await assert.rejects(tokens.verify(confused), refused("invalid_token"));
    const stranger = await generateKeyPair("RS256");
    const forged = await signed({}, stranger.privateKey, { alg: "RS256", kid: "key0" });
    await assert.rejects(tokens.verify(forged), refused("invalid_token"));
    assert.equal(server.fetches, 1, "forged signatures must not hammer the identity provider");
    for (
      const [kid, code] of [["key1", "invalid_token"], [
        "unknown",
        "token_keys_unavailable",
      ]] as const
    ) {
      const unknown = await signed({}, stranger.privateKey, { alg: "RS256", kid });
      await assert.rejects(tokens.verify(unknown), refused(code));
    }
    assert.equal(server.fetches, 2, "unknown key ids must not hammer the identity provider");
  } finally {
    await server.close();
  }
});

Deno.test("verify: a key set that cannot be fetched is 503 with Retry-After, then heals", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const token = await signed({ sub: "ada" }, privateKey, { alg: "ES256" });
  const server = serveKeys([await exportJWK(publicKey)]);
  try {
    const tokens = tokensOf({ jwksUrl: server.url });
    const unavailable = (error: unknown) => {
      assert.ok(error instanceof Problem);
      assert.equal(error.code, "token_keys_unavailable");
      assert.equal(error.status, 503);
      assert.ok(error.options.headers?.["Retry-After"]);
      return true;
    };
    server.status = 500;
    await assert.rejects(tokens.verify(token), unavailable);
    server.status = 200;
    await pause(TOKEN_KEYS_RETRY_MS);
    server.keys = "nonsense";
    await assert.rejects(tokens.verify(token), unavailable);
    await pause(TOKEN_KEYS_RETRY_MS);
    server.keys = [await exportJWK(publicKey)];
    assert.equal((await tokens.verify(token)).subject, "ada");
  } finally {
    await server.close();
  }
  const gone = tokensOf({ jwksUrl: server.url });
  await assert.rejects(gone.verify(token), refused("token_keys_unavailable"));
});

onBothEngines(
  "createTokens: servers without a secret share one that is made once",
  async (_, db) => {
    const sql = counted(await openMigrated(db));
    const servers = [tokensOf({}, sql), tokensOf({}, sql), tokensOf({}, sql)];
    const grant = { subject: "ada", projects: [], scopes: [], ttlSeconds: 60 };
    const issued = await Promise.all(
      [...servers, ...servers].map((server) => server.issue(grant)),
    );
    const { queries } = sql;
    assert.ok(queries > 3 && queries <= 6, "each looks for the secret once, and then makes it");
    for (const server of servers) {
      for (const token of issued) assert.equal((await server.verify(token)).subject, "ada");
    }
    const rows = await sql.query<{ value: string }>("SELECT value FROM settings");
    assert.equal(rows.length, 1);
    assert.equal(base64url.decode(rows[0]!.value).length, 32);
    const full = withMembers(sql, {
      query: (text, params) =>
        text.startsWith("SELECT")
          ? sql.query(text, params)
          : Promise.reject(new DatabaseUnavailable("the disk is full")),
    });
    assert.equal((await tokensOf({}, full).verify(issued[0]!)).subject, "ada");
    const forged = await signed({}, BYTES);
    await assert.rejects(servers[0]!.verify(forged), refused("invalid_token"));
  },
);

onBothEngines(
  "verify: without the database a token is neither accepted nor refused",
  async (_, db) => {
    const sql = await openMigrated(db);
    let down = true;
    const failing = withMembers(sql, {
      query: (text, params) =>
        down ? Promise.reject(new DatabaseUnavailable("down")) : sql.query(text, params),
    });
    const tokens = tokensOf({}, failing);
    await assert.rejects(tokens.verify("a.b.c"), DatabaseUnavailable);
    down = false;
    await assert.rejects(tokens.verify("a.b.c"), refused("invalid_token"));
  },
);

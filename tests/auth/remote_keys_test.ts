import assert from "node:assert/strict";
import { type CryptoKey, type errors, exportJWK, generateKeyPair, SignJWT } from "jose";
import { type RemoteKeys, remoteKeys } from "../../src/auth/remote_keys.ts";
import { TOKEN_KEYS_PAUSE_MS, TOKEN_KEYS_RETRY_MS } from "../../src/limits.ts";
import { Problem } from "../../src/problem.ts";
import { serveKeys } from "./key_server.ts";

function signed(key: CryptoKey, kid?: string): Promise<string> {
  const header = { alg: "ES256", ...(kid === undefined ? {} : { kid }) };
  return new SignJWT({}).setProtectedHeader(header).sign(key);
}

/** What becomes of a token: "found", the library's code, or the problem's with its Retry-After. */
async function outcome(keys: RemoteKeys, token: string): Promise<string> {
  try {
    await keys.verify(token, { algorithms: ["ES256"] });
    return "found";
  } catch (error) {
    if (!(error instanceof Problem)) return (error as errors.JOSEError).code;
    return `${error.code} ${error.options.headers?.["Retry-After"]}`;
  }
}

Deno.test("remoteKeys: a new key is fetched at once; unknown ones cause one fetch in a while", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const jwk = await exportJWK(publicKey);
  const named = (kid: string) => ({ ...jwk, kid });
  const server = serveKeys([named("old")]);
  let nowMs = 0;
  const keys = remoteKeys(server.url, () => nowMs);
  const find = async (kid: string) => await outcome(keys, await signed(privateKey, kid));
  const missing = "ERR_JWKS_NO_MATCHING_KEY";
  const foundOut = async (...wanted: [kid: string, found: string][]) =>
    assert.deepEqual(
      await Promise.all(wanted.map(async ([kid]) => [kid, await find(kid)])),
      wanted,
    );
  try {
    await foundOut(["none", missing]);
    assert.equal(server.fetches, 1, "the first fetch began after the question");
    nowMs += 1;
    await foundOut(["old", "found"]);
    server.keys = [named("new")];
    await foundOut(["new", "found"], ["new", "found"], ["none", missing]);
    assert.equal(server.fetches, 2, "those that ask together share a fetch");

    nowMs += TOKEN_KEYS_PAUSE_MS - 1_500;
    server.keys = [named("next")];
    await foundOut(["new", "found"], ["next", "token_keys_unavailable 2"]);
    assert.equal(server.fetches, 2);
    nowMs += 1_500;
    server.status = 500;
    await foundOut(["next", "token_keys_unavailable 2"]);
    await foundOut(["next", "token_keys_unavailable 5"], ["new", "found"]);
    assert.equal(server.fetches, 3, "one that fails counts, too");
    nowMs += TOKEN_KEYS_PAUSE_MS;
    server.status = 200;
    await foundOut(["next", "found"], ["none", missing]);
    assert.equal(server.fetches, 4);
  } finally {
    await server.close();
  }
});

Deno.test("remoteKeys: a provider that fails is not asked for each token", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const server = serveKeys([{ ...await exportJWK(publicKey), kid: "key" }]);
  let nowMs = 0;
  const keys = remoteKeys(server.url, () => nowMs);
  const find = async (kid: string) => await outcome(keys, await signed(privateKey, kid));
  try {
    server.status = 500;
    for (const kid of ["one", "two", "key"]) {
      assert.equal(await find(kid), "token_keys_unavailable 2");
    }
    assert.equal(server.fetches, 1);
    assert.equal(await outcome(keys, "a.b.c"), "ERR_JWS_INVALID", "this is no token anywhere");
    nowMs += TOKEN_KEYS_RETRY_MS;
    await Promise.all(["one", "two", "key"].map(find));
    assert.equal(server.fetches, 2);
    server.status = 200;
    assert.equal(await find("key"), "token_keys_unavailable 2");
    nowMs += TOKEN_KEYS_RETRY_MS;
    assert.equal(await find("key"), "found");
    assert.equal(server.fetches, 3);
  } finally {
    await server.close();
  }
});

Deno.test("remoteKeys: a fetch that takes as long as the pause delays none that may follow", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ES256");
  const named = { ...await exportJWK(publicKey), kid: "key" };
  const server = serveKeys([named]);
  let nowMs = 0;
  const keys = remoteKeys(server.url, () => nowMs);
  const find = async (kid: string) => await outcome(keys, await signed(privateKey, kid));
  try {
    assert.equal(await find("key"), "found");
    nowMs += 1;
    // The reply takes as long as the pause.
    const slow = { get: () => (nowMs += TOKEN_KEYS_PAUSE_MS, 500), configurable: true };
    Object.defineProperty(server, "status", slow);
    assert.equal(await find("new"), "token_keys_unavailable 2");
    assert.equal(server.fetches, 2);
    nowMs += TOKEN_KEYS_RETRY_MS - 1_000;
    assert.equal(await find("new"), "token_keys_unavailable 2");
    assert.equal(server.fetches, 2, "none so soon after one that failed");
    Object.defineProperty(server, "status", { value: 200 });
    server.keys = [named, { ...named, kid: "new" }];
    nowMs += 1_000;
    assert.equal(await find("new"), "found");
  } finally {
    await server.close();
  }
});

Deno.test("remoteKeys: a token without a key id is refused only by the keys of now", async () => {
  const [before, after, stranger] = await Promise.all(
    [1, 2, 3].map(() => generateKeyPair("ES256")),
  );
  const server = serveKeys([await exportJWK(before!.publicKey)]);
  let nowMs = 0;
  const keys = remoteKeys(server.url, () => nowMs);
  const find = async (by: typeof before) => await outcome(keys, await signed(by!.privateKey));
  const refusal = "ERR_JWS_SIGNATURE_VERIFICATION_FAILED";
  try {
    assert.equal(await find(stranger), refusal, "the first fetch began after the question");
    nowMs += 1;
    assert.equal(await find(before), "found");
    assert.equal(server.fetches, 1);
    server.keys = [await exportJWK(after!.publicKey)];
    assert.equal(await find(after), "found");
    assert.equal(server.fetches, 2);
    nowMs += 1;
    assert.equal(await find(before), "token_keys_unavailable 5");
    assert.equal(server.fetches, 2, "made-up tokens must not hammer the identity provider");
    nowMs += TOKEN_KEYS_PAUSE_MS;
    assert.equal(await find(before), refusal);
    assert.equal(server.fetches, 3);
  } finally {
    await server.close();
  }
});

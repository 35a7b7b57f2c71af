import assert from "node:assert/strict";
import { ALLOWED_BODY_MS_MAX } from "../../../src/http/still_allowed.ts";
import { onBothEngines } from "../../support/databases.ts";
import { openMigrated } from "../auth_server.ts";
import { made, NOW_MS, signedIn, WANTED, world } from "./token_world.ts";

const later = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A body of which the last byte waits for `until`. */
function heldBody(body: unknown, until: Promise<unknown>): ReadableStream<Uint8Array> {
  const bytes = new TextEncoder().encode(JSON.stringify(body));
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(bytes.subarray(0, -1));
      await until;
      controller.enqueue(bytes.subarray(-1));
      controller.close();
    },
  });
}

onBothEngines("held requests: a caller locked out meanwhile has no effect", async (_, db) => {
  const sql = await openMigrated(db);
  const { clock, one, owner } = await world(sql);
  const ann = await signedIn(sql, one, "ann", "admin", "{*}");
  const handedOut = await made(one, owner, { scope: "admin read", projects: ["*"] });
  const asks = [
    [await ann(["admin", "read"]), "/v1/tokens", WANTED],
    [handedOut.token, "/v1/internal/tokens", { projects: ["*"], scope: "read", ttlSeconds: 60 }],
    [handedOut.token, "/v1/projects", { name: "Mine" }],
  ] as const;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  const held = asks.map(([token, path, body]) =>
    one.call("POST", path, token, heldBody(body, over))
  );
  // Of the time in which they are allowed.
  await later(10 * ALLOWED_BODY_MS_MAX);
  await sql.query("DELETE FROM person_sessions");
  assert.equal((await one.call("DELETE", `/v1/tokens/${handedOut.id}`, owner)).status, 204);
  // By then every server knows.
  clock.nowMs += 1_000;
  end();
  for (const answer of await Promise.all(held)) {
    assert.deepEqual([answer.status, answer.body.code], [401, "invalid_token"]);
  }
  assert.deepEqual(await sql.query("SELECT FROM api_tokens"), []);
});

onBothEngines("held requests: a caller still allowed is answered, however late", async (_, db) => {
  const { one, owner } = await world(await openMigrated(db));
  const body = heldBody(WANTED, later(10 * ALLOWED_BODY_MS_MAX));
  const answer = await one.call("POST", "/v1/tokens", owner, body);
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
});

onBothEngines("API tokens: an ended session makes none", async (_, db) => {
  const sql = await openMigrated(db);
  const { clock, one } = await world(sql);
  const token = await (await signedIn(sql, one, "ann", "admin", "{*}"))(["read"]);
  assert.equal((await one.call("GET", "/v1/session", token)).status, 200);
  // This server believes for a moment what it has just read.
  await sql.query("DELETE FROM person_sessions");
  assert.equal(clock.nowMs, NOW_MS);
  assert.equal((await one.call("GET", "/v1/session", token)).status, 200);
  const answer = await one.call("POST", "/v1/tokens", token, WANTED);
  assert.deepEqual([answer.status, answer.body.code], [401, "invalid_token"]);
});

onBothEngines("API tokens: a name alone neither shows nor revokes one", async (_, db) => {
  const { one } = await world(await openMigrated(db));
  const operator = await one.grant({ scopes: ["read", "write", "admin"] });
  const wide = await made(one, operator, { scope: "read write", projects: ["prj_a", "prj_b"] });
  const narrow = await made(one, operator, { scope: "read", projects: ["prj_a"] });
  const seen = async (token: string) =>
    (await one.call("GET", "/v1/tokens", token)).body.tokens
      .map(({ id }: { id: string }) => id).toSorted();
  // Of the same name, which all tokens of `footfall token` have.
  const reader = await one.grant({ scopes: ["read"], projects: ["prj_a"] });
  const elsewhere = await one.grant({ scopes: ["read", "write"], projects: ["prj_b"] });
  assert.deepEqual(await seen(operator), [wide.id, narrow.id].toSorted());
  assert.deepEqual(await seen(reader), [narrow.id]);
  assert.deepEqual(await seen(elsewhere), []);
  assert.equal((await one.call("DELETE", `/v1/tokens/${wide.id}`, reader)).status, 404);
  assert.equal((await one.call("DELETE", `/v1/tokens/${narrow.id}`, reader)).status, 204);
});

onBothEngines(
  "keys: only a token for every project may adopt another project's site",
  async (_, db) => {
    const { one, owner } = await world(await openMigrated(db));
    const site = { siteUrl: "https://www.shop.example/de" };
    assert.equal((await one.call("PATCH", "/v1/projects/prj_b", owner, site)).status, 200);
    const ofA = await one.grant({ scopes: ["admin"], projects: ["prj_a"] });
    const key = (value: string) => ({ kind: "public", value });
    const adopt = async (token: string, project: string, value: string) =>
      (await one.call("POST", `/v1/projects/${project}/keys`, token, key(value))).status;
    for (const value of ["shop.example", "www.Shop.example", "shop.example."]) {
      assert.equal(await adopt(ofA, "prj_a", value), 409, value);
    }
    assert.equal(await adopt(ofA, "prj_a", "other.example"), 201);
    const ofB = await one.grant({ scopes: ["admin"], projects: ["prj_b"] });
    assert.equal(await adopt(ofB, "prj_b", "shop.example"), 201);
    assert.equal(await adopt(owner, "prj_a", "www.shop.example"), 201);
  },
);

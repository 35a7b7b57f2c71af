import assert from "node:assert/strict";
import {
  API_TOKEN_CACHED_MS_MAX,
  API_TOKEN_FRESH_MS,
  API_TOKEN_LISTED_MS,
  API_TOKEN_USE_NOTED_MS,
  API_TOKENS_MAX,
  API_TOKENS_PER_MAKER_MAX,
} from "../../../src/auth/api_tokens/api_token_limits.ts";
import { deleteExpiredApiTokens } from "../../../src/auth/api_tokens/api_tokens.ts";
import { createLiveApiTokens } from "../../../src/auth/api_tokens/live_api_tokens.ts";
import { DatabaseUnavailable } from "../../../src/db/sql.ts";
import { Problem } from "../../../src/problem.ts";
import { onBothEngines } from "../../support/databases.ts";
import { withMembers } from "../../support/fake_sql.ts";
import { counted, openMigrated } from "../auth_server.ts";
import { iso, listed, made, NOW_MS, OWNER, WANTED, world } from "./token_world.ts";

onBothEngines(
  "API tokens: their last use, to the minute, and one query for many",
  async (_, db) => {
    const sql = await openMigrated(db);
    const { clock, now, one, owner } = await world(sql);
    const { id, token } = await made(one, owner);
    const asking = counted(sql);
    const tokens = createLiveApiTokens(asking, now);
    const principal = await one.tokens.verify(token);
    assert.equal(principal.apiTokenId, id);
    const lastUse = async () => {
      // The use is written down behind the request.
      for (let i = 0; i < 1_000; i++) {
        const [row] = await listed(one, owner);
        if (row?.lastUsedAt === iso(clock.nowMs)) return;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      assert.fail("the use was not written down");
    };
    await Promise.all(Array.from({ length: 50 }, () => tokens.assertHolds(principal)));
    await lastUse();
    assert.equal(asking.queries, 2, "one to look it up, one to write it down");
    clock.nowMs += API_TOKEN_FRESH_MS;
    await tokens.assertHolds(principal);
    assert.equal(asking.queries, 2, "known and noted");
    clock.nowMs += API_TOKEN_USE_NOTED_MS - API_TOKEN_FRESH_MS - 1;
    await tokens.assertHolds(principal);
    assert.equal(asking.queries, 3, "looked up, not noted");
    clock.nowMs += 1;
    await tokens.assertHolds(principal);
    await lastUse();
  },
);

onBothEngines("API tokens: without a database none is refused or accepted", async (_, db) => {
  const sql = await openMigrated(db);
  const { one, owner } = await world(sql);
  const principal = await one.tokens.verify((await made(one, owner)).token);
  const clock = { nowMs: NOW_MS, isLost: true };
  const losing = withMembers(sql, {
    query: (text, params) =>
      clock.isLost ? Promise.reject(new DatabaseUnavailable("lost")) : sql.query(text, params),
  });
  const tokens = createLiveApiTokens(losing, () => clock.nowMs);
  await assert.rejects(tokens.assertHolds(principal), DatabaseUnavailable);
  clock.isLost = false;
  await tokens.assertHolds(principal);
  clock.isLost = true;
  clock.nowMs += API_TOKEN_CACHED_MS_MAX;
  await tokens.assertHolds(principal);
  clock.nowMs += 1;
  await assert.rejects(tokens.assertHolds(principal), DatabaseUnavailable);
  const strange = { ...principal, apiTokenId: "tok_unknown" };
  clock.isLost = false;
  await assert.rejects(
    tokens.assertHolds(strange),
    (error) => error instanceof Problem && error.code === "invalid_token",
  );
});

onBothEngines("API tokens: the limits are exact", async (_, db) => {
  const sql = await openMigrated(db);
  const { one, owner } = await world(sql);
  const fill = (by: string, count: number) =>
    sql.query(
      `INSERT INTO api_tokens
        (token_id, name, scopes, projects, made_by, epoch, created_at, expires_at)
      SELECT 'tok_' || $1::text || n, 'x', '{read}', '{*}', $1::text, 0, now(), now()
      FROM generate_series(1, $2::int) n`,
      [by, count],
    );
  await fill("operator", API_TOKENS_PER_MAKER_MAX - 1);
  await made(one, owner);
  const mine = await one.call("POST", "/v1/tokens", owner, WANTED);
  assert.deepEqual([mine.status, mine.body.code], [409, "conflict"]);
  const other = await one.grant({ ...OWNER, subject: "other" });
  await fill("filler", API_TOKENS_MAX - API_TOKENS_PER_MAKER_MAX - 1);
  await made(one, other);
  const last = await one.call("POST", "/v1/tokens", other, WANTED);
  assert.deepEqual([last.status, last.body.code], [409, "conflict"]);
});

onBothEngines("API tokens: an expired one is listed for 30 days", async (_, db) => {
  const sql = await openMigrated(db);
  const { one, owner } = await world(sql);
  await made(one, owner, { expiresAt: iso(NOW_MS + 1_000) });
  const edgeMs = NOW_MS + 1_000 + API_TOKEN_LISTED_MS;
  assert.equal(await deleteExpiredApiTokens(sql, edgeMs), 0);
  assert.equal(await deleteExpiredApiTokens(sql, edgeMs + 1), 1);
});

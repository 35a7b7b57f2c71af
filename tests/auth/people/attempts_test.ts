import assert from "node:assert/strict";
import {
  type Attempt,
  deleteOldAttempts,
  judgeAttempt,
} from "../../../src/auth/people/attempts.ts";
import {
  SIGN_IN_ATTEMPTS_MAX,
  SIGN_IN_ATTEMPTS_MS,
} from "../../../src/auth/people/people_limits.ts";
import type { Sql } from "../../../src/db/sql.ts";
import { Problem } from "../../../src/problem.ts";
import { onBothEngines, onPostgres } from "../../support/databases.ts";
import { until } from "../../support/server_process.ts";
import { openMigrated } from "../auth_server.ts";

const NOW_MS = Date.UTC(2026, 10, 23, 12);

const attempt = (wanted: Partial<Attempt> = {}): Attempt => ({
  email: "ada@example.com",
  address: "203.0.113.7",
  nowMs: NOW_MS,
  ...wanted,
});

/** An attempt whose judgement ends so. */
async function tried(
  sql: Sql,
  code: "overloaded" | "invalid_credentials",
  one: Attempt,
): Promise<void> {
  const outcome = new Problem(code, "");
  await judgeAttempt(sql, one, () => Promise.reject(outcome)).catch((error) => {
    if (error !== outcome) throw error;
  });
}

/** One that fails. Throws `too_many_attempts`. */
const fails = (sql: Sql, one: Attempt) => tried(sql, "invalid_credentials", one);

/** One that succeeds. */
const succeeds = (sql: Sql, one: Attempt) => judgeAttempt(sql, one, () => Promise.resolve());

onBothEngines(
  "attempts: the bound is exact for many at once, and its window moves",
  async (_, db) => {
    const sql = await openMigrated(db);
    /** How many of these are taken. */
    const taken = async (attempts: Attempt[]) => {
      const results = await Promise.allSettled(attempts.map((one) => fails(sql, one)));
      const refused = results.filter((one) => one.status === "rejected");
      for (const { reason } of refused) {
        assert.ok(reason instanceof Problem && reason.code === "too_many_attempts", String(reason));
      }
      return results.length - refused.length;
    };
    const many = Array.from(
      { length: SIGN_IN_ATTEMPTS_MAX + 5 },
      (_, i) => attempt({ address: `198.51.100.${i}`, nowMs: NOW_MS + i }),
    );
    assert.equal(await taken(many), SIGN_IN_ATTEMPTS_MAX);
    // What was refused for the account did not count against its address.
    const spread = Array.from(
      { length: 10 },
      (_, i) => attempt({ email: `${i}@example.com`, address: "198.51.100.250" }),
    );
    assert.equal(await taken(spread), SIGN_IN_ATTEMPTS_MAX);
    assert.equal(await taken([attempt({ email: "11@example.com", address: "198.51.100.250" })]), 0);

    const last = NOW_MS + SIGN_IN_ATTEMPTS_MS;
    await assert.rejects(fails(sql, attempt({ nowMs: last - 1000 })), (error) => {
      const wait = Number((error as Problem).options.headers?.["Retry-After"]);
      assert.ok(wait >= 1 && wait <= 2, `${wait}`);
      return true;
    });
    assert.equal(await taken([attempt({ nowMs: last + 60_000 })]), 1);
  },
);

onBothEngines("attempts: one that could not be judged does not count as failed", async (_, db) => {
  const sql = await openMigrated(db);
  for (const code of ["overloaded", "invalid_credentials"] as const) {
    for (let i = 0; i < SIGN_IN_ATTEMPTS_MAX; i++) {
      await tried(sql, code, attempt({ nowMs: NOW_MS + i }));
    }
  }
  const judged = succeeds(sql, attempt({ nowMs: NOW_MS + 100 }));
  await assert.rejects(judged, { code: "too_many_attempts" });
});

onBothEngines("attempts: of some in one millisecond, a success removes one", async (_, db) => {
  const sql = await openMigrated(db);
  const count = async () =>
    (await sql.query<{ n: number }>(
      "SELECT cardinality(tried_at)::int AS n FROM sign_in_attempts ORDER BY 1",
    )).map(({ n }) => n);
  await fails(sql, attempt());
  await tried(sql, "overloaded", attempt());
  assert.deepEqual(await count(), [1, 1]);
  await fails(sql, attempt());
  await tried(sql, "overloaded", attempt({ nowMs: NOW_MS + 1 }));
  assert.deepEqual(await count(), [2, 2]);
  // Who gets in takes back nobody else's: an account of one's own is no way around the bound.
  await succeeds(sql, attempt({ email: "eve@example.com" }));
  assert.deepEqual(await count(), [2, 2]);
});

onBothEngines(
  "attempts: if the database goes away, the first error is reported",
  async (_, db) => {
    const sql = await openMigrated(db);
    const first = new Error("what failed first");
    const judged = judgeAttempt(sql, attempt(), async () => {
      await sql.close();
      throw first;
    });
    await assert.rejects(judged, (error) => error === first);
  },
);

onPostgres("attempts: one that is removed holds no lock while it waits", async (_, db) => {
  const sql = await openMigrated(db);
  const lock = (sql: Sql, order: "ASC" | "DESC") =>
    sql.query(
      `UPDATE sign_in_attempts SET tried_at = tried_at
      WHERE subject = (SELECT subject FROM sign_in_attempts ORDER BY subject ${order} LIMIT 1)`,
    );
  const isWaiting = async () =>
    (await sql.query("SELECT FROM pg_locks WHERE NOT granted")).length > 0;
  for (const orders of [["ASC", "DESC"], ["DESC", "ASC"]] as const) {
    const judging = Promise.withResolvers<void>();
    const taken = Promise.withResolvers<void>();
    const judged = judgeAttempt(sql, attempt(), async () => {
      taken.resolve();
      await judging.promise;
      throw new Problem("overloaded", "");
    });
    const ended = assert.rejects(judged, { code: "overloaded" });
    await taken.promise;
    await sql.transaction(async (inside) => {
      await lock(inside, orders[0]);
      judging.resolve();
      await until(20_000, isWaiting, "what is taken back waits");
      await lock(inside, orders[1]);
    });
    await ended;
    const left = await sql.query("SELECT FROM sign_in_attempts WHERE cardinality(tried_at) > 0");
    assert.equal(left.length, 0, "nothing is left of it");
  }
});

onBothEngines(
  "attempts: a success clears the account's failures, but not the address's",
  async (_, db) => {
    const sql = await openMigrated(db);
    const times = SIGN_IN_ATTEMPTS_MAX - 1;
    for (let i = 0; i < times; i++) await fails(sql, attempt({ nowMs: NOW_MS + i }));
    await succeeds(sql, attempt({ nowMs: NOW_MS + times }));
    // One more fits for the address, whoever it is for.
    await fails(sql, attempt({ email: "bo@example.com", nowMs: NOW_MS + times + 1 }));
    await assert.rejects(fails(sql, attempt({ email: "cy@example.com", nowMs: NOW_MS + 20 })));
    const elsewhere = attempt({ address: "192.0.2.9", nowMs: NOW_MS + 30 });
    for (let i = 0; i < SIGN_IN_ATTEMPTS_MAX; i++) await fails(sql, elsewhere);

    await deleteOldAttempts(sql, NOW_MS + SIGN_IN_ATTEMPTS_MS);
    assert.ok((await sql.query("SELECT FROM sign_in_attempts")).length > 0);
    await deleteOldAttempts(sql, NOW_MS + 2 * SIGN_IN_ATTEMPTS_MS);
    assert.equal((await sql.query("SELECT FROM sign_in_attempts")).length, 0);
  },
);

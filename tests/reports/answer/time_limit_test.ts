import assert from "node:assert/strict";
import { Problem } from "../../../src/problem.ts";
import { withinTime } from "../../../src/reports/answer/time_limit.ts";
import { onBothEngines } from "../../support/databases.ts";
import { until } from "../../support/server_process.ts";

const isTimeout = (error: unknown) =>
  error instanceof Problem && error.code === "read_timeout" &&
  /Ask for a shorter range/.test(error.message) &&
  error.options.headers?.["Retry-After"] !== undefined;

/** Without the limit it would take several times as long; with it, a fraction of a second. */
const ENDED_MS_MAX = 10_000;

onBothEngines("time limit: reads see one snapshot, and end in time", async (t, db) => {
  const database = await db.open();
  await database.script("CREATE TABLE things (n int); INSERT INTO things VALUES (1)");
  // Both engines compute this for seconds.
  const slow = "SELECT count(*) FROM generate_series(1, 30000) a, generate_series(1, 30000) b";
  const quick = "SELECT count(*) FROM generate_series(1, 200000)";

  await t.step("it is read-only, of one moment, and set up for analysis", async () => {
    const [row] = await withinTime(database, 5_000, 1, (sql) =>
      sql.query(
        `SELECT current_setting('transaction_isolation') AS isolation,
          current_setting('transaction_read_only') AS read_only, current_setting('jit') AS jit,
          current_setting('work_mem') AS work_mem,
          current_setting('cursor_tuple_fraction') AS fetched_share`,
      ));
    assert.deepEqual(row, {
      isolation: "repeatable read",
      read_only: "on",
      jit: "off",
      work_mem: "64MB",
      fetched_share: "1",
    });
    const [after] = await database.query("SELECT current_setting('work_mem') AS work_mem");
    assert.notEqual(after!.work_mem, "64MB");
    await assert.rejects(
      withinTime(database, 5_000, 1, (sql) => sql.query("INSERT INTO things VALUES (2)")),
      /read-only transaction/,
    );
    if (database.engine === "embedded") return;
    const counts = await withinTime(database, 5_000, 1, async (sql) => {
      const before = await sql.query("SELECT count(*) AS n FROM things");
      await database.script("INSERT INTO things VALUES (3)");
      return [before[0]!.n, (await sql.query("SELECT count(*) AS n FROM things"))[0]!.n];
    });
    assert.deepEqual(counts, [1, 1]);
  });

  await t.step("many quick statements end together with the read", async () => {
    const startedAt = performance.now();
    await assert.rejects(
      withinTime(database, 400, 1, async (sql) => {
        for (;;) await sql.query(quick);
      }),
      isTimeout,
    );
    assert.ok(performance.now() - startedAt < ENDED_MS_MAX);
    assert.equal((await database.query("SELECT 1 AS n"))[0]!.n, 1);
  });

  await t.step(
    "the limit holds after an inner transaction that set it was rolled back",
    async () => {
      const limits = await withinTime(database, 5_000, 1, async (sql) => {
        const limitMs = async (tx: typeof sql) => {
          const [row] = await tx.query(
            "SELECT setting::int AS ms FROM pg_settings WHERE name = 'statement_timeout'",
          );
          return row!.ms as number;
        };
        let innerMs = Infinity;
        const inner = sql.transaction(async (tx) => {
          await new Promise((resolve) => setTimeout(resolve, 200));
          innerMs = await limitMs(tx);
          throw new Error("rolled back");
        });
        await assert.rejects(inner, /rolled back/);
        return [innerMs, await limitMs(sql)];
      });
      assert.ok(limits.every((ms) => ms <= 4_801), `${limits}`);
    },
  );

  await t.step("what the work throws is thrown on", async () => {
    const failed = new Error("own");
    await assert.rejects(
      withinTime(database, 5_000, 1, () => Promise.reject(failed)),
      (error) => error === failed,
    );
    await assert.rejects(
      withinTime(database, 5_000, 1, (sql) => sql.query("SELECT nonsense")),
      { sqlState: "42703" },
    );
  });

  await t.step("one slow statement is cancelled, and the database is free at once", async () => {
    const startedAt = performance.now();
    await assert.rejects(
      withinTime(database, 300, 1, async (sql) => {
        await sql.query("SELECT 1");
        return await sql.query(slow);
      }),
      isTimeout,
    );
    assert.ok(performance.now() - startedAt < ENDED_MS_MAX);
    assert.equal((await database.query("SELECT 1 AS n"))[0]!.n, 1);
    if (database.engine === "embedded") return;
    await until(ENDED_MS_MAX, async () => {
      const [running] = await database.query(
        "SELECT count(*) AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%30000%' AND pid <> pg_backend_pid()",
      );
      return running!.n === 0;
    }, "it runs no more");
  });

  await t.step(
    "a read that nobody waits for ends at once",
    async () => {
      const gone = new AbortController();
      setTimeout(() => gone.abort(), 100);
      const startedAt = performance.now();
      const read = withinTime(database, 60_000, 1, (sql) => sql.query(slow), gone.signal);
      await assert.rejects(read, isTimeout);
      assert.equal((await database.query("SELECT 1 AS n"))[0]!.n, 1);
      assert.ok(performance.now() - startedAt < ENDED_MS_MAX);
      const late = withinTime(database, 5_000, 1, (sql) => sql.query("SELECT 1"), gone.signal);
      await assert.rejects(late, isTimeout);
    },
  );

  await t.step(
    "the reads of a project, however many, do not hold up another project's",
    async () => {
      if (database.engine === "embedded") {
        const order: number[] = [];
        const read = (projectId: number) =>
          withinTime(database, 60_000, projectId, async (sql) => {
            await sql.query("SELECT 1");
            order.push(projectId);
          });
        await Promise.all([3, 3, 3, 4, 4].map(read));
        assert.deepEqual(order, [3, 4, 3, 4, 3]);
        return;
      }
      const { promise: over, resolve: end } = Promise.withResolvers<void>();
      const ofOne = Array.from({ length: 6 }, () => withinTime(database, 60_000, 1, () => over));
      await withinTime(database, 10_000, 2, (sql) => sql.query("SELECT 1"));
      end();
      await Promise.all(ofOne);
    },
  );
});

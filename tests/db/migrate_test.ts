import assert from "node:assert/strict";
import {
  type LockPatience,
  type LockWait,
  migrate,
  type Migration,
  SchemaMismatch,
  SchemaTooNew,
} from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { StatementRefused } from "../../src/db/sql.ts";
import { openPostgres } from "../../src/db/postgres.ts";
import { onBareEngines, onPostgres } from "../support/databases.ts";
import { until } from "../support/server_process.ts";

const FIRST: Migration = {
  version: 1,
  name: "first",
  sql: "CREATE TABLE a (n int);\nINSERT INTO a VALUES (1);",
};
const SECOND: Migration = { version: 2, name: "second", sql: "ALTER TABLE a ADD m int DEFAULT 5" };
const BROKEN: Migration = { version: 3, name: "broken", sql: "CREATE TABLE b (n int); SELECT 1/0" };

onBareEngines(
  "migrate: applies what is missing, once, in order, all of a step or nothing",
  async (_t, db) => {
    const sql = await db.open();
    assert.deepEqual(await migrate(sql, [FIRST]), { applied: ["first"] });
    assert.deepEqual(await migrate(sql, [SECOND, FIRST]), { applied: ["second"] });
    assert.deepEqual(await migrate(sql, [FIRST, SECOND]), { applied: [] });
    const windows = { ...FIRST, sql: FIRST.sql.replaceAll("\n", "\r\n") };
    assert.deepEqual(await migrate(sql, [windows, SECOND]), { applied: [] });
    assert.deepEqual(await sql.query("SELECT * FROM a"), [{ n: 1, m: 5 }]);

    await assert.rejects(migrate(sql, [FIRST, SECOND, BROKEN]), StatementRefused);
    assert.deepEqual(await sql.query("SELECT to_regclass('b')::text AS b"), [{ b: null }]);
    assert.deepEqual(
      await sql.query("SELECT version, name FROM schema_migrations ORDER BY version"),
      [{ version: 1, name: "first" }, { version: 2, name: "second" }],
    );

    await assert.rejects(
      migrate(sql, [{ ...FIRST, sql: "CREATE TABLE a (n int8)" }, SECOND]),
      (error) => error instanceof SchemaMismatch && /Migration 1 \(first\)/.test(error.message),
    );
    await assert.rejects(
      migrate(sql, [FIRST]),
      (error) =>
        error instanceof SchemaTooNew &&
        /has schema 2; this program knows up to 1\. Start a newer/.test(error.message),
    );
  },
);

onBareEngines("migrate: programs that start at once apply each step once", async (_t, db) => {
  const first = await db.open();
  const starters = first.engine === "postgres"
    ? [first, await db.open(), await db.open()]
    : [first];
  const outcomes = await Promise.all(
    [...starters, ...starters].map((sql) => migrate(sql, [FIRST, SECOND])),
  );
  assert.deepEqual(outcomes.flatMap(({ applied }) => applied).sort(), ["first", "second"]);
  assert.deepEqual(await first.query("SELECT * FROM a"), [{ n: 1, m: 5 }]);
});

onPostgres(
  "migrate: one whose table is held lets others go on, and is tried again",
  async (_t, db) => {
    const sql = await db.open();
    const other = await db.open();
    const later = { version: 1_000, name: "later", sql: "ALTER TABLE projects ADD later int" };
    const waits: LockWait[] = [];
    const patience: LockPatience = {
      lockMs: 100,
      pauseMs: 300,
      onWait: (wait) => void waits.push(wait),
    };
    const held = Promise.withResolvers<void>();
    const waited = Promise.withResolvers<void>();
    const holding = other.transaction(async (tx) => {
      await tx.query("SELECT FROM projects");
      held.resolve();
      await waited.promise;
    });
    await held.promise;
    const migrating = migrate(sql, [...MIGRATIONS, later], patience);
    try {
      await until(30_000, () => Promise.resolve(waits.length >= 2), "the second try");
      assert.deepEqual(await other.query("SELECT project_id FROM projects"), [], "others go on");
    } finally {
      waited.resolve();
      await holding;
    }
    assert.deepEqual(await migrating, { applied: ["later"] });
    assert.deepEqual(await sql.query("SELECT later FROM projects"), []);
    const { migration, oldest, nextTryMs } = waits[0]!;
    assert.deepEqual([migration, nextTryMs], ["later", 300]);
    assert.ok(oldest !== null && oldest.pid > 0 && oldest.seconds < 60, JSON.stringify(oldest));
  },
);

onPostgres("migrate: one may take longer than any other statement", async (_t, db) => {
  const sql = openPostgres(db.env.DATABASE_URL!, {
    connectionsMax: 1,
    statementTimeoutMs: 100,
    applicationName: "tests",
  });
  try {
    // Beyond the margin after which any other statement has lost its connection.
    const long = { version: 1_000, name: "long", sql: "SELECT pg_sleep(2.5)" };
    assert.deepEqual(await migrate(sql, [...MIGRATIONS, long]), { applied: ["long"] });
  } finally {
    await sql.close();
  }
});

onPostgres("migrate: a new database of another encoding than UTF8 is refused", async (_t, db) => {
  const sql = await db.open();
  // Only a template of this name may be copied into another encoding; the tests' cluster has none.
  await sql.query("CREATE DATABASE template0 TEMPLATE template1");
  for (const encoding of ["LATIN1", "SQL_ASCII"]) {
    const name = `in_${encoding.toLowerCase()}`;
    await sql.query(`CREATE DATABASE ${name} TEMPLATE template0 ENCODING ${encoding}`);
    const other = openPostgres(db.env.DATABASE_URL!.replace(/[^/]*$/, name), {
      connectionsMax: 1,
      statementTimeoutMs: 15_000,
      applicationName: "tests",
    });
    try {
      await assert.rejects(
        migrate(other, [FIRST, SECOND]),
        (error) =>
          error instanceof SchemaMismatch &&
          error.message.includes(`${name} has the encoding ${encoding}; Footfall needs UTF8.`),
      );
    } finally {
      await other.close();
    }
  }
});

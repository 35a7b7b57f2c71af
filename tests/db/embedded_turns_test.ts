import assert from "node:assert/strict";
import { type EmbeddedDatabase, openEmbedded } from "../../src/db/embedded.ts";
import { READ_SNAPSHOT, type Sql } from "../../src/db/sql.ts";
import { makeDataDir } from "../support/embedded_template.ts";

async function withKept(work: (sql: EmbeddedDatabase) => Promise<void>): Promise<void> {
  const dataDir = await makeDataDir("footfall-turns-");
  try {
    const sql = await openEmbedded(dataDir);
    try {
      await sql.script("CREATE TABLE kept (n int)");
      await work(sql);
    } finally {
      await sql.close();
    }
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

const read = <T>(sql: EmbeddedDatabase, work: (snapshot: Sql) => Promise<T>): Promise<T> =>
  sql.transaction(work, undefined, () => [READ_SNAPSHOT]);

/** Returns the numbers that are kept, in order. */
async function keptIn(sql: Sql): Promise<number[]> {
  const rows = await sql.query<{ n: number }>("SELECT n FROM kept ORDER BY n");
  return rows.map(({ n }) => n);
}

/** Begins a read that holds the session until it is told to end; resolves once it has its turn. */
async function heldRead(sql: EmbeddedDatabase): Promise<() => Promise<void>> {
  const begun = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const over = read(sql, async (snapshot) => {
    await snapshot.query("SELECT 1");
    begun.resolve();
    await held.promise;
  });
  await begun.promise;
  return async () => {
    held.resolve();
    await over;
  };
}

Deno.test("openEmbedded: a write waits for the read that runs, and not for those that wait", () =>
  withKept(async (sql) => {
    const end = await heldRead(sql);
    const waiting = [1, 2, 3].map(() => read(sql, keptIn));
    const writes = [
      sql.query("INSERT INTO kept VALUES (1)"),
      sql.transaction(async (tx) => {
        await tx.query("INSERT INTO kept VALUES (2)");
        await tx.query("INSERT INTO kept VALUES (3)");
      }),
    ];
    await end();
    await Promise.all(writes);
    assert.deepEqual(await Promise.all(waiting), [[1, 2, 3], [1, 2, 3], [1, 2, 3]]);
  }));

Deno.test("openEmbedded: reads and writes that keep coming let each other have turns", () =>
  withKept(async (sql) => {
    let isOver = false;
    let written = 0;
    let reads = 0;
    const writing = [1, 2, 3].map(async () => {
      while (!isOver) {
        const before = reads;
        await sql.query("INSERT INTO kept VALUES ($1)", [++written]);
        // The one that runs, if any, and one that came before the write.
        assert.ok(reads - before <= 2, `${reads - before} reads before a write`);
      }
    });
    const reading = [1, 2, 3].map(async () => {
      for (let i = 0; i < 20; i++) {
        const before = written;
        await read(sql, async (snapshot) => {
          // Each of the two reads before it lets the three pass that wait then; so do those asked before it.
          assert.ok(written - before <= 12, `${written - before} writes before a read`);
          await keptIn(snapshot);
        });
        reads++;
      }
    });
    await Promise.all([Promise.all(reading).finally(() => isOver = true), ...writing]);
  }));

Deno.test("openEmbedded: a read sees what was asked for before it, and no part of a transaction", () =>
  withKept(async (sql) => {
    const end = await heldRead(sql);
    const first = sql.query("INSERT INTO kept VALUES (1)");
    const seen = read(sql, keptIn);
    const begun = Promise.withResolvers<void>();
    const pair = sql.transaction(async (tx) => {
      await tx.query("INSERT INTO kept VALUES (2)");
      begun.resolve();
      await new Promise((resolve) => setTimeout(resolve, 50));
      await tx.query("INSERT INTO kept VALUES (3)");
    });
    await end();
    await begun.promise;
    const later = read(sql, keptIn);
    await Promise.all([first, pair]);
    assert.deepEqual(await seen, [1, 2, 3]);
    assert.deepEqual(await later, [1, 2, 3]);
  }));

Deno.test("openEmbedded: closing waits for the reads and writes asked for before", () =>
  withKept(async (sql) => {
    const end = await heldRead(sql);
    const seen = read(sql, keptIn);
    const written = sql.query("INSERT INTO kept VALUES (1)");
    const closed = sql.close();
    await assert.rejects(sql.query("SELECT 1"), { message: /has been closed/ });
    await end();
    await written;
    assert.deepEqual(await seen, [1]);
    await closed;
  }));

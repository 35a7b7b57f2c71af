import assert from "node:assert/strict";
import { borrowDatabase } from "../../src/db/borrowed_database.ts";
import { LentDatabase } from "../../src/db/lent_database.ts";
import {
  type Database,
  DatabaseUnavailable,
  DiskFull,
  StatementRefused,
} from "../../src/db/sql.ts";
import { onFreshEngines } from "../support/databases.ts";
import { withMembers } from "../support/fake_sql.ts";

function lend(database: Database) {
  const { port1, port2 } = new MessageChannel();
  return {
    lent: new LentDatabase(database, port1),
    borrowed: borrowDatabase(port2, database.engine),
  };
}

const ENDLESS =
  "SELECT count(*) AS n FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b";

onFreshEngines("lent: a borrower's unfinished transactions are rolled back", async (_t, db) => {
  const database = await db.open();
  await database.script("CREATE TABLE kept (name text)");
  const { lent, borrowed } = lend(database);
  const insert = "INSERT INTO kept VALUES ($1)";
  await borrowed.transaction((tx) => tx.query(insert, ["before"]));
  const inside = Promise.withResolvers<void>();
  // It is gone before it ends them: nobody answers it any more.
  void borrowed.transaction(async (tx) => {
    await tx.query(insert, ["outer"]);
    await tx.transaction(async (inner) => {
      await inner.query(insert, ["inner"]);
      inside.resolve();
      await new Promise(() => {});
    });
  });
  await inside.promise;
  await lent.close();
  assert.deepEqual(await database.query("SELECT name FROM kept"), [{ name: "before" }]);
  await borrowed.close();
});

onFreshEngines("lent: settings that fail begin nothing", async (_t, db) => {
  const database = await db.open();
  const { lent, borrowed } = lend(database);
  const late = () => {
    throw new Error("The time is over");
  };
  const read = borrowed.transaction((tx) => tx.query("SELECT 1 AS n"), undefined, late);
  await assert.rejects(read, /The time is over/);
  // The only session of the embedded engine is free.
  assert.deepEqual(await database.query("SELECT 1 AS n"), [{ n: 1 }]);
  await lent.close();
  await borrowed.close();
});

onFreshEngines("lent: rest resolves once the only session is idle", async (_t, db) => {
  const database = await db.open();
  const { lent, borrowed } = lend(database);
  const LONG_MS = 600_000;
  await borrowed.rest!(LONG_MS);
  if (database.engine === "embedded") {
    const inside = Promise.withResolvers<void>();
    const ending = Promise.withResolvers<void>();
    const other = database.transaction(async (tx) => {
      await tx.query("SELECT 1");
      inside.resolve();
      await ending.promise;
    });
    await inside.promise;
    let isOver = false;
    const resting = borrowed.rest!(LONG_MS).then(() => void (isOver = true));
    // Whoever rests beside it looks several times meanwhile.
    await borrowed.rest!(200);
    assert.equal(isOver, false, "somebody has the session");
    ending.resolve();
    await other;
    await resting;
  }
  await borrowed.close();
  await lent.close();
});

onFreshEngines("lent: errors keep their kind", async (_t, db) => {
  const database = await db.open();
  const thrown = [
    new DatabaseUnavailable("away"),
    new DiskFull("full"),
    new StatementRefused("refused", "23514"),
    new Error("another"),
  ];
  const failing = withMembers(database, { query: () => Promise.reject(thrown[0]) });
  const { lent, borrowed } = lend(failing);
  while (thrown.length > 0) {
    const [expected] = thrown;
    await assert.rejects(borrowed.query("SELECT 1"), (error: Error) => {
      assert.equal(error.constructor, expected!.constructor);
      assert.deepEqual([error.name, error.message], [expected!.name, expected!.message]);
      return (error as StatementRefused).sqlState === (expected as StatementRefused).sqlState;
    });
    thrown.shift();
  }
  await borrowed.close();
  await lent.close();
});

onFreshEngines("lent: a statement ends when it is cancelled or takes too long", async (_t, db) => {
  const database = await db.open();
  const { lent, borrowed } = lend(database);
  const isCancelled = (error: unknown) =>
    error instanceof StatementRefused && error.sqlState === "57014";
  for (const way of ["query", "binary"] as const) {
    await assert.rejects(
      borrowed.transaction(async (tx) => {
        await tx.script("SET LOCAL statement_timeout = 100");
        await tx[way](ENDLESS);
      }),
      isCancelled,
    );
    if (database.engine === "postgres") continue;
    const cancelling = new AbortController();
    const running = borrowed.transaction<unknown>((tx) => {
      const endless = tx[way](ENDLESS);
      cancelling.abort();
      return endless;
    }, cancelling.signal);
    await assert.rejects(running, isCancelled);
  }
  assert.deepEqual(await borrowed.query("SELECT 1 AS a"), [{ a: 1 }]);
  await borrowed.close();
  await lent.close();
});

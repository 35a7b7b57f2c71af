import assert from "node:assert/strict";
import { setImmediate } from "node:timers";
import fc from "fast-check";
import {
  type Database,
  DatabaseUnavailable,
  type Param,
  type Row,
  type Sql,
  StatementRefused,
} from "../../src/db/sql.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import { Writer } from "../../src/ingest/writer.ts";
import { FLUSH_BESIDE_ROWS_MIN } from "../../src/ingest/ingest_limits.ts";
import { FLUSH_BYTES_MAX, FLUSHES_CHECKED } from "../../src/limits.ts";
import { Problem } from "../../src/problem.ts";
import { onBothEngines, type TestDatabase } from "../support/databases.ts";
import { newRow, openWithProjects, storedNames, storedRows } from "../support/event_rows.ts";
import { fakeSql, withMembers } from "../support/fake_sql.ts";

interface Flush {
  readonly rows: number;
  readonly requests: number;
}

function newWriter(
  sql: Sql,
  bounds: { flushesAtOnce?: number; queuedRowsMax?: number; queuedBytesMax?: number } = {},
) {
  const flushes: Flush[] = [];
  const writer = new Writer(sql, {
    flushesAtOnce: 1,
    observe: ({ rows, requests }) => flushes.push({ rows, requests }),
    ...bounds,
  });
  return { writer, flushes };
}

/** The same database, whose statements wait until `open` is called. `begun` resolves with the first one. */
function gated(database: Database): { sql: Sql; begun: Promise<void>; open: () => void } {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  return {
    begun: begun.promise,
    open: () => gate.resolve(),
    sql: fakeSql({
      query: async (text, params) => {
        begun.resolve();
        await gate.promise;
        return await database.query(text, params);
      },
      transaction: async (work) => (await gate.promise, await database.transaction(work)),
    }),
  };
}

/** What a database costs to make is paid once for all of them. */
const steps = new Map<string, (database: Database, db: TestDatabase) => Promise<void>>();

onBothEngines("Writer", async (t, db) => {
  const database = await openWithProjects(db);
  for (const [name, step] of steps) {
    await database.script("DELETE FROM journal; DELETE FROM event_ids");
    await t.step(name, () => step(database, db));
  }
});

const NOBODY = new Set<string>();
/** PostgreSQL refuses it, whichever engine: a byte more than an id has. */
const badRow = () => newRow({ name: "bad", event_id: `${crypto.randomUUID()}00` });

steps.set("rows are stored when the promise resolves", async (database) => {
  const { writer, flushes } = newWriter(database);
  const row = newRow({ name: "kept" });
  assert.deepEqual(await writer.write([row], 100), { duplicates: 0, refused: NOBODY });
  assert.equal((await storedNames(database)).get(row.event_id), "kept");
  assert.deepEqual(await writer.write([row], 100), { duplicates: 1, refused: NOBODY });
  assert.deepEqual(flushes, [{ rows: 1, requests: 1 }, { rows: 1, requests: 1 }]);
  assert.deepEqual(await writer.write([], 0), { duplicates: 0, refused: NOBODY });
});

steps.set("requests gather while a flush is under way, and share the next", async (database) => {
  const gate = gated(database);
  const { writer, flushes } = newWriter(gate.sql);
  const shared = newRow({ name: "first" });
  const first = writer.write([newRow()], 1);
  await gate.begun;
  const written = Promise.all([
    first,
    writer.write([shared, newRow()], 1),
    writer.write([newRow(), { ...shared, name: "second" }], 1),
    writer.write([{ ...shared, name: "third" }, { ...shared, project_id: 2, name: "two" }], 1),
  ]);
  assert.equal(writer.depth, 7);
  gate.open();
  assert.deepEqual((await written).map(({ duplicates }) => duplicates), [0, 0, 1, 1]);
  assert.deepEqual(flushes, [{ rows: 1, requests: 1 }, { rows: 4, requests: 3 }]);
  assert.equal(writer.depth, 0);
  const rows = (await storedRows(database)).filter((row) => row.event_id === shared.event_id);
  assert.deepEqual(rows.map(({ project_id, name }) => [project_id, name]), [[1, "first"], [
    2,
    "two",
  ]]);
});

/** Rows of one request. */
const rowsOf = (count: number): EventRow[] => Array.from({ length: count }, () => newRow());

const turn = () => new Promise((resolve) => setImmediate(resolve));

steps.set("a flush holds so many bytes, or one request", async (database) => {
  const gate = gated(database);
  const { writer, flushes } = newWriter(gate.sql);
  const first = writer.write([newRow()], 1);
  await gate.begun;
  const bytes = [1, FLUSH_BYTES_MAX - 1, 1, 3 * FLUSH_BYTES_MAX, 1];
  const written = [first, ...bytes.map((each) => writer.write([newRow()], each))];
  gate.open();
  await Promise.all(written);
  assert.deepEqual(flushes.map(({ requests }) => requests), [1, 2, 1, 1, 1]);
});

steps.set("one row that the database refuses does not fail its neighbours", async (database) => {
  const gate = gated(database);
  const { writer } = newWriter(gate.sql);
  const known = newRow();
  const bad = [badRow(), badRow(), badRow()];
  const requests: EventRow[][] = [
    [known],
    [newRow(), known],
    [newRow(), bad[0]!, newRow(), bad[1]!, known],
    [bad[2]!],
    [newRow(), newRow()],
  ];
  const written = Promise.all(requests.map((rows) => writer.write(rows, 1)));
  gate.open();
  assert.deepEqual(await written, [
    { duplicates: 0, refused: NOBODY },
    { duplicates: 1, refused: NOBODY },
    { duplicates: 1, refused: new Set([bad[0]!.event_id, bad[1]!.event_id]) },
    { duplicates: 0, refused: new Set([bad[2]!.event_id]) },
    { duplicates: 0, refused: NOBODY },
  ]);
  const stored = await storedNames(database);
  const good = requests.flat().filter((row) => !bad.includes(row)).map((row) => row.event_id);
  assert.deepEqual(new Set(stored.keys()), new Set(good));
});

steps.set("of one request all rows are stored or none", async (database) => {
  // The trial inserts succeed; the one statement that stores the good rows finds the database gone.
  const sql = withMembers(database, {
    query: async <R extends Row>(text: string, params?: readonly Param[]) => {
      const rows = await database.query<R>(text, params);
      if (text.includes("INSERT INTO")) throw new DatabaseUnavailable("lost the answer");
      return rows;
    },
  });
  const { writer } = newWriter(sql);
  const rows = [newRow(), badRow(), newRow()];
  await assert.rejects(writer.write(rows, 1), DatabaseUnavailable);
  const again = newWriter(database).writer;
  const { duplicates, refused } = await again.write(rows, 1);
  // The answer was lost after the commit, so that the retry finds both stored.
  assert.deepEqual([duplicates, refused], [2, new Set([rows[1]!.event_id])]);
});

steps.set("a trial that is aborted in passing refuses no row", async (database) => {
  const aborted = ["40P01", "40001"];
  const sql = withMembers(database, {
    transaction: <T>(work: (sql: Sql) => Promise<T>) => {
      const sqlState = aborted.pop();
      return sqlState === undefined
        ? database.transaction(work)
        : Promise.reject(new StatementRefused("aborted", sqlState));
    },
  });
  const bad = badRow();
  const { refused } = await newWriter(sql).writer.write([newRow(), bad, newRow()], 1);
  assert.deepEqual([refused, aborted.length], [new Set([bad.event_id]), 0]);
});

steps.set("another schema refuses no row: all are stored once it is mended", async (database) => {
  const { writer } = newWriter(database);
  const rows = [newRow(), newRow()];
  await database.script("ALTER TABLE journal RENAME COLUMN block TO renamed");
  try {
    await assert.rejects(writer.write(rows, 1), { name: "DatabaseUnavailable", message: /42703/ });
  } finally {
    await database.script("ALTER TABLE journal RENAME COLUMN renamed TO block");
  }
  assert.deepEqual(await writer.write(rows, 1), { duplicates: 0, refused: NOBODY });
});

steps.set("one project leaves others a share of the queue", async (database) => {
  for (const bounds of [{ queuedRowsMax: 4 }, { queuedBytesMax: 40 }]) {
    const gate = gated(database);
    const { writer } = newWriter(gate.sql, bounds);
    const write = (project_id: number) => writer.write([newRow({ project_id })], 10);
    const waiting = [write(1), write(1), write(1)];
    assert.equal(writer.isFullFor(1), false, "three quarters are allowed");
    gate.open();
    await Promise.all(waiting);
    await writer.drain();

    const again = gated(database);
    const narrow = newWriter(again.sql, bounds).writer;
    const large = narrow.write(Array.from({ length: 3 }, () => newRow()), 30);
    const more = narrow.write([newRow()], 1);
    assert.equal(narrow.full, "queuedRowsMax" in bounds);
    assert.equal(narrow.isFullFor(1), true);
    await assert.rejects(narrow.write([newRow()], 1), { code: "overloaded" });
    assert.equal(narrow.isFullFor(2), narrow.full);
    again.open();
    await Promise.all([large, more]);
    await narrow.drain();
    assert.equal(narrow.isFullFor(1), false);
  }
});

steps.set("a full queue is overloaded, and takes rows again once it has room", async (database) => {
  for (const bounds of [{ queuedRowsMax: 2 }, { queuedBytesMax: 20 }]) {
    const gate = gated(database);
    const { writer } = newWriter(gate.sql, bounds);
    const waiting = [writer.write([newRow()], 10), writer.write([newRow()], 10)];
    assert.equal(writer.full, true);
    const turnedAway = newRow();
    await assert.rejects(writer.write([turnedAway], 10), (error) => {
      assert.ok(error instanceof Problem);
      assert.equal(error.code, "overloaded");
      assert.match(error.options.headers?.["Retry-After"] ?? "", /^\d+$/);
      return true;
    });
    gate.open();
    await Promise.all(waiting);
    await writer.drain();
    assert.equal(writer.full, false);
    assert.ok(!(await storedNames(database)).has(turnedAway.event_id));
    assert.equal((await writer.write([turnedAway], 10)).duplicates, 0);
  }
});

steps.set("drain waits for all that was handed over", async (database) => {
  const { writer } = newWriter(database);
  const rows = Array.from({ length: 30 }, () => newRow());
  rows.forEach((row) => void writer.write([row], 1));
  await writer.drain();
  assert.equal((await storedNames(database)).size, 30);
  await writer.drain();
});

steps.set("two servers that store overlapping rows agree who was first", async (database, db) => {
  const other = (await openSecond(database, db)) ?? database;
  const writers = [newWriter(database).writer, newWriter(other).writer];
  const pool = Array.from({ length: 60 }, (_, i) => newRow({ name: String(i) }));
  let sent = 0;
  let duplicates = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.subarray(pool, { minLength: 1 }), { minLength: 2, maxLength: 8 }),
      async (requests) => {
        const written = await Promise.all(
          requests.map((rows, i) => writers[i % 2]!.write(rows, 1)),
        );
        sent += requests.flat().length;
        duplicates += written.reduce((sum, one) => sum + one.duplicates, 0);
        assert.equal(sent - duplicates, (await storedNames(database)).size);
      },
    ),
    { numRuns: 20 },
  );
});

steps.set("a closed database is DatabaseUnavailable to every waiting request", async (database) => {
  await database.close();
  const { writer, flushes } = newWriter(database);
  const results = await Promise.allSettled([
    writer.write([newRow()], 1),
    writer.write([newRow()], 1),
  ]);
  for (const result of results) {
    assert.equal(result.status, "rejected");
    assert.ok(result.reason instanceof DatabaseUnavailable);
  }
  assert.deepEqual(flushes, []);
  await writer.drain();
  assert.equal(writer.depth, 0);
});

/** PostgreSQL serves several servers; the embedded database one. */
function openSecond(database: Database, db: { open(): Promise<Database> }) {
  return database.engine === "postgres" ? db.open() : Promise.resolve(null);
}

Deno.test("Writer: errors that rows do not cause refuse none of them", async () => {
  // It took too long, may not, knows no such column, cannot, waited for a lock, is aborted each time.
  for (const sqlState of ["57014", "42501", "42703", "0A000", "55P03", "40P01"]) {
    const refuse = () => Promise.reject(new StatementRefused("refused", sqlState));
    const query = (text: string) => text.includes("to_regclass") ? Promise.resolve([]) : refuse();
    const sql = fakeSql({ query: query as Sql["query"], transaction: refuse });
    const { writer } = newWriter(sql);
    const both = [writer.write([newRow()], 100), writer.write([newRow()], 100)];
    for (const one of both) await assert.rejects(one, DatabaseUnavailable, sqlState);
  }
});

Deno.test("Writer: after a replay, FLUSHES_CHECKED flushes are checked for others", async () => {
  const ways: string[] = [];
  const replay = newRow();
  const query = (text: string) => {
    if (text.includes("to_regclass")) return Promise.resolve([]);
    const looks = text.includes("ON CONFLICT");
    ways.push(looks ? "looks" : "new");
    if (ways.length === 1) return Promise.reject(new StatementRefused("duplicate key", "23505"));
    return Promise.resolve(ways.length === 2 ? [replay] : []);
  };
  const { writer } = newWriter(fakeSql({ query: query as Sql["query"] }));
  assert.equal((await writer.write([replay], 1)).duplicates, 1);
  for (let i = 0; i < FLUSHES_CHECKED + 2; i++) await writer.write([newRow()], 1);
  assert.deepEqual(ways, [
    "new",
    ...Array.from({ length: FLUSHES_CHECKED + 1 }, () => "looks"),
    "new",
    "new",
  ]);
});

/** A writer whose statements wait until `open` is called, and the number of rows of each of them. */
function beside(besideMs: number) {
  const rowsOfEach: number[] = [];
  const gate = Promise.withResolvers<void>();
  const query = async (text: string, params: readonly Param[] = []) => {
    if (text.includes("to_regclass")) return [];
    rowsOfEach.push(String(params[1]).split("-").length >> 2);
    await gate.promise;
    return [];
  };
  const sql = fakeSql({ query: query as Sql["query"] });
  const writer = new Writer(sql, { flushesAtOnce: 2, besideMs, observe: () => {} });
  return { writer, rowsOfEach, open: gate.resolve };
}

Deno.test("Writer: a flush starts beside another one with enough rows", async () => {
  const { writer, rowsOfEach, open } = beside(1e9);
  const least = FLUSH_BESIDE_ROWS_MIN;
  const written = [];
  for (
    const [rows, started] of [[1, [1]], [least - 1, [1]], [1, [1, least]], [least, [1, least]]]
  ) {
    written.push(writer.write(rowsOf(rows as number), 1));
    for (let i = 0; i < 20; i++) await turn();
    assert.deepEqual(rowsOfEach, started);
  }
  open();
  await Promise.all(written);
  assert.deepEqual(rowsOfEach, [1, least, least]);
});

Deno.test("Writer: a slow flush holds up no other, however small", async () => {
  const { writer, rowsOfEach, open } = beside(5);
  const written = [writer.write(rowsOf(1), 1)];
  while (rowsOfEach.length === 0) await turn();
  written.push(writer.write(rowsOf(2), 1));
  while (rowsOfEach.length === 1) await new Promise((resolve) => setTimeout(resolve, 1));
  open();
  await Promise.all(written);
  assert.deepEqual(rowsOfEach, [1, 2]);
});

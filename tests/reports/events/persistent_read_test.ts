import assert from "node:assert/strict";
import { DatabaseUnavailable, type Sql, StatementRefused } from "../../../src/db/sql.ts";
import { readPersistently } from "../../../src/reports/events/persistent_read.ts";
import { ClientGone } from "../../../src/http/client_gone.ts";
import { ScanLost } from "../../../src/scans/scan_pool.ts";
import { newEvent, TestApp } from "../../support/app.ts";
import { onPostgres } from "../../support/databases.ts";

const NOBODY_GOES = new AbortController().signal;

/** A read that fails like this, one failure after the other, and then comes to 7. */
function failing(...failures: Error[]) {
  let tries = 0;
  const read = () => {
    const failure = failures[tries++];
    return failure === undefined ? Promise.resolve(7) : Promise.reject(failure);
  };
  return { read, tries: () => tries };
}

const PASSING = [
  new DatabaseUnavailable("The connection was lost"),
  new StatementRefused("canceling statement due to statement timeout", "57014"),
  new StatementRefused("canceling statement due to conflict with recovery", "40001"),
  new ScanLost("A worker was lost twice"),
];

Deno.test("an export repeats a read whose failure is temporary", async () => {
  const { read, tries } = failing(...PASSING);
  assert.equal(await readPersistently(read, NOBODY_GOES, [0, 0, 0, 0]), 7);
  assert.equal(tries(), 5);
});

Deno.test("an export gives up once the pauses are over, with the last reason", async () => {
  const { read, tries } = failing(...PASSING);
  await assert.rejects(readPersistently(read, NOBODY_GOES, [0, 0]), PASSING[2]);
  assert.equal(tries(), 3);
});

Deno.test("an export ends at once if the failure is lasting", async () => {
  const failures = [
    new StatementRefused("relation does not exist", "42P01"),
    new Error("A journal block is damaged"),
  ];
  for (const failure of failures) {
    const { read, tries } = failing(failure);
    await assert.rejects(readPersistently(read, NOBODY_GOES, [0]), failure);
    assert.equal(tries(), 1);
  }
});

Deno.test("an export whose reader has gone reads nothing again", async () => {
  const gone = new AbortController();
  const { read, tries } = failing(...PASSING);
  const reading = readPersistently(read, gone.signal, [3_600_000]);
  gone.abort();
  await assert.rejects(reading, ClientGone);
  assert.equal(tries(), 1);
  await assert.rejects(readPersistently(read, gone.signal), ClientGone);
  assert.equal(tries(), 1);
});

interface Waiting extends Record<string, unknown> {
  readonly pid: number;
  readonly since: string;
}

/** Finds the session of this database that waits for a lock, and when its transaction began. */
async function waiting(sql: Sql): Promise<Waiting | null> {
  const [row] = await sql.query<Waiting>(
    `SELECT pid, xact_start::text AS since FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock' LIMIT 1`,
  );
  return row ?? null;
}

const pause = () => new Promise((resolve) => setTimeout(resolve, 10));

/** Cancels the first statement that waits for a lock; resolves once it waits no more. */
async function cancelWaiting(sql: Sql): Promise<void> {
  let first = await waiting(sql);
  for (; first === null; first = await waiting(sql)) await pause();
  await sql.query("SELECT pg_cancel_backend($1::int)", [first.pid]);
  while ((await waiting(sql))?.since === first.since) await pause();
}

// The embedded engine has one session, so nothing can block a read.
onPostgres("an export outlives a statement that the database cancels", async (_, db) => {
  const database = await db.open();
  const server = await new TestApp(db.env).start();
  try {
    const project = await server.project();
    const nowMs = Date.now();
    const events = Array.from({ length: 20 }, (_, i) => newEvent({ timestamp: nowMs - i }));
    await server.post(project, events);
    await server.read(project);
    // Under filters, events are read from segments.
    const filters = JSON.stringify([{ field: "name", op: "is_not", values: ["none"] }]);
    const { reading } = await database.transaction(async (tx) => {
      await tx.query("LOCK TABLE segments IN ACCESS EXCLUSIVE MODE");
      const reading = server.read(project, { filters }, { Accept: "application/x-ndjson" });
      await cancelWaiting(database);
      return { reading };
    });
    const { status, body } = await reading;
    assert.equal(status, 200);
    const ids = body.trim().split("\n").map((line: string) => JSON.parse(line).eventId);
    assert.deepEqual(ids, events.map(({ eventId }) => eventId));
  } finally {
    await server.stop();
  }
});

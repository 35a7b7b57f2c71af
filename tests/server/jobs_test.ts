import assert from "node:assert/strict";
import { createLog } from "../../src/http/log.ts";
import { createSalts } from "../../src/ingest/salts.ts";
import { isNightlyDue, JOBS, type JobServices, runJob } from "../../src/server/jobs.ts";
import { createProjection } from "../../src/projection/projection.ts";
import type { EventRow } from "../../src/store/event_row.ts";
import type { Database } from "../../src/db/sql.ts";
import { insertEvents } from "../../src/ingest/event_insert.ts";
import { JOURNAL_PURGE_CHUNK_ROWS } from "../../src/ingest/ingest_limits.ts";
import { JOURNAL_KEPT_MS } from "../../src/store/store_limits.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow, openWithProjects } from "../support/event_rows.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const DAY = 86_400_000;
const NOTHING_TOLD = { runDue: () => Promise.resolve(), deleteOld: () => Promise.resolve() };
const NO_CAPTURES = { queueDaily: () => Promise.resolve(), deleteOld: () => Promise.resolve() };

async function run(
  name: string,
  database: Database,
  nowMs: number,
  move: JobServices["move"] = null,
): Promise<string[]> {
  const lines: string[] = [];
  const now = () => nowMs;
  const log = createLog({
    level: "info",
    format: "json",
    colour: false,
    now,
    write: (line) => lines.push(line),
  });
  const salts = createSalts(
    database,
    now,
    (count) => crypto.getRandomValues(new Uint8Array(count)),
  );
  const job = JOBS.find((candidate) => candidate.name === name);
  assert.ok(job, `no job is named ${name}`);
  await job.run({
    database,
    salts,
    captures: NO_CAPTURES,
    notifications: NOTHING_TOLD,
    log,
    now,
    move,
  });
  return lines;
}

const steps = new Map<string, (database: Database) => Promise<void>>();

onBothEngines("JOBS", async (t, db) => {
  const database = await openWithProjects(db);
  for (const [name, step] of steps) await t.step(name, () => step(database));
});

Deno.test("JOBS: names differ and are valid for Deno.cron, and schedules have five fields", () => {
  assert.equal(new Set(JOBS.map(({ name }) => name)).size, JOBS.length);
  for (const { name } of JOBS) assert.match(name, /^[\w -]{1,64}$/);
  for (const { schedule } of JOBS) assert.equal(schedule.split(" ").length, 5);
});

Deno.test("JOBS: a nightly job is done by day if the server was off at night", () => {
  const night = NOON + 14.5 * 3_600_000;
  const due = (doneMs: number, nowMs: number) => isNightlyDue(doneMs, nowMs);
  assert.equal(due(-Infinity, NOON), true, "after a start");
  assert.deepEqual([due(NOON, NOON + DAY), due(NOON, NOON + DAY + 1)], [false, true]);
  assert.equal(due(NOON, night), true, "then by night again");
  const hours = Array.from({ length: 25 }, (_, i) => due(night, night + i * 3_600_000));
  assert.deepEqual(hours, [true, ...Array(23).fill(false), true]);
  const nightly = JOBS.filter(({ isNightly }) => isNightly);
  assert.deepEqual(
    nightly.map(({ schedule }) => /^\d+ \* \* \* \*$/.test(schedule)),
    Array(6).fill(true),
  );
});

Deno.test("JOBS: a job that fails, or is skipped during a move, is due again", async () => {
  let runs = 0;
  const job = (run = () => Promise.resolve(void runs++)) =>
    ({ name: "a job", schedule: "0 * * * *", isNightly: true, run }) as const;
  const services = (status: "none" | "copying") =>
    ({ now: () => NOON, move: { status }, log: { error() {} } }) as unknown as JobServices;
  const failing = job(() => Promise.reject(new Error("it fails")));
  const earlier = NOON - DAY - 1;
  assert.equal(await runJob(failing, services("none"), earlier), -Infinity);
  assert.equal(await runJob(job(), services("copying"), earlier), -Infinity);
  assert.equal(await runJob(job(), services("none"), -Infinity), NOON);
  assert.equal(await runJob(job(), services("none"), NOON - DAY / 2), NOON - DAY / 2);
  assert.equal(runs, 2, "it is done already");
});

steps.set("salts older than yesterday's are deleted and today's is made", async (database) => {
  for (const daysAgo of [400, 3, 2, 1]) {
    await database.query(
      "INSERT INTO daily_salts (day, salt) VALUES ($1::text::date, '\\x00')",
      [new Date(NOON - daysAgo * DAY).toISOString().slice(0, 10)],
    );
  }
  await run("rotate visitor salts", database, NOON);
  const days = async () => (await database.query<{ day: string; salt: Uint8Array }>(
    "SELECT day, salt FROM daily_salts ORDER BY day",
  ));
  const found = await days();
  assert.deepEqual(found.map(({ day }) => day), ["2026-11-20", "2026-11-21"]);
  assert.equal(found[1]?.salt.length, 32);
  await run("rotate visitor salts", database, NOON);
  assert.deepEqual(await days(), found);
});

steps.set(
  "events past their project's retentionDays are deleted, and no others",
  async (database) => {
    await database.script("UPDATE projects SET retention_days = 30 WHERE project_id = 1");
    const at = (ms: number) => new Date(ms).toISOString();
    const rows = [
      newRow({ name: "old", occurred_at: at(NOON - 31 * DAY) }),
      newRow({ name: "just past", occurred_at: at(NOON - 30 * DAY - 1) }),
      newRow({ name: "just kept", occurred_at: at(NOON - 30 * DAY) }),
      newRow({ name: "young", occurred_at: at(NOON) }),
      newRow({ name: "other project", project_id: 2, occurred_at: at(NOON - 4000 * DAY) }),
    ];
    const byKey = (a: EventRow, b: EventRow) =>
      a.project_id - b.project_id || (a.event_id < b.event_id ? -1 : 1);
    await insertEvents(database, rows.toSorted(byKey));
    for (const project of [1, 2]) await createProjection(database).catchUp(project);
    const told = await run("purge expired events", database, NOON);
    const left = await database.query<{ event_id: string }>("SELECT event_id FROM event_ids");
    const kept = new Set(left.map((row) => row.event_id));
    const names = rows.filter((row) => kept.has(row.event_id)).map(({ name }) => name);
    assert.deepEqual(names, ["just kept", "young", "other project"]);
    assert.equal(JSON.parse(told[0] ?? "{}").events, 2);
    assert.deepEqual(await run("purge expired events", database, NOON), []);
    await database.script("DELETE FROM journal");
  },
);

steps.set("journal rows go 48 hours after their projection, and no others", async (database) => {
  const insert = (projectId: number, projectedMs: number | null, setAside = false, count = 1) =>
    database.query(
      `INSERT INTO journal (project_id, event_count, from_ms, to_ms, block, projected_at, set_aside_until)
      SELECT $1::int, 1, 0, 0, '', $2::text::timestamptz, CASE WHEN $3::bool THEN now() END
      FROM generate_series(1, $4::int)`,
      [
        projectId,
        projectedMs === null ? null : new Date(projectedMs).toISOString(),
        setAside,
        count,
      ],
    );
  await insert(1, NOON - JOURNAL_KEPT_MS - 1, false, JOURNAL_PURGE_CHUNK_ROWS + 1);
  await insert(2, NOON - JOURNAL_KEPT_MS - 1);
  await insert(1, NOON - JOURNAL_KEPT_MS);
  await insert(1, NOON - JOURNAL_KEPT_MS - 1, true);
  await insert(1, null);
  await run("delete projected journal rows", database, NOON);
  const left = await database.query<{ projected_at: Date | null; aside: boolean }>(
    `SELECT projected_at, set_aside_until IS NOT NULL AS aside FROM journal ORDER BY journal_id`,
  );
  assert.deepEqual(left.map((row) => [row.projected_at?.getTime() ?? null, row.aside]), [
    [NOON - JOURNAL_KEPT_MS, false],
    [NOON - JOURNAL_KEPT_MS - 1, true],
    [null, false],
  ]);
  const lacking = "SELECT project_id, journal_from FROM projections ORDER BY project_id";
  const journal_from = new Date(NOON - JOURNAL_KEPT_MS);
  const noted = [{ project_id: 1, journal_from }, { project_id: 2, journal_from }];
  assert.deepEqual(await database.query(lacking), noted);
  await run("delete projected journal rows", database, NOON + 1);
  noted[0]!.journal_from = new Date(NOON - JOURNAL_KEPT_MS + 1);
  assert.deepEqual(await database.query(lacking), noted);
});

steps.set("dead rows are cleared away on the embedded engine, in every table", async (database) => {
  const isEmbedded = database.engine === "embedded";
  const tables = ["journal", "event_ids"];
  if (!isEmbedded) {
    for (const table of tables) {
      await database.script(`ALTER TABLE ${table} SET (autovacuum_enabled = off)`);
    }
  }
  await database.script(`
    INSERT INTO journal (project_id, event_count, from_ms, to_ms, block)
      SELECT 1, 1, 0, 0, '' FROM generate_series(1, 1000);
    INSERT INTO event_ids SELECT 1, gen_random_uuid() FROM generate_series(1, 1000);
    DELETE FROM journal;
    DELETE FROM event_ids`);
  const size = async (table: string) => {
    const [row] = await database.query<{ bytes: number }>(
      "SELECT pg_relation_size($1::text::regclass) AS bytes",
      [table],
    );
    return row!.bytes;
  };
  const sizes = async () => [await size("journal"), await size("event_ids")];
  const before = await sizes();
  assert.ok(before.every((bytes) => bytes > 0), JSON.stringify(before));
  const job = "clear away dead rows";
  assert.deepEqual(await run(job, database, NOON, { status: "copying" }), []);
  assert.deepEqual(await sizes(), before, "not while the database moves");
  assert.deepEqual(await run(job, database, NOON), []);
  assert.deepEqual(await sizes(), isEmbedded ? [0, 0] : before);
});

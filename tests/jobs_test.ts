import assert from "node:assert/strict";
import { createLog } from "../src/http/log.ts";
import { createSalts } from "../src/ingest/salts.ts";
import { JOBS } from "../src/jobs.ts";
import type { Database } from "../src/db/sql.ts";
import { onBothEngines } from "./support/databases.ts";
import { newRow, openWithProjects, storedNames } from "./support/event_rows.ts";

const NOON = Date.parse("2026-11-21T12:00:00Z");
const DAY = 86_400_000;
const NO_CAPTURES = { queueDaily: () => Promise.resolve(), forgetOld: () => Promise.resolve() };

async function run(name: string, database: Database, nowMs: number): Promise<string[]> {
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
  await job.run({ database, salts, captures: NO_CAPTURES, log, now });
  return lines;
}

const steps = new Map<string, (database: Database) => Promise<void>>();

onBothEngines("JOBS", async (t, db) => {
  const database = await openWithProjects(db);
  for (const [name, step] of steps) await t.step(name, () => step(database));
});

Deno.test("JOBS: names differ, and schedules have five fields", () => {
  assert.equal(new Set(JOBS.map(({ name }) => name)).size, JOBS.length);
  for (const { schedule } of JOBS) assert.equal(schedule.split(" ").length, 5);
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
    for (const row of rows) {
      await database.query(
        `INSERT INTO events (project_id, event_id, occurred_at, received_at, clock, name,
        visitor_hash, located, in_session)
      VALUES ($1::int, $2::text::uuid, $3::text::timestamptz, $3::text::timestamptz, 'c', $4::text,
        '\\x00', false, true)`,
        [row.project_id, row.event_id, row.occurred_at, row.name],
      );
    }
    const told = await run("purge expired events", database, NOON);
    const left = [...(await storedNames(database)).values()].toSorted();
    assert.deepEqual(left, ["just kept", "other project", "young"]);
    assert.equal(JSON.parse(told[0] ?? "{}").events, 2);
    assert.deepEqual(await run("purge expired events", database, NOON), []);
  },
);

steps.set("more expired events than one transaction deletes go all the same", async (database) => {
  await database.script(`
    UPDATE projects SET retention_days = 1;
    INSERT INTO events (project_id, event_id, occurred_at, received_at, clock, name, visitor_hash, located, in_session)
    SELECT 1 + i % 2, gen_random_uuid(), '2020-01-01', '2020-01-01', 'c', 'old', '\\x00', false, true
    FROM generate_series(1, 12001) i`);
  await run("purge expired events", database, NOON);
  assert.ok(![...(await storedNames(database)).values()].includes("old"));
});

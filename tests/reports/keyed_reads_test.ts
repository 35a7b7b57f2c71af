import assert from "node:assert/strict";
import { arrayLiteral, type Database, type Sql } from "../../src/db/sql.ts";
import { DAY_MS } from "../../src/limits.ts";
import { wholeRows } from "../../src/reports/events/whole_rows.ts";
import { readRolledSessions } from "../../src/reports/kpis/rolled_sessions.ts";
import { pathsAfter } from "../../src/reports/ranked/path_rows.ts";
import type { RolledSpan } from "../../src/reports/rollups/rolled_up.ts";
import { readTail } from "../../src/reports/rollups/rolled_tail.ts";
import { sumPeople } from "../../src/reports/visits/person_sums.ts";
import { listVisits, readFound } from "../../src/reports/visits/visit_list.ts";
import type { ScanSource } from "../../src/scans/read.ts";
import { sessionsAcross } from "../../src/scans/session_end.ts";
import { encodeBlock } from "../../src/store/journal_block.ts";
import { fetchHeadsById } from "../../src/store/stored_segments.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { openAnalyzed, rowsRead } from "../support/rows_read.ts";

const ACTORS = 4_000;
const WANTED = 100;
/** Days with a session of each actor. */
const DAYS = 6;
const TABLES = ["sessions", "actors", "identities", "terms", "journal", "segments"];
const NO_ID = "0190a000-0000-7000-8000-000000000000";

const wanted = Array.from({ length: WANTED }, (_, i) => 20 * (i + 1));
const startOf = (actor: number, day: number) => day * DAY_MS + actor;
const SPAN = { fromMs: DAY_MS, toMs: (DAYS + 1) * DAY_MS };

/** Fills a project with people who have a page, an id and a session a day each, as many seconds long as their number. */
async function fill(database: Database, projectId: number, actors: number): Promise<void> {
  const one = async (columns: string, select: string, days = 0) =>
    await database.query(
      `INSERT INTO ${columns} SELECT $1::int, ${select}
      FROM generate_series(1, $2::int) a, generate_series(least(1, $3::int), $3::int) n`,
      [projectId, actors, days],
    );
  await one("terms (project_id, term_id, digest, term)", "a, gen_random_uuid(), '/' || a");
  await one(
    "identities (project_id, identity_id, actor_id, kind, value)",
    "a, a, 'u', 'user ' || a",
  );
  await one("actors (project_id, actor_id, first_ms, first_day, days)", "a, a, 1, '{1,2,3,4,5,6}'");
  await one("session_durations (project_id, day, seconds, sessions)", "n, a, 1", DAYS);
  await one(
    `sessions (project_id, actor_id, first_ms, last_ms, entry_id, exit_id, events, views, customs, humans,
      context_id, traffic_id, entry_path_id)`,
    `a, n * ${DAY_MS}::int8 + a, n * ${DAY_MS}::int8 + 1001 * a, '${NO_ID}', '${NO_ID}', 1, 1, 0, 1, 1, 1, a`,
    DAYS,
  );
}

const FOUND_MS = 10 * DAY_MS;
const found = wanted.map((id) => ({ segmentId: id, place: 0, ms: FOUND_MS + id }));

/**
 * Fills a project with so many segments and rows of the journal that cannot be read, and rows of an event each after
 * them.
 */
async function fillStore(database: Database, projectId: number, rows: number): Promise<void> {
  const into = "INSERT INTO journal (project_id, event_count, from_ms, to_ms, block)";
  await database.query(`${into} SELECT $1::int, 1, n, n, '' FROM generate_series(1, $2::int) n`, [
    projectId,
    rows,
  ]);
  await database.query(
    `INSERT INTO segments (project_id, from_ms, to_ms, events, text_bytes, version, head, body)
    SELECT $1::int, n, n, 1, 1, 1, '', '' FROM generate_series(1, $2::int) n`,
    [projectId, rows],
  );
  const blocks = found.map(({ ms }) =>
    encodeBlock([newRow({ occurred_at: new Date(ms).toISOString() })]).toHex()
  );
  await database.query(
    `${into} SELECT $1::int, 1, a.ms, a.ms, decode(a.block, 'hex')
    FROM unnest($2::text::int8[], $3::text::text[]) AS a (ms, block)`,
    [projectId, arrayLiteral(found.map(({ ms }) => ms)), arrayLiteral(blocks)],
  );
}

/** A source whose scans find this. */
function sourceOf(sql: Sql, found: unknown = null): ScanSource {
  const bits = { wanted: () => null };
  const loaded = { lastMs: Infinity, bits, scan: () => Promise.resolve(found) };
  return {
    sql,
    scope: { projectId: 1, siteHost: null, bots: "exclude", filters: [] },
    timelines: () => Promise.resolve(loaded),
  } as unknown as ScanSource;
}

const QUESTION = { span: SPAN, actorId: null, goal: null, after: null, rows: WANTED };

/** Each returns what it reads of WANTED keys, or a few. */
const WORKS: Readonly<Record<string, (tx: Sql) => Promise<void>>> = {
  paths: async (tx) => {
    const counts = new Int32Array(ACTORS + 1);
    for (const id of wanted) counts[id] = id;
    const { rows } = await pathsAfter(
      sourceOf(tx),
      [counts, counts],
      (id) => counts[id]! > 0,
      null,
      50,
    );
    assert.deepEqual([rows.length, rows[0]!.path], [50, `/${wanted.at(-1)}`]);
  },
  "newest visits": async (tx) => {
    const visits = await listVisits(sourceOf(tx), QUESTION);
    assert.deepEqual([visits.length, visits[0]!.actor], [WANTED, `user ${ACTORS}`]);
  },
  "found events": async (tx) => {
    const source = { ...sourceOf(tx), journalFrom: Promise.resolve(0) };
    const rows = await wholeRows(source, found);
    const times = rows.map(({ occurred_at }) => Date.parse(occurred_at));
    assert.deepEqual(times, found.map(({ ms }) => ms));
  },
  "heads of segments": async (tx) => {
    // None of these: the rows cannot be read.
    assert.equal((await fetchHeadsById(tx, 1, found.map(({ ms }) => ms))).size, 0);
  },
  "found visits": async (tx) => {
    const moments = { actors: wanted, ms: wanted.map((actor) => startOf(actor, 3)) };
    const visits = await readFound(sourceOf(tx), moments, null, WANTED);
    assert.deepEqual([visits.length, visits[0]!.entryPath], [WANTED, `/${wanted.at(-1)}`]);
  },
  "visits across a moment": async (tx) => {
    const atMs = startOf(2_000, 3) + 1;
    const source = sourceOf(tx, { before: wanted, after: wanted });
    // That of actor 2000 ends last of those that have begun.
    assert.deepEqual(await sessionsAcross(source, 1, [{ atMs }]), [{
      fromMs: startOf(20, 3),
      toMs: 3 * DAY_MS + 1001 * 2_000 + 1,
    }]);
  },
  medians: async (tx) => {
    const days = Array.from({ length: DAYS }, (_, i) => i + 1);
    const buckets = days.map((day) => ({ fromMs: day * DAY_MS, toMs: (day + 1) * DAY_MS }));
    const rolled = {
      projectId: 1,
      fromDay: 1,
      toDay: DAYS + 1,
      tail: null,
      span: SPAN,
    } as RolledSpan;
    const found = await readRolledSessions(tx, rolled, buckets, days);
    assert.deepEqual(
      found.map(({ medianMs }) => medianMs),
      Array(DAYS + 1).fill(1000 * (ACTORS + 1) / 2),
    );
  },
  "visitors of a part of a day": async (tx) => {
    const source = sourceOf(tx, { actors: new Set(wanted), events: 0, pageviews: 0 });
    const tail = { fromMs: 6 * DAY_MS, toMs: 7 * DAY_MS };
    const { visitors } = await readTail(source, { projectId: 1, fromDay: 6, toDay: 6 }, tail, 6);
    assert.equal(visitors, WANTED);
  },
  "visits of people": async (tx) => {
    const figures = { events: wanted, pageviews: wanted, lastMs: wanted, totals: [], amounts: [] };
    const source = sourceOf(tx, figures);
    const sums = await sumPeople(source, wanted, SPAN, []);
    assert.equal(sums[0]!.visits, DAYS);
  },
};

onBothEngines(
  "keyed reads: each row is looked up, whatever the planner knows of its project",
  async (t, db) => {
    const database = await openAnalyzed(db, TABLES, async (each, id) => {
      await fill(each, id, 20);
      await fillStore(each, id, 20);
    });
    await fill(database, 1, ACTORS);
    await fillStore(database, 1, 5 * ACTORS);
    for (const [name, work] of Object.entries(WORKS)) {
      await t.step(name, async () => {
        const read = await rowsRead(database, TABLES, work);
        assert.ok(read <= 10 * WANTED, `${name} reads ${read} rows`);
      });
    }
  },
);

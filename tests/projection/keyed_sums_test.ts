import assert from "node:assert/strict";
import type { Database, Sql } from "../../src/db/sql.ts";
import { AcquisitionSums } from "../../src/projection/acquisition_sums.ts";
import { type ActorChange, readActors } from "../../src/projection/actor_days.ts";
import { changedVisitors } from "../../src/projection/changed_visitors.ts";
import type { Changes, Rollups } from "../../src/projection/changes.ts";
import { NEWEST_VISITS } from "../../src/projection/projection_limits.ts";
import { rollUp } from "../../src/projection/rollups.ts";
import type { SessionPart } from "../../src/projection/session_parts.ts";
import {
  replaceSessions,
  sessionsNear,
  sessionsOfActors,
} from "../../src/projection/stored_sessions.ts";
import { NEVER } from "../../src/store/no_day.ts";
import { onBothEngines } from "../support/databases.ts";
import { openAnalyzed, rowsDeleted, rowsRead } from "../support/rows_read.ts";

const ACTORS = 10_000;
const WANTED = 200;
/** Sessions of an actor, and days of a value: more than the projection reads at first. */
const EACH = 6;
/** Actors with more sessions than are read first. */
const LONG_ACTORS = 20;
const LONG_EACH = NEWEST_VISITS + 6;
const TABLES = ["sessions", "actors", "acquisition_days", "visitor_days"];
const NO_ID = "00000000-0000-7000-8000-000000000000";

async function fillSessions(
  database: Database,
  projectId: number,
  [first, last]: readonly [number, number],
  each: number,
): Promise<void> {
  await database.query(
    `INSERT INTO sessions (project_id, actor_id, first_ms, last_ms, entry_id, exit_id, events, views,
      customs, humans, context_id, traffic_id)
    SELECT $1::int, a, a + n * 86400000::int8, a + n * 86400000::int8, '${NO_ID}', '${NO_ID}', 1, 1, 0, 1,
      1, 1
    FROM generate_series($2::int, $3::int) a, generate_series(1, $4::int) n`,
    [projectId, first, last, each],
  );
}

async function fill(database: Database, projectId: number, actors: number): Promise<void> {
  await fillSessions(database, projectId, [1, actors], EACH);
  const sizes = [projectId, actors, EACH];
  const [project, actor, each] = [
    "$1::int",
    "generate_series(1, $2::int) a",
    "generate_series(1, $3::int) n",
  ];
  await database.query(
    `INSERT INTO actors (project_id, actor_id, first_ms, first_day)
    SELECT ${project}, a, a, 1 FROM ${actor}`,
    sizes.slice(0, 2),
  );
  await database.query(
    `INSERT INTO acquisition_days (project_id, dimension, day, value_number, rules, sessions, bounces,
      pageviews, prev_days, first_days, actors)
    SELECT ${project}, 1, n, a, '{1}', '{1}', '{0}', '{1}', '{}', '{}', '{}' FROM ${actor}, ${each}`,
    sizes,
  );
  await database.query(
    `INSERT INTO visitor_days (project_id, day, prev_day, cohort_day, first_day, actors)
    SELECT ${project}, n, ${NEVER}, n, a, 1 FROM ${actor}, ${each}`,
    sizes,
  );
}

const wanted = Array.from({ length: WANTED }, (_, i) => 20 * (i + 1));
const sessionOf = (actor: number, n: number): SessionPart => ({
  ...{ actor, firstMs: actor + n * 86_400_000, lastMs: actor + n * 86_400_000 },
  ...{ firstViewMs: null, lastViewMs: null, entryId: NO_ID, exitId: NO_ID, entryPath: 0 },
  ...{ exitPath: 0, context: 1, traffic: 1, events: 1, views: 1, customs: 0, passiveViews: 0 },
  ...{ passiveCustoms: 0, humans: 1 },
} as SessionPart);

function changesOf(actors: readonly ActorChange[]): Changes {
  return {
    ...{ gone: [], came: [], totals: [], stored: new Map(), newActors: new Set() },
    actors,
  } as unknown as Changes;
}

/** Changes of the first days of actors, for which all of their sessions are read. */
function firstDaysOf(actors: readonly number[]): Changes {
  return changesOf(actors.map((actor) => ({
    actor,
    before: { firstMs: 1, firstDay: 1, days: [] },
    after: { firstMs: 0, firstDay: 0, days: [] },
  })));
}

const ROLLUPS = {
  projectId: 1,
  days: { dayAt: (ms: number) => Math.floor(ms / 86_400_000) },
  values: { readOn: () => Promise.resolve(), numbersOf: () => [] },
} as unknown as Rollups;

const WORKS: Readonly<Record<string, (tx: Sql) => Promise<void>>> = {
  readActors: async (tx) => assert.equal((await readActors(tx, 1, wanted)).size, WANTED),
  sessionsOfActors: async (tx) =>
    assert.equal((await sessionsOfActors(tx, 1, wanted)).length, EACH * WANTED),
  sessionsNear: async (tx) => {
    const near = await sessionsNear(tx, 1, wanted.map((actor) => sessionOf(actor, 3)));
    assert.equal(near.length, WANTED);
  },
  replaceSessions: async (tx) => {
    const [gone, came] = [2, 3].map((n) => wanted.map((actor) => sessionOf(actor, n)));
    await replaceSessions(tx, 1, gone!, came!);
  },
  changedVisitors: async (tx) => {
    const visitors = await changedVisitors(tx, ROLLUPS, firstDaysOf(wanted));
    assert.equal(visitors.get(wanted[0]!)!.visits.size, EACH);
  },
  changedVisitorsOfMany: async (tx) => {
    const actors = Array.from({ length: LONG_ACTORS }, (_, i) => ACTORS + 1 + i);
    const visitors = await changedVisitors(tx, ROLLUPS, firstDaysOf(actors));
    assert.equal(visitors.get(actors[0]!)!.visits.size, LONG_EACH);
  },
  rollUp: async (tx) => {
    const on = (actor: number, day: number) => ({ firstMs: actor, firstDay: actor, days: [day] });
    const moved = wanted.map((actor) => ({ actor, before: on(actor, 2), after: on(actor, 3) }));
    const before = await rowsDeleted(tx, TABLES);
    await rollUp(tx, ROLLUPS, changesOf(moved));
    assert.equal(await rowsDeleted(tx, TABLES) - before, WANTED);
  },
  acquisitionSums: async (tx) => {
    const sums = new AcquisitionSums(tx, 1);
    for (const value of wanted) {
      sums.dayOf(1, 2, value).addTotal(1, -1, 0, -1);
      sums.dayOf(1, 3, value).addTotal(1, 1, 0, 1);
    }
    await sums.store();
  },
};

onBothEngines(
  "keyed sums: each row is looked up, whatever the planner knows of its project",
  async (t, db) => {
    const database = await openAnalyzed(db, TABLES, (each, id) => fill(each, id, 20));
    await fill(database, 1, ACTORS);
    await fillSessions(database, 1, [ACTORS + 1, ACTORS + LONG_ACTORS], LONG_EACH);
    for (const [name, work] of Object.entries(WORKS)) {
      await t.step(name, async () => {
        const read = await rowsRead(database, TABLES, work);
        assert.ok(read <= 6 * EACH * WANTED, `${name} reads ${read} rows`);
      });
    }
  },
);

import fc from "fast-check";
import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { walkActors } from "../../src/histories/actor_walk.ts";
import { SESSION_FIELDS } from "../../src/selection/filters.ts";
import { type Scope, sessionConditions, type Span } from "../../src/selection/selection.ts";
import { SqlParams } from "../../src/selection/sql_params.ts";
import { sessionsEndByMs, sessionsStartMs } from "../../src/walks/session_end.ts";
import { sessionTest } from "../../src/walks/session_tests.ts";
import { SessionWalk, type WalkedSession } from "../../src/walks/session_walk.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "../reports/session_world.ts";
import { onBothEngines } from "../support/databases.ts";
import { historiesOf, NO_HISTORIES } from "../support/read_histories.ts";

const DAY_MS = 86_400_000;
const EVER: Span = { fromMs: WORLD_FROM_MS, toMs: WORLD_FROM_MS + (WORLD_DAYS + 2) * DAY_MS };

/** A session by all that the walk tells of it. */
interface Told extends Record<string, unknown> {
  readonly actor: number;
  readonly startMs: number;
  readonly lastMs: number;
  readonly events: number;
  readonly views: number;
  readonly customs: number;
  readonly entryPath: number;
  readonly exitPath: number;
  readonly traffic: number;
  readonly context: number;
}

const STORED = `
SELECT actor_id AS actor, first_tick >> 16 AS "startMs", last_tick >> 16 AS "lastMs", events, views,
  customs, coalesce(entry_path_id, 0) AS "entryPath", coalesce(exit_path_id, 0) AS "exitPath",
  traffic_id AS traffic, context_id AS context
FROM sessions s WHERE project_id = 1`;
const ORDER = "ORDER BY actor_id, first_tick";

interface Walked {
  readonly sessions: Told[];
  readonly others: number;
}

/** What a walk through the reach tells, by actor and then by time. */
async function walked(database: Database, reach: Span): Promise<Walked> {
  const sessions: Told[] = [];
  let others = 0;
  const take = (session: WalkedSession) => {
    let events = 0;
    let othersHere = 0;
    session.forEachStretch(({ traffics }, start, end) => {
      assert.ok(start < end);
      for (let at = start; at < end; at++) traffics[at] === 0 ? othersHere++ : events++;
    });
    assert.equal(session.hasOthers, othersHere > 0);
    assert.equal(session.traffic === 0, events === 0);
    others += othersHere;
    if (events === 0) return;
    const { actor, startMs, lastMs, views, customs, entryPath, exitPath, traffic, context } =
      session;
    sessions.push(
      { actor, startMs, lastMs, events, views, customs, entryPath, exitPath, traffic, context },
    );
  };
  const walk = new SessionWalk(reach, take);
  const histories = await historiesOf(database)(reach, []);
  await walkActors(database, histories!, (actor, way) => walk.visit(actor, way));
  sessions.sort((a, b) => a.actor - b.actor || a.startMs - b.startMs);
  return { sessions, others };
}

onBothEngines("session walk: the sessions are those that the fold made", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(250));
  const stored = await database.query<Told>(`${STORED} ${ORDER}`);
  const all = await walked(database, EVER);
  assert.deepEqual(all.sessions, stored);
  assert.ok(stored.some(({ events }) => events > 4) && stored.some(({ views }) => views === 0));
  const [none] = await database.query<{ events: number }>(
    "SELECT count(*) AS events FROM facts WHERE project_id = 1 AND session_id IS NULL",
  );
  assert.equal(all.others, none!.events);
  assert.ok(all.others > 20);

  const source = { sql: database, histories: historiesOf(database) };
  // Around each of some days, those that touch it are told whole.
  for (let day = 0; day < WORLD_DAYS; day += 7) {
    const span = { fromMs: EVER.fromMs + day * DAY_MS, toMs: EVER.fromMs + (day + 1) * DAY_MS };
    const { sessions } = await walked(database, {
      fromMs: await sessionsStartMs(source, 1, span.fromMs),
      toMs: await sessionsEndByMs(source, 1, span.toMs),
    });
    const touches = ({ startMs, lastMs }: Told) => startMs < span.toMs && lastMs >= span.fromMs;
    assert.deepEqual(sessions.filter(touches), stored.filter(touches));
  }
});

onBothEngines("session walk: sessions that cross a moment", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(250));
  const stored = await database.query<Told>(STORED);
  let crossed = 0;
  const ways = [historiesOf(database), NO_HISTORIES];
  for (const { startMs, lastMs } of stored.slice(0, 50)) {
    for (const atMs of [startMs, startMs + 1, lastMs, lastMs + 1]) {
      const crossing = stored.filter((one) => one.startMs < atMs && one.lastMs >= atMs);
      crossed += crossing.length;
      const starts = crossing.map((one) => one.startMs);
      const ends = crossing.map((one) => one.lastMs + 1);
      for (const source of ways.map((histories) => ({ sql: database, histories }))) {
        assert.equal(await sessionsStartMs(source, 1, atMs), Math.min(atMs, ...starts));
        assert.equal(await sessionsEndByMs(source, 1, atMs), Math.max(atMs, ...ends));
      }
    }
  }
  assert.ok(crossed > 0);
});

onBothEngines("session tests: what passes is what SQL selects", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(150));
  const stored = await database.query<Told>(`${STORED} ${ORDER}`);
  let passed = 0;
  const asked = fc.asyncProperty(
    fc.array(randomFilter(SESSION_FIELDS), { minLength: 1, maxLength: 3 }),
    async (filters) => {
      const scope: Scope = { projectId: 1, siteHost: null, bots: "include", filters };
      const params = new SqlParams();
      const where = sessionConditions(params, scope, EVER);
      const selected = await database.query<Told>(
        `${STORED} AND ${where} ${ORDER}`,
        params.values,
      );
      const test = await sessionTest(database, scope, [
        ...filters,
        { field: "name", op: "is", values: ["nothing"] },
      ]);
      const passing = stored.filter(({ traffic, entryPath, exitPath }) =>
        test.passes(traffic, entryPath, exitPath)
      );
      assert.deepEqual(passing, selected);
      const positive = filters.some(({ op }) => !op.startsWith("not_") && op !== "is_not");
      assert.equal(test.passesNone, !positive);
      if (selected.length > 0 && selected.length < stored.length) passed++;
    },
  );
  await fc.assert(asked, { numRuns: 60 });
  assert.ok(passed > 0);
});

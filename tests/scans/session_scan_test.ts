import fc from "fast-check";
import assert from "node:assert/strict";
import type { Database } from "../../src/db/sql.ts";
import { type Filter, SESSION_FIELDS } from "../../src/query/filters.ts";
import type { Span } from "../../src/query/selection.ts";
import { sessionsAcross, withWholeSessions } from "../../src/scans/session_end.ts";
import { type ScannedSession, SessionScan } from "../../src/scans/session_scan.ts";
import type { FilteredTimelines } from "../../src/scans/filtered_timelines.ts";
import { passesSession } from "../../src/scans/session_test.ts";
import { sessionPasses } from "../../src/scans/session_tests.ts";
import {
  EVER,
  openWithHistory,
  randomFilter,
  randomHistory,
  WORLD_DAYS,
} from "../reports/session_world.ts";
import { pause } from "../../src/turns/pause.ts";
import { onBothEngines } from "../support/databases.ts";
import { fakeSql } from "../support/fake_sql.ts";
import { timelinesOf, visiting } from "../support/read_timelines.ts";

const DAY_MS = 86_400_000;

/** All that the scan returns of a session. */
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
SELECT actor_id AS actor, first_ms AS "startMs", last_ms AS "lastMs", events, views,
  customs, coalesce(entry_path_id, 0) AS "entryPath", coalesce(exit_path_id, 0) AS "exitPath",
  traffic_id AS traffic, context_id AS context
FROM sessions s WHERE project_id = 1`;
const ORDER = "ORDER BY actor_id, first_ms";

interface Walked {
  readonly sessions: Told[];
  readonly others: number;
}

/** What a scan through the reach tells, by actor and then by time. */
async function walked(database: Database, reach: Span): Promise<Walked> {
  const sessions: Told[] = [];
  let others = 0;
  const take = (session: ScannedSession) => {
    let events = 0;
    let othersHere = 0;
    session.forEachSlice(({ traffics }, start, end) => {
      assert.ok(start < end);
      for (let at = start; at < end; at++) traffics[at] === 0 ? othersHere++ : events++;
    });
    assert.equal(session.hasOthers, othersHere > 0);
    assert.equal(session.hasOwn, events > 0);
    // Asked for again, and after the entry, it is the same.
    assert.equal(session.exitPath, session.exitPath);
    assert.equal(session.traffic === 0, events === 0);
    others += othersHere;
    if (events === 0) return;
    const { actor, startMs, lastMs, views, customs, entryPath, exitPath, traffic, context } =
      session;
    sessions.push(
      { actor, startMs, lastMs, events, views, customs, entryPath, exitPath, traffic, context },
    );
  };
  const scan = new SessionScan(reach, take);
  const timelines = await timelinesOf(database)(reach, []);
  const visitor = visiting((actor, timeline) => scan.visit(actor, timeline));
  await timelines.scan(visitor, () => null);
  sessions.sort((a, b) => a.actor - b.actor || a.startMs - b.startMs);
  return { sessions, others };
}

onBothEngines("session scan: the sessions are those of the projection", async (_t, db) => {
  const rows = randomHistory(250);
  const database = await openWithHistory(db, rows);
  const stored = await database.query<Told>(`${STORED} ${ORDER}`);
  const all = await walked(database, EVER);
  assert.deepEqual(all.sessions, stored);
  assert.ok(stored.some(({ events }) => events > 4) && stored.some(({ views }) => views === 0));
  assert.equal(all.others, rows.filter(({ in_session }) => !in_session).length);
  assert.ok(all.others > 20);

  const source = { sql: database, timelines: timelinesOf(database) };
  // For each of some days, the sessions that touch it are returned whole.
  for (let day = 0; day < WORLD_DAYS; day += 7) {
    const span = { fromMs: EVER.fromMs + day * DAY_MS, toMs: EVER.fromMs + (day + 1) * DAY_MS };
    const { sessions } = await walked(database, await withWholeSessions(source, 1, span));
    const touches = ({ startMs, lastMs }: Told) => startMs < span.toMs && lastMs >= span.fromMs;
    assert.deepEqual(sessions.filter(touches), stored.filter(touches));
  }
});

onBothEngines("session scan: entries of sessions that cross the end of a span", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(250));
  const stored = await database.query<Told>(`${STORED} ${ORDER}`);
  const source = { sql: database, timelines: timelinesOf(database) };
  let followed = 0;
  const crossing = stored.filter(({ startMs, lastMs }) => startMs < lastMs).slice(0, 120);
  for (const { actor, startMs, lastMs, entryPath, traffic } of crossing) {
    const span = { fromMs: EVER.fromMs, toMs: lastMs };
    const reach = await withWholeSessions(source, 1, span, true);
    if (reach.toMs > span.toMs) followed++;
    const { sessions } = await walked(database, reach);
    const told = sessions.find((one) => one.actor === actor && one.startMs === startMs)!;
    assert.deepEqual([told.entryPath, told.traffic], [entryPath, traffic]);
  }
  // Those without a page view just before the end of the span are followed, or if another session must be.
  assert.ok(followed > 5 && followed < crossing.length, `${followed} of ${crossing.length}`);
});

Deno.test("session scan: if one edge fails, nothing of the other is under way", async () => {
  let ended = false;
  const later: Pick<FilteredTimelines, "lastMs" | "scan"> = {
    lastMs: Infinity,
    scan: async (kind, inputs) => {
      await pause(10);
      ended = true;
      return kind.create(inputs(), []).result();
    },
  };
  const timelines = async ({ fromMs }: Span) => {
    if (fromMs < 0) throw new Error("It is damaged");
    await pause(10);
    return later as FilteredTimelines;
  };
  const source = { sql: fakeSql({}), timelines };
  const edges = [{ atMs: 0 }, { atMs: 30 * DAY_MS }];
  await assert.rejects(sessionsAcross(source, 1, edges), /It is damaged/);
  assert.ok(ended);
});

onBothEngines("session scan: sessions that cross a moment", async (_t, db) => {
  const rows = randomHistory(250);
  const database = await openWithHistory(db, rows);
  const stored = await database.query<Told>(STORED);
  let crossed = 0;
  const source = { sql: database, timelines: timelinesOf(database) };
  const last = stored.reduce((a, b) => a.lastMs >= b.lastMs ? a : b);
  for (const { startMs, lastMs } of [last, ...stored.slice(0, 50)]) {
    const moments = [startMs, startMs + 1, lastMs, lastMs + 1];
    const across = await sessionsAcross(source, 1, moments.map((atMs) => ({ atMs })));
    for (const [i, atMs] of moments.entries()) {
      const crossing = stored.filter((one) => one.startMs < atMs && one.lastMs >= atMs);
      crossed += crossing.length;
      const starts = crossing.map((one) => one.startMs);
      const ends = crossing.map((one) => one.lastMs + 1);
      assert.deepEqual(across[i], {
        fromMs: Math.min(atMs, ...starts),
        toMs: Math.max(atMs, ...ends),
      });
    }
  }
  assert.ok(crossed > 0);

  // Who did something around the present, behind which nothing lies, is not looked for.
  const atMs = 1 + Math.max(...rows.map(({ occurred_at }) => Date.parse(occurred_at)));
  const unscanned: typeof source.timelines = async (...asked) => ({
    ...await source.timelines(...asked),
    scan: () => assert.fail("Nothing is to be scanned here"),
  });
  const present = { fromMs: atMs, toMs: atMs };
  const unscannable = { ...source, timelines: unscanned };
  assert.deepEqual(await sessionsAcross(unscannable, 1, [{ atMs }]), [present]);
});

const ROWS = `
SELECT s.traffic_id AS traffic, coalesce(s.entry_path_id, 0) AS "entryPath",
  coalesce(s.exit_path_id, 0) AS "exitPath", en.term AS entry, ex.term AS exit, r.source, r.medium,
  r.campaign, r.term, r.content, r.channel
FROM sessions s
JOIN traffic r ON r.project_id = 1 AND r.traffic_id = s.traffic_id
LEFT JOIN terms en ON en.project_id = 1 AND en.term_id = s.entry_path_id
LEFT JOIN terms ex ON ex.project_id = 1 AND ex.term_id = s.exit_path_id
WHERE s.project_id = 1`;

type Texts = Readonly<Record<string, string | null>>;

/** Whether a text passes a filter; a missing text passes negative filters. */
function holds(text: string | null, { op, values }: Filter): boolean {
  if (op === "exists" || op === "not_exists") return (text !== null) === (op === "exists");
  const some = (test: (text: string, wanted: string) => boolean) =>
    text !== null && values.some((value) => test(text, String(value)));
  if (op === "is") return some((text, wanted) => text === wanted);
  if (op === "is_not") return !some((text, wanted) => text === wanted);
  if (op === "contains") return some((text, wanted) => text.includes(wanted));
  if (op === "not_contains") return !some((text, wanted) => text.includes(wanted));
  assert.equal(op, "starts_with");
  return some((text, wanted) => text.startsWith(wanted));
}

onBothEngines("session tests: what passes is what its texts fulfil", async (_t, db) => {
  const database = await openWithHistory(db, randomHistory(150));
  type Ids = { traffic: number; entryPath: number; exitPath: number };
  const stored = await database.query<Ids & Texts & Record<string, unknown>>(ROWS);
  const textOf = (texts: Texts, field: string) =>
    texts[{ entryPath: "entry", exitPath: "exit" }[field] ?? field]!;
  const scope = { projectId: 1, siteHost: null };
  let passed = 0;
  const asked = fc.asyncProperty(
    fc.array(randomFilter(SESSION_FIELDS), { minLength: 1, maxLength: 3 }),
    async (filters) => {
      const test = await sessionPasses(database, scope, [
        ...filters,
        { field: "name", op: "is", values: ["nothing"] },
      ]);
      const passing = stored.filter((one) => passesSession(test, { hasOwn: true, ...one }));
      assert.deepEqual(
        passing,
        stored.filter((one) => filters.every((wanted) => holds(textOf(one, wanted.field), wanted))),
      );
      const positive = filters.some(({ op }) => !op.startsWith("not_") && op !== "is_not");
      assert.equal(test.passesNone, !positive);
      if (passing.length > 0 && passing.length < stored.length) passed++;
    },
  );
  await fc.assert(asked, { numRuns: 60 });
  assert.ok(passed > 0);
});

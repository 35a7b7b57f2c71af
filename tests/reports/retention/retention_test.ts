import assert from "node:assert/strict";
import type { Project } from "../../../src/auth/projects.ts";
import type { Database } from "../../../src/db/sql.ts";
import { insertEvents } from "../../../src/ingest/event_insert.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { Problem } from "../../../src/problem.ts";
import { RETENTION } from "../../../src/reports/retention/retention.ts";
import {
  type Bucket,
  type Interval,
  readInterval,
  wholePeriods,
} from "../../../src/query/buckets.ts";
import { readRange } from "../../../src/query/range.ts";
import type { Scope } from "../../../src/query/selection.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import { answerAsked } from "../../support/asked_read.ts";
import { onBothEngines, onPostgres } from "../../support/databases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { timelinesOf } from "../../support/read_timelines.ts";

const AS_OF = "2026-03-20T12:00:00Z";

/** What `who` did at a time of March 2026, such as `02 10:00`. */
function event(who: string, at: string, name: string, members: Partial<EventRow> = {}): EventRow {
  const occurred_at = new Date(`2026-03-${at.replace(" ", "T")}Z`).toISOString();
  return newRow({ name, user_id: who, occurred_at, ...members });
}

// Weeks begin on 2, 9, 16 and 23 March.
const HISTORY: readonly EventRow[] = [
  // Signed up before everything that is asked for, and does it again.
  event("old", "01 12:00", "signup"),
  event("old", "03 12:00", "signup"),
  event("old", "10 12:00", "buy"),
  event("old", "11 12:00", "signup"),
  // Of the first week; buys in the second and, twice, in the third.
  event("ann", "02 00:00", "signup"),
  event("ann", "09 00:00", "buy", { properties: '{"plan":"pro"}' }),
  event("ann", "16 09:00", "buy"),
  event("ann", "16 10:00", "buy"),
  // Buys before the sign-up, in the same week, and then only in the third.
  event("bob", "03 10:00", "buy"),
  event("bob", "04 10:00", "signup", { properties: '{"plan":"free"}' }),
  event("bob", "19 10:00", "buy"),
  // Of the second week; buys only after the moment of the read.
  event("cyd", "15 23:59", "signup"),
  event("cyd", "20 13:00", "buy"),
  // A robot.
  event("bot", "02 10:00", "signup", { bot: true }),
  event("bot", "09 10:00", "buy", { bot: true }),
  // Known by its pages alone.
  event("eva", "05 10:00", "page_view", { path: "/a" }),
  event("eva", "06 10:00", "page_view", { path: "/b" }),
  event("eva", "12 10:00", "page_view", { path: "/b" }),
];

const WEEKS = { from: "2026-03-03", to: "2026-03-12", interval: "week", periods: "3" };
const SIGNUP_BUY = { ...WEEKS, start: "signup", return: "buy" };

interface Found {
  readonly sizes: readonly number[];
  readonly actors: readonly (readonly (number | null)[])[];
  // Tests look into replies of every shape.
  // deno-lint-ignore no-explicit-any
  readonly result: any;
  readonly query: Readonly<Record<string, unknown>> | undefined;
  /** How often histories were followed. */
}

async function ask(
  database: Database,
  params: Record<string, string>,
  scope: Partial<Scope> = {},
  asOf = AS_OF,
): Promise<Found> {
  const query = new URLSearchParams(params);
  const asOfMs = Date.parse(asOf);
  const range = readRange(query, "UTC", asOfMs);
  const { result, query: resolved } = await answerAsked(RETENTION, {
    sql: database,
    project: { projectId: 1 } as Project,
    scope: { projectId: 1, siteHost: null, bots: "exclude", filters: [], ...scope },
    range,
    interval: readInterval(query, range, { allowHour: false }),
    comparison: null,
    query,
    limit: 100,
    visitorsMin: 1,
    asOfMs,
    timelines: timelinesOf(database),
  });
  assert.deepEqual(Object.keys(result).sort(), ["average", "cohorts"], "nothing is compared");
  for (const [name, schema] of Object.entries(RETENTION.reply)) schema.parse(result[name]);
  const cohorts = result.cohorts as { size: number; cells: { actors: number | null }[] }[];
  return {
    sizes: cohorts.map(({ size }) => size),
    actors: cohorts.map(({ cells }) => cells.map(({ actors }) => actors)),
    result,
    query: resolved,
  };
}

/** Steps of one question each: the sizes of the cohorts, and the actors of their cells. */
interface Case {
  readonly name: string;
  readonly params: Record<string, string>;
  readonly scope?: Partial<Scope>;
  readonly sizes: readonly number[];
  readonly actors: readonly (readonly (number | null)[])[];
}

const onPath = (path: string) =>
  JSON.stringify({ name: "page_view", filters: [{ field: "path", op: "is", values: [path] }] });

const ofPlan = (name: string, op: string) =>
  JSON.stringify({ name, filters: [{ field: "properties.plan", op, values: ["pro"] }] });

const CASES: readonly Case[] = [
  {
    name: "cohorts of the first time ever, returns in the very week up to the read",
    params: SIGNUP_BUY,
    sizes: [2, 1],
    actors: [[1, 1, 2], [0, 0, null]],
  },
  {
    name: "in the week or later",
    params: { ...SIGNUP_BUY, criterion: "on_or_after" },
    sizes: [2, 1],
    actors: [[2, 2, 2], [0, 0, null]],
  },
  {
    name: "later reaches past the last cell",
    params: { ...SIGNUP_BUY, criterion: "on_or_after", periods: "2", to: "2026-03-08" },
    sizes: [2],
    actors: [[2, 2]],
  },
  {
    name: "recurring: whoever signed up before counts again",
    params: { ...SIGNUP_BUY, cohort: "recurring" },
    sizes: [3, 2],
    actors: [[1, 2, 2], [1, 0, null]],
  },
  {
    name: "recurring, in the week or later",
    params: { ...SIGNUP_BUY, cohort: "recurring", criterion: "on_or_after" },
    sizes: [3, 2],
    actors: [[3, 3, 2], [1, 0, null]],
  },
  {
    name: "the same start and return: period 0 is the whole cohort",
    params: WEEKS,
    sizes: [3, 1],
    actors: [[3, 2, 2], [1, 0, null]],
  },
  {
    name: "more periods than a bigint has bits give the same",
    params: { ...WEEKS, interval: "day", from: "2026-03-02", to: "2026-03-15", periods: "60" },
    sizes: [1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
    actors: Array.from({ length: 14 }, (_, day) =>
      Array.from({ length: 60 }, (_, k) => {
        if (day + k > 18) return null;
        const days = ({ 0: [0, 7, 14], 1: [0, 1, 16], 3: [0, 1, 7], 13: [0] })[day] ?? [];
        return days.includes(k) ? 1 : 0;
      })),
  },
  {
    name: "bots alone",
    params: WEEKS,
    scope: { bots: "only" },
    sizes: [1, 0],
    actors: [[1, 1, 0], [0, 0, null]],
  },
  {
    name: "bots too",
    params: SIGNUP_BUY,
    scope: { bots: "include" },
    sizes: [3, 1],
    actors: [[1, 2, 2], [0, 0, null]],
  },
  {
    name: "matches with filters",
    params: { ...WEEKS, start: onPath("/a"), return: onPath("/b") },
    sizes: [1, 0],
    actors: [[1, 1, 0], [0, 0, null]],
  },
  {
    name: "a filter narrows the first time, too",
    params: { ...WEEKS, from: "2026-03-09" },
    scope: { filters: [{ field: "name", op: "is_not", values: ["signup"] }] },
    // Ann and old, whose first other event is a purchase of that week.
    sizes: [2],
    actors: [[2, 1, null]],
  },
  {
    name: "what comes back lacks a property",
    params: { ...SIGNUP_BUY, return: ofPlan("buy", "is_not") },
    sizes: [2, 1],
    actors: [[1, 0, 2], [0, 0, null]],
  },
  {
    name: "what comes back has a property",
    params: { ...SIGNUP_BUY, return: ofPlan("buy", "is") },
    sizes: [2, 1],
    actors: [[0, 1, 0], [0, 0, null]],
  },
  {
    name: "what begins has a property, and a filter on properties narrows everything",
    params: { ...WEEKS, start: ofPlan("signup", "is_not"), return: "buy" },
    scope: { filters: [{ field: "properties.plan", op: "not_exists", values: [] }] },
    // Ann, whose first purchase has a plan; bob's sign-up has one.
    sizes: [1, 1],
    actors: [[0, 0, 1], [0, 0, null]],
  },
  {
    name: "nobody",
    params: { ...WEEKS, start: "never" },
    sizes: [0, 0],
    actors: [[0, 0, 0], [0, 0, null]],
  },
];

onBothEngines("retention", async (t, db) => {
  const database = await openWithProjects(db);
  const stored = [...HISTORY, event("two", "03 10:00", "signup", { project_id: 2 })];
  const byKey = stored.toSorted((a, b) =>
    a.project_id - b.project_id || (a.event_id < b.event_id ? -1 : 1)
  );
  await insertEvents(database, byKey);
  await createProjection(database).catchUp(1);

  for (const { name, params, scope, sizes, actors } of CASES) {
    await t.step(name, async () => {
      const found = await ask(database, params, scope);
      assert.deepEqual({ sizes: found.sizes, actors: found.actors }, { sizes, actors });
    });
  }

  await t.step("of the moment of the read an event counts, of the next one not", async () => {
    const params = { ...SIGNUP_BUY, to: "2026-03-08" };
    const at = await ask(database, params, {}, "2026-03-19T10:00:00.000Z");
    assert.deepEqual(at.actors, [[1, 1, 2]]);
    const before = await ask(database, params, {}, "2026-03-19T09:59:59.999Z");
    assert.deepEqual(before.actors, [[1, 1, 1]]);
    const again = { ...WEEKS, cohort: "recurring", start: "signup" };
    const second = await ask(database, again, {}, "2026-03-11T12:00:00.000Z");
    assert.deepEqual(second.sizes, [3, 1]);
    // Who signs up then was there before in the same week.
    const first = await ask(database, again, {}, "2026-03-11T11:59:59.999Z");
    assert.deepEqual(first.sizes, [3, 0]);
  });

  await t.step("a property with a column of its own", async () => {
    const filters = [{ field: "properties.x", op: "not_exists", values: [] }];
    const params = { ...SIGNUP_BUY, start: JSON.stringify({ name: "signup", filters }) };
    const { sizes, actors } = await ask(database, params);
    assert.deepEqual({ sizes, actors }, { sizes: [2, 1], actors: [[1, 1, 2], [0, 0, null]] });
  });

  await t.step("cells, labels and the average", async () => {
    const { result } = await ask(database, SIGNUP_BUY);
    const [first, second] = result.cohorts;
    assert.equal(first.start, "2026-03-02T00:00:00.000Z");
    assert.deepEqual(result.cohorts.map(({ label }: { label: string }) => label), [
      "2026-03-02",
      "2026-03-09",
    ]);
    assert.deepEqual(first.cells[1], {
      period: 1,
      actors: 1,
      rate: { value: 0.5, numerator: 1, denominator: 2 },
      complete: true,
    });
    assert.equal(first.cells[2].complete, false, "the week of 16 March is under way");
    assert.deepEqual(second.cells[2], {
      period: 2,
      actors: null,
      rate: { value: null, numerator: 0, denominator: 1 },
      complete: false,
    });
    assert.deepEqual(result.average, [
      { period: 0, rate: { value: 1 / 3, numerator: 1, denominator: 3 } },
      { period: 1, rate: { value: 0.5, numerator: 1, denominator: 2 } },
      { period: 2, rate: { value: null, numerator: 0, denominator: 0 } },
    ]);
  });

  await t.step("parameters as resolved", async () => {
    assert.deepEqual((await ask(database, WEEKS)).query, {
      from: "2026-03-02T00:00:00.000Z",
      to: "2026-03-16T00:00:00.000Z",
      start: { name: null, filters: [] },
      return: { name: null, filters: [] },
      cohort: "first",
      criterion: "on",
      periods: 3,
    });
    const { query, result } = await ask(database, { from: "2026-03-03", to: "2026-03-03" });
    assert.equal(query?.periods, 7);
    assert.deepEqual(result.cohorts[0].label, "2026-03-03");
  });

  await t.step("a read before the range: no cell has begun, and nobody has come", async () => {
    const { sizes, actors } = await ask(database, SIGNUP_BUY, {}, "2026-03-01T00:00:00Z");
    assert.deepEqual(sizes, [0, 0]);
    assert.deepEqual(actors, [[null, null, null], [null, null, null]]);
  });

  for (
    const [name, value] of [
      ["periods", "0"],
      ["periods", "61"],
      ["periods", "x"],
      ["cohort", "last"],
      ["criterion", "before"],
      ["start", "{"],
      ["return", '{"name":1}'],
    ] as const
  ) {
    await t.step(`${name}=${value} is refused`, async () => {
      await assert.rejects(ask(database, { ...WEEKS, [name]: value }), (error) => {
        assert.ok(error instanceof Problem, String(error));
        assert.equal(error.code, "invalid_parameter");
        assert.deepEqual(error.options.errors?.map(({ field }) => field), [name]);
        return true;
      });
    });
  }
});

/** Of years, an actor more each; some just before and some just after a local day begins. */
const LONG_HISTORY: readonly EventRow[] = Array.from(
  { length: 6 },
  (_, who) =>
    Array.from({ length: 120 }, (_, i) => {
      const hours = who * 11_000 + i * i * (who + 5) % (69_000 - who * 11_000);
      const at = new Date(Date.parse("2018-03-25T01:00:00Z") + hours * 3_600_000 - i % 2);
      const name = (i + who) % 7 === 0 ? "signup" : "view";
      return newRow({ name, user_id: `u${who}`, occurred_at: at.toISOString() });
    }),
).flat();
const CELLS = 60;
const LONG_RANGES = { day: "2023-01-10", week: "2018-02-01", month: "2019-07-20" };

/** The actors of all cells, reckoned plainly: whom each cohort has, and which of them were there later. */
function reckoned(periods: readonly Bucket[], cohort: string, criterion: string) {
  const asOfMs = Date.parse(AS_OF);
  const happened = LONG_HISTORY.map(({ user_id, name, occurred_at }) => {
    const ms = Date.parse(occurred_at);
    const period = periods.findIndex(({ startMs, endMs }) => startMs <= ms && ms < endMs);
    return { user_id, isStart: name === "signup", ms, period };
  }).filter(({ ms }) => ms <= asOfMs).sort((a, b) => a.ms - b.ms);
  const starts = happened.filter(({ isStart }) => isStart);
  const counting = cohort === "recurring"
    ? starts
    : starts.filter((one, i) => starts.findIndex(({ user_id }) => user_id === one.user_id) === i);
  return periods.slice(0, 1 - CELLS).map((_, i) => {
    const members = new Set(
      counting.filter(({ period }) => period === i).map(({ user_id }) => user_id),
    );
    return periods.slice(i, i + CELLS).map(({ startMs }, k) => {
      if (startMs > asOfMs) return null;
      const back = happened.filter(({ user_id, period, ms }) =>
        members.has(user_id) && (criterion === "on" ? period === i + k : ms >= startMs)
      );
      return new Set(back.map(({ user_id }) => user_id)).size;
    });
  });
}

onPostgres("retention: over years, cells agree with a reference computation", async (t, db) => {
  const database = await openWithProjects(db);
  await insertEvents(database, LONG_HISTORY.toSorted((a, b) => a.event_id < b.event_id ? -1 : 1));
  await createProjection(database).catchUp(1);

  for (const [interval, from] of Object.entries(LONG_RANGES)) {
    for (const cohort of ["first", "recurring"]) {
      for (const criterion of ["on", "on_or_after"]) {
        await t.step(`${interval}, ${cohort}, ${criterion}`, async () => {
          const asked = { interval, from, to: "2026-03-10", timezone: "Europe/Berlin" };
          const query = { ...asked, cohort, criterion, periods: `${CELLS}`, start: "signup" };
          const { actors } = await ask(database, query);
          const range = readRange(new URLSearchParams(asked), "UTC", Date.parse(AS_OF));
          const periods = wholePeriods(range, interval as Exclude<Interval, "hour">, CELLS - 1);
          const expected = reckoned(periods, cohort, criterion);
          assert.equal(actors.length, expected.length);
          // One at a time: the difference of all would be too large to tell.
          for (const [i, cells] of expected.entries()) assert.deepEqual(actors[i], cells);
          assert.ok(actors.some(([, ...later]) => later.some((actors) => actors! > 0)));
        });
      }
    }
  }
});

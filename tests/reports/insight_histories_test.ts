import fc from "fast-check";
import assert from "node:assert/strict";
import type { Sql } from "../../src/db/sql.ts";
import { calendarOf } from "../../src/reports/insight_calendar.ts";
import { type Asked, DIMENSIONS } from "../../src/reports/insight_candidates.ts";
import { candidatesInFacts } from "../../src/reports/insight_facts.ts";
import { candidatesInHistories } from "../../src/reports/insight_histories.ts";
import { readCandidates } from "../../src/reports/insight_measures.ts";
import { type EventMatch, SESSION_FIELDS } from "../../src/selection/filters.ts";
import type { Range } from "../../src/selection/range.ts";
import type { BotChoice } from "../../src/selection/selection.ts";
import type { Read } from "../../src/walks/read.ts";
import { onBothEngines } from "../support/databases.ts";
import { newRow } from "../support/event_rows.ts";
import { followedHistories, NO_HISTORIES } from "../support/read_histories.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "./session_world.ts";

const DAY_MS = 86_400_000;
const WORLD_TO_MS = WORLD_FROM_MS + WORLD_DAYS * DAY_MS;
const KNOWN = [...TOLD_FIELDS, ...SESSION_FIELDS];

const history = randomHistory(300);
/** Where nothing is, and just when something happens, and just after: often within a session. */
const moment = fc.oneof(
  fc.integer({ min: WORLD_FROM_MS + 20 * DAY_MS, max: WORLD_TO_MS + DAY_MS }),
  fc.tuple(fc.constantFrom(...history), fc.nat({ max: 1 }))
    .map(([{ occurred_at }, after]) => Date.parse(occurred_at) + after),
);
const range = fc.tuple(
  moment,
  fc.oneof(moment, fc.constantFrom(...[1, 3, 7, 9].map((days) => days * DAY_MS))),
  fc.constantFrom("UTC", "Europe/Berlin"),
).map(([fromMs, to, timezone]): Range => {
  const toMs = to < WORLD_FROM_MS ? fromMs + to : to;
  return {
    from: new Date(Math.min(fromMs, toMs)),
    to: new Date(Math.max(fromMs, toMs)),
    timezone,
    fromDate: null,
    toDate: null,
  };
}).filter(({ from, to }) => from.getTime() < to.getTime());
const match = fc.record<EventMatch>({
  name: fc.constantFrom("buy", "page_view", "signup", "never", "$set", null),
  filters: fc.array(randomFilter(KNOWN), { maxLength: 2 }),
});
const someAsked = fc.array(
  fc.record<Asked>({
    match: fc.option(match),
    dimensions: fc.oneof(fc.constant(DIMENSIONS), fc.subarray([...DIMENSIONS])),
  }),
  { minLength: 1, maxLength: 4 },
);
const filters = fc.oneof(fc.constant([]), fc.array(randomFilter(KNOWN), { maxLength: 2 }));
const bots = fc.constantFrom<BotChoice>("exclude", "include", "only");

onBothEngines("insights: histories tell what facts and sessions tell", async (_t, db) => {
  const database = await openWithHistory(db, history);
  const { histories } = followedHistories(database);
  let told = 0;
  const asOf = fc.option(fc.integer({ min: WORLD_FROM_MS + 30 * DAY_MS, max: WORLD_TO_MS }));
  const property = fc.asyncProperty(
    fc.record({ range, someAsked, filters, bots, asOf }),
    async ({ range, someAsked, filters, bots, asOf }) => {
      const calendar = calendarOf(range, asOf ?? WORLD_TO_MS + 90 * DAY_MS, WORLD_FROM_MS);
      fc.pre(calendar !== null);
      const scope = { projectId: 1, siteHost: null, bots, filters };
      const source = { sql: database, scope, histories };
      const ofFacts = [];
      for (const one of someAsked) ofFacts.push(await candidatesInFacts(source, calendar, one));
      assert.deepEqual(await candidatesInHistories(source, calendar, someAsked), ofFacts);
      // As of values too many to be counted at once.
      assert.deepEqual(await candidatesInHistories(source, calendar, someAsked, 0), ofFacts);
      if (ofFacts.some((candidates) => candidates.some(({ current }) => current.sessions > 0))) {
        told++;
      }
    },
  );
  await fc.assert(property, { numRuns: 80 });
  assert.ok(told > 0);
});

onBothEngines("insights: the values with most events, of many", async (_t, db) => {
  // Of each second path two visitors, of the others one: many are alike, and their names decide.
  const rows = Array.from(
    { length: 80 },
    (_, i) =>
      Array.from({ length: 1 + i % 2 }, (_, who) =>
        newRow({
          anonymous_id: `who${i}-${who}`,
          name: "page_view",
          path: `/${(i * 37) % 80}é${i}`,
          country: i % 3 === 0 ? null : String.fromCharCode(65 + i % 26, 65 + i % 7),
          occurred_at: new Date(WORLD_TO_MS - 2 * DAY_MS + i * 60_000 + who).toISOString(),
        })),
  )
    .flat();
  const early = newRow({ occurred_at: new Date(WORLD_FROM_MS).toISOString() });
  const database = await openWithHistory(db, [...rows, early]);
  const range: Range = {
    from: new Date(WORLD_TO_MS - 3 * DAY_MS),
    to: new Date(WORLD_TO_MS),
    timezone: "UTC",
    fromDate: null,
    toDate: null,
  };
  const calendar = calendarOf(range, WORLD_TO_MS, WORLD_FROM_MS)!;
  const scope = { projectId: 1, siteHost: null, bots: "exclude", filters: [] } as const;
  const { histories } = followedHistories(database);
  const source = { sql: database, scope, histories };
  const asked: Asked[] = [null, { name: "page_view", filters: [] }]
    .map((match) => ({ match, dimensions: DIMENSIONS }));
  const ofFacts = await candidatesInFacts(source, calendar, asked[0]!);
  const paths = ofFacts.filter(({ dimension }) => dimension === "entryPath");
  assert.equal(paths.length, 50);
  assert.deepEqual([paths[39]!.current.events, paths[40]!.current.events], [2, 1]);
  for (const cellsMax of [undefined, 0, 2_000]) {
    const told = await candidatesInHistories(source, calendar, asked, cellsMax);
    assert.deepEqual(told, [ofFacts, ofFacts]);
  }
});

onBothEngines("insights: what histories do not hold is counted from the facts", async (_t, db) => {
  const database = await openWithHistory(db, history);
  const range: Range = {
    from: new Date(WORLD_TO_MS - 10 * DAY_MS),
    to: new Date(WORLD_TO_MS),
    timezone: "UTC",
    fromDate: null,
    toDate: null,
  };
  const calendar = calendarOf(range, WORLD_TO_MS, WORLD_FROM_MS)!;
  const { histories, followed } = followedHistories(database);
  const lacking = { field: "properties.x", op: "not_exists", values: [] } as const;
  const asked: Asked[] = [
    { match: null, dimensions: DIMENSIONS },
    { match: { name: "buy", filters: [lacking] }, dimensions: ["country"] },
    { match: { name: "signup", filters: [] }, dimensions: [] },
  ];
  const scope = { projectId: 1, siteHost: null, bots: "exclude", filters: [] } as const;
  let ofFacts = 0;
  const sql: Sql = {
    query: (statement, params) => {
      if (statement.includes("facts_of")) ofFacts++;
      return database.query(statement, params);
    },
    script: (statements) => database.script(statements),
    transaction: (work) => database.transaction(work),
  };
  const told = await readCandidates({ sql, scope, histories }, calendar, asked);
  assert.ok(followed() > 0);
  assert.equal(ofFacts, 1);
  assert.deepEqual(
    told,
    await readCandidates({ sql, scope, histories: NO_HISTORIES }, calendar, asked),
  );
  assert.equal(ofFacts, 1 + asked.length);
  assert.deepEqual(told.map((candidates) => candidates.length > 1), [true, true, false]);
  const filtered = { ...scope, filters: [lacking] };
  const refused: Read["histories"] = () => assert.fail("pointers are in no history");
  const source = { sql: database, scope: filtered, histories: refused };
  assert.deepEqual(
    await readCandidates(source, calendar, asked),
    told,
  );
});

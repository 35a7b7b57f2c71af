import fc from "fast-check";
import assert from "node:assert/strict";
import { calendarOf } from "../../../src/reports/insights/insight_calendar.ts";
import {
  type Candidate,
  type CandidateQuestion,
  type Dimension,
  DIMENSIONS,
} from "../../../src/reports/insights/insight_candidates.ts";
import { readCandidates } from "../../../src/reports/insights/insight_scan.ts";
import { readKpis } from "../../../src/reports/kpis/kpis.ts";
import { type EventMatch, type Filter, SESSION_FIELDS } from "../../../src/query/filters.ts";
import type { Range } from "../../../src/query/range.ts";
import {
  type BotChoice,
  matchFilters,
  type Scope,
  type Span,
} from "../../../src/query/selection.ts";
import { onBothEngines } from "../../support/databases.ts";
import { casesOn } from "../../support/engine_cases.ts";
import { newRow } from "../../support/event_rows.ts";
import { timelinesOf } from "../../support/read_timelines.ts";
import {
  openWithHistory,
  randomFilter,
  randomHistory,
  TOLD_FIELDS,
  WORLD_DAYS,
  WORLD_FROM_MS,
} from "../session_world.ts";

const DAY_MS = 86_400_000;
const WORLD_TO_MS = WORLD_FROM_MS + WORLD_DAYS * DAY_MS;
/** Few enough that the history lies in several parts. */
const PART_BYTES = 20_000;
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
  fc.record<CandidateQuestion>({
    match: fc.option(match),
    dimensions: fc.oneof(fc.constant(DIMENSIONS), fc.subarray([...DIMENSIONS])),
  }),
  { minLength: 1, maxLength: 4 },
);
const filters = fc.oneof(fc.constant([]), fc.array(randomFilter(KNOWN), { maxLength: 2 }));
const bots = fc.constantFrom<BotChoice>("exclude", "include", "only");

/** The filters of the read of key figures that a candidate is to agree with. */
function filtersOf({ match }: CandidateQuestion, { dimension, value }: Candidate): Filter[] {
  const ofMatch = match === null ? [] : matchFilters(match);
  if (dimension === null) return [...ofMatch];
  return [
    ...ofMatch,
    value === null
      ? { field: dimension, op: "not_exists", values: [] }
      : { field: dimension, op: "is", values: [value] },
  ];
}

/** Of which dimensions a filter means the same sessions. */
const SAME: readonly (Dimension | null)[] = [null, "channel", "source", "campaign"];

onBothEngines("insights: candidates have the key figures under a filter", async (_t, db) => {
  const database = await openWithHistory(db, history);
  const timelines = timelinesOf(database);
  const inParts = timelinesOf(database, 1, 0, PART_BYTES);
  let told = 0;
  const asOf = fc.option(fc.integer({ min: WORLD_FROM_MS + 30 * DAY_MS, max: WORLD_TO_MS }));
  const property = fc.asyncProperty(
    fc.record({ range, someAsked, filters, bots, asOf }),
    async ({ range, someAsked, filters, bots, asOf }) => {
      const calendar = calendarOf(range, asOf ?? WORLD_TO_MS + 90 * DAY_MS, WORLD_FROM_MS);
      fc.pre(calendar !== null);
      const scope: Scope = { projectId: 1, siteHost: null, bots, filters };
      const source = { sql: database, scope, timelines };
      const { lists } = await readCandidates(source, calendar, someAsked);
      // As of values too many to be counted at once.
      assert.deepEqual((await readCandidates(source, calendar, someAsked, 0)).lists, lists);
      // As of a history larger than memory.
      const parted = { ...source, timelines: inParts };
      assert.deepEqual((await readCandidates(parted, calendar, someAsked)).lists, lists);
      const span: Span = { fromMs: range.from.getTime(), toMs: range.to.getTime() };
      for (const [i, candidates] of lists.entries()) {
        for (const candidate of candidates.filter(({ dimension }) => SAME.includes(dimension))) {
          const all = [...filters, ...filtersOf(someAsked[i]!, candidate)];
          const { totals } = await readKpis({ ...source, scope: { ...scope, filters: all } }, [
            span,
          ]);
          const { visitors, pageviews, events, sessions, bounceRate } = totals;
          const bounces = bounceRate.numerator;
          assert.deepEqual(candidate.current, { visitors, pageviews, events, sessions, bounces });
          if (sessions! > 0) told++;
        }
      }
    },
  );
  await fc.assert(property, { numRuns: casesOn(database, 50) });
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
  const source = { sql: database, scope, timelines: timelinesOf(database) };
  const asked: CandidateQuestion[] = [null, { name: "page_view", filters: [] }]
    .map((match) => ({ match, dimensions: DIMENSIONS }));
  const { lists: [all] } = await readCandidates(source, calendar, asked);
  const paths = all!.filter(({ dimension }) => dimension === "entryPath");
  assert.equal(paths.length, 50);
  assert.deepEqual([paths[39]!.current.events, paths[40]!.current.events], [2, 1]);
  // Equal ones by name, as code points are ordered.
  const names = paths.map(({ value }) => value!);
  for (const part of [names.slice(0, 40), names.slice(40)]) {
    assert.deepEqual(part, part.toSorted());
  }
  for (const cellsMax of [undefined, 0, 2_000]) {
    const { lists } = await readCandidates(source, calendar, asked, cellsMax);
    assert.deepEqual(lists, [all, all]);
  }
});

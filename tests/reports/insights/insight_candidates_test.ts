import assert from "node:assert/strict";
import type { Database } from "../../../src/db/sql.ts";
import type { EventRow } from "../../../src/store/event_row.ts";
import { calendarOf } from "../../../src/reports/insights/insight_calendar.ts";
import {
  type Candidate,
  type CandidateQuestion,
  type Counts,
  DIMENSIONS,
} from "../../../src/reports/insights/insight_candidates.ts";
import { readCandidates } from "../../../src/reports/insights/insight_scan.ts";
import { readKpis } from "../../../src/reports/kpis/kpis.ts";
import { bucketsOf } from "../../../src/query/buckets.ts";
import type { EventMatch, Filter } from "../../../src/query/filters.ts";
import type { Range } from "../../../src/query/range.ts";
import type { Span } from "../../../src/query/selection.ts";
import { createProjection } from "../../../src/projection/projection.ts";
import type { Read } from "../../../src/scans/read.ts";
import { onBothEngines } from "../../support/databases.ts";
import { chosenOn } from "../../support/engine_cases.ts";
import { newRow, openWithProjects } from "../../support/event_rows.ts";
import { diceOf, pick, readOf, store } from "./insight_world.ts";

const MINUTE_MS = 60_000;
const WEEK_MS = 7 * 1_440 * MINUTE_MS;
const FIRST_MS = Date.parse("2026-09-10T00:00:00Z");
const DAYS = 50;

/** Whatever may happen: sessions over midnight, in two countries, by bots, and events of none. */
function history(seed: number): EventRow[] {
  const dice = diceOf(seed);
  const rows: EventRow[] = [];
  for (let i = 0; i < 500; i++) {
    const who = `who${Math.floor(dice() * 40)}`;
    let atMs = FIRST_MS + Math.floor(dice() * DAYS * 1_440) * MINUTE_MS;
    const inSession = dice() < 0.9;
    for (let left = Math.ceil(dice() * 4); left > 0; left--) {
      rows.push({
        ...pageView(dice),
        anonymous_id: who,
        in_session: inSession,
        // Nothing of one week has the context of another.
        city: `City ${Math.floor((atMs - FIRST_MS) / WEEK_MS)}`,
        occurred_at: new Date(atMs).toISOString(),
      });
      atMs += Math.floor(dice() * 25) * MINUTE_MS;
    }
  }
  return rows;
}

function pageView(dice: () => number): EventRow {
  return newRow({
    name: pick(dice, ["page_view", "page_view", "buy", "click"]),
    path: pick(dice, ["/a", "/b", "/c", null]),
    country: pick(dice, ["DE", "DE", "US", null]),
    device: pick(dice, ["d", "m", "t"]),
    browser: pick(dice, ["Chrome", "Safari", ""]),
    utm_source: pick(dice, ["news", "shop", null]),
    utm_campaign: pick(dice, ["spring", null]),
    bot: dice() < 0.1,
  });
}

function sum(all: readonly Counts[]): Counts {
  const total = (of: (counts: Counts) => number) => all.reduce((n, counts) => n + of(counts), 0);
  return {
    visitors: total((counts) => counts.visitors),
    pageviews: total((counts) => counts.pageviews),
    events: total((counts) => counts.events),
    sessions: total((counts) => counts.sessions),
    bounces: total((counts) => counts.bounces),
  };
}

async function kpisOf(read: Read, filters: readonly Filter[], span: Span): Promise<Counts> {
  const scope = { ...read.scope, filters: [...read.scope.filters, ...filters] };
  const { totals } = await readKpis({ sql: read.sql, scope, timelines: read.timelines }, [span]);
  const { visitors, pageviews, events, sessions, bounceRate } = totals;
  return {
    visitors: visitors!,
    pageviews: pageviews!,
    events: events!,
    sessions: sessions!,
    bounces: bounceRate.numerator,
  };
}

const spanOf = ({ from, to }: Pick<Range, "from" | "to">): Span => ({
  fromMs: from.getTime(),
  toMs: to.getTime(),
});

function filtersOf({ dimension, value }: Candidate, match?: EventMatch): Filter[] {
  const ofMatch: Filter[] = match === undefined
    ? []
    : [{ field: "name", op: "is", values: [match.name!] }, ...match.filters];
  if (dimension === null) return ofMatch;
  return [
    ...ofMatch,
    value === null
      ? { field: dimension, op: "not_exists", values: [] }
      : { field: dimension, op: "is", values: [value] },
  ];
}

/** Candidates against key figures under its filter. */
async function check(
  database: Database,
  parameters: Record<string, string>,
  asOf: string,
  match?: EventMatch,
): Promise<readonly Candidate[]> {
  const read = readOf(database, parameters, asOf, { timezone: "Europe/Berlin" });
  const calendar = calendarOf(read.range, read.asOfMs, FIRST_MS)!;
  const asked: CandidateQuestion = { match: match ?? null, dimensions: DIMENSIONS };
  const { lists: [candidates] } = await readCandidates(read, calendar, [asked]);
  const passed = { ...read.range, to: new Date(Math.min(read.asOfMs, read.range.to.getTime())) };
  const days = bucketsOf(passed, "day");
  for (const candidate of chosenOn(database, candidates!)) {
    const of = (span: Span) => kpisOf(read, filtersOf(candidate, match), span);
    const told = `${candidate.dimension} ${candidate.value}`;
    assert.deepEqual(candidate.current, await of(spanOf(read.range)), `current ${told}`);
    assert.deepEqual(candidate.previous, await of(spanOf(calendar.previous)), `previous ${told}`);
    if (days.length > 7 || candidate.dimension === "entryPath") continue;
    const ofEach = await Promise.all(days.map(of));
    assert.deepEqual(candidate.ofDays, sum(ofEach), `days ${told}`);
    if (calendar.rangeWeekdays.length > 0) assert.deepEqual(candidate.days, ofEach, `each ${told}`);
    for (const day of [0, 6, calendar.weeks * 7 - 1]) {
      const segments = calendar.segments.filter((segment) => segment.day === day);
      const span = { fromMs: segments[0]!.fromMs, toMs: segments.at(-1)!.toMs };
      assert.deepEqual(candidate.daysBefore[day], await of(span), `day ${day} ${told}`);
    }
  }
  return candidates!;
}

onBothEngines("candidates of insights: key figures under a filter", async (t, db) => {
  const database = await openWithProjects(db);
  await store(database, history(7));
  await createProjection(database).catchUp(1);

  await t.step("a week with a clock change, long over", async () => {
    const candidates = await check(
      database,
      { from: "2026-10-20", to: "2026-10-26" },
      "2026-11-21T12:00:00Z",
    );
    const values = (dimension: string) =>
      candidates.filter((one) => one.dimension === dimension).map(({ value }) => value).sort();
    assert.deepEqual(values("country"), ["DE", "US", null]);
    assert.deepEqual(values("browser"), ["", "Chrome", "Safari"]);
    assert.deepEqual(values("source"), ["news", null, "shop"]);
    assert.ok(candidates[0]!.current.visitors > 20);
  });

  await t.step("days of which the last is not over", async () => {
    await check(database, { from: "2026-10-24", to: "2026-10-26" }, "2026-10-26T13:00:00Z");
  });

  await t.step("instants, filters of all kinds, and bots", async () => {
    const filters = JSON.stringify([
      { field: "country", op: "is", values: ["DE"] },
      { field: "source", op: "is_not", values: ["shop"] },
    ]);
    const range = { from: "2026-10-20T15:00:00Z", to: "2026-10-22T15:00:00Z" };
    for (const bots of ["exclude", "include", "only"]) {
      await check(database, { ...range, filters, bots }, "2026-11-21T12:00:00Z");
    }
  });

  await t.step("two weeks, and conversions", async () => {
    const match: EventMatch = {
      name: "buy",
      filters: [{ field: "device", op: "is_not", values: ["tablet"] }],
    };
    const range = { from: "2026-10-16", to: "2026-10-29" };
    await check(database, range, "2026-10-29T09:00:00Z", match);
  });
});

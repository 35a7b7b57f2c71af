import { packInts, unpackInts } from "../db/packed_ints.ts";
import type { Sql } from "../db/sql.ts";
import { walkActors } from "../histories/actor_walk.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import { type Filter, isSessionField } from "../selection/filters.ts";
import { afterCursor, type RowCursor } from "../selection/row_cursor.ts";
import { matchFilters, sessionValue, type Span } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import {
  type AcquisitionTally,
  AcquisitionWalk,
  type CountedSessions,
  type NumberedIds,
  type SessionsAndEvents,
  WHOLE,
} from "../walks/acquisition_walk.ts";
import { eventTests } from "../walks/event_tests.ts";
import type { MarkBits } from "../walks/marked_histories.ts";
import type { Read } from "../walks/read.ts";
import { isScopeKnownToHistories } from "../walks/selected_histories.ts";
import { sessionsEndByMs } from "../walks/session_end.ts";
import { sessionTest } from "../walks/session_tests.ts";
import { readTechnicalNames } from "../walks/technical_names.ts";
import {
  alikeNumbers,
  type Asked,
  countsOf,
  type Figures,
  numberedBy,
  orderOf,
} from "./acquisition_values.ts";
import { readNewActors } from "./new_actors.ts";
import { rowCandidates } from "./row_candidates.ts";

type Source = Pick<Read, "sql" | "histories">;

/** What was counted, and what the places and rules of the tally stand for. */
interface CountedValues extends Pick<CountedSessions, "values" | "rules"> {
  readonly tally: AcquisitionTally;
}

/** Ids that each have a number of their own. */
function unlike(idMax: number): NumberedIds {
  const numbers = Int32Array.from({ length: idMax + 1 }, (_, id) => id);
  return { idsFrom: 0, numberOf: numbers, idOf: numbers };
}

/** Numbers ids: `alike` is a statement that lists each with the least one that stands for the same. */
async function numbered(sql: Sql, params: SqlParams, alike: string): Promise<NumberedIds> {
  const [row] = await sql.query<{ ids: string | null }>(
    `SELECT ${packInts(["number", "value_number"])} AS ids
    FROM (${alike}) AS alike`,
    params.values,
  );
  const pairs = unpackInts(row!.ids);
  const idsFrom = pairs.reduce((min, id) => Math.min(min, id), 0);
  const idsTo = pairs.reduce((max, id) => Math.max(max, id), 0);
  const numberOf = new Int32Array(idsTo - idsFrom + 1);
  const least: number[] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    if (pairs[i] === pairs[i + 1]) numberOf[pairs[i]! - idsFrom] = least.push(pairs[i]!) - 1;
  }
  for (let i = 0; i < pairs.length; i += 2) {
    numberOf[pairs[i]! - idsFrom] = numberOf[pairs[i + 1]! - idsFrom]!;
  }
  return { idsFrom, numberOf, idOf: Int32Array.from(least) };
}

/** Channel rules, by the ids of the traffic that they decided on. */
async function numberedRules(sql: Sql, projectId: number): Promise<NumberedIds> {
  const params = new SqlParams();
  return await numbered(
    sql,
    params,
    `SELECT traffic_id AS number,
      min(traffic_id) OVER (PARTITION BY rule COLLATE "C") AS value_number
    FROM traffic WHERE project_id = ${params.int(projectId)}`,
  );
}

/** The filters on all sessions, and those on sessions that convert. */
function filtersOf({ scope, goal }: Asked): (readonly Filter[])[] {
  return [scope.filters, ...goal === null ? [] : [matchFilters(goal)]];
}

/** What to count, by ids. */
async function countedSessions(sql: Sql, asked: Asked, bits: MarkBits): Promise<CountedSessions> {
  const { span, scope, by } = asked;
  const lists = filtersOf(asked);
  const ofEvents = lists.map((filters) => filters.filter(({ field }) => !isSessionField(field)));
  const tests: SessionsAndEvents[] = [];
  for (const [i, events] of (await eventTests(sql, scope, scope.bots, ofEvents, bits)).entries()) {
    tests.push({ sessions: await sessionTest(sql, scope, lists[i]!), events });
  }
  const [selected, converting = null] = tests;
  const params = new SqlParams();
  const alike = alikeNumbers(params, asked);
  return {
    span,
    valueId: numberedBy(by).number,
    values: alike === null ? unlike(selected!.events.termMax) : await numbered(sql, params, alike),
    rules: await numberedRules(sql, scope.projectId),
    selected: selected!,
    goal: converting,
    technical: await readTechnicalNames(sql, scope.projectId),
  };
}

/** What values come to; null where no histories are at hand. */
async function tallyOf(source: Source, asked: Asked): Promise<CountedValues | null> {
  const { sql, histories } = source;
  const { scope, span } = asked;
  // Of a session that crosses the beginning of the span, only that it does matters: it does not count.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: await sessionsEndByMs(source, scope.projectId, span.toMs),
  };
  const loaded = await histories(reach, filtersOf(asked).flat());
  if (loaded === null) return null;
  const counted = await countedSessions(sql, asked, loaded.bits);
  const news = readNewActors(sql, loaded, span, reach);
  // Whoever waits for it is told; until then nobody is.
  news.catch(() => {});
  const walk = new AcquisitionWalk(counted, reach);
  await walkActors(sql, loaded, (actor, way) => walk.visit(actor, way));
  walk.tally.end(await news);
  return { tally: walk.tally, values: counted.values, rules: counted.rules };
}

/** A place of the tally, and the value that it stands for. */
interface NamedPlace {
  readonly place: number;
  readonly value: string | null;
}

/** The values that follow the cursor, `rows` at most. */
async function valuesAfter(
  sql: Sql,
  { scope, by, goal }: Asked,
  { tally, values: { idOf } }: CountedValues,
  cursor: RowCursor | null,
  rows: number,
): Promise<NamedPlace[]> {
  const { visitors, newVisitors, sessions, pageviews, conversions } = tally;
  const isListed = (place: number) => sessions[place]! > 0;
  const places = rowCandidates([visitors, newVisitors], isListed, cursor, rows);
  if (places.length === 0) return [];
  const params = new SqlParams();
  const { joins, value } = sessionValue(by);
  const columns = [visitors, newVisitors, sessions, pageviews, conversions].map((counts) =>
    params.ints(places.map((place) => counts[place]!))
  );
  const ids = params.ints(places.map((place) => idOf[place - 1]!));
  const names = `place, ${numberedBy(by).number}, visitors, "newVisitors", sessions, pageviews`;
  return await sql.query<NamedPlace & Record<string, unknown>>(
    `SELECT place, value
    FROM (
      SELECT s.*, ${value} AS value
      FROM (
        SELECT *, ${params.int(scope.projectId)} AS project_id
        FROM unnest(${params.ints(places)}, ${ids}, ${columns.join(", ")})
          AS counted (${names}, conversions)
      ) AS s ${joins}
    ) AS named
    WHERE ${afterCursor(params, cursor, countsOf(goal !== null), "value")}
    ORDER BY ${orderOf(goal !== null)}
    LIMIT ${params.int(rows)}`,
    params.values,
  );
}

/** The rule of most sessions at each of these places; among equals the first by name. */
async function rulesAt(
  sql: Sql,
  projectId: number,
  { tally, rules: { idOf } }: CountedValues,
  places: readonly number[],
): Promise<Map<number, string>> {
  const { ruleCount } = tally;
  const counts = tally.rulesOf(places);
  const most = places.map((_, i) =>
    counts.subarray(i * ruleCount, (i + 1) * ruleCount).reduce((max, n) => Math.max(max, n), 0)
  );
  const prevailing = [...counts.keys()].filter((at) =>
    counts[at]! > 0 && counts[at] === most[Math.floor(at / ruleCount)]
  );
  if (prevailing.length === 0) return new Map();
  const params = new SqlParams();
  const listed = [
    params.ints(prevailing.map((at) => places[Math.floor(at / ruleCount)]!)),
    params.ints(prevailing.map((at) => idOf[at % ruleCount]!)),
  ];
  const found = await sql.query<{ place: number; rule: string }>(
    `SELECT p.place, min(t.rule COLLATE "C") AS rule
    FROM unnest(${listed.join(", ")}) AS p (place, traffic_id)
    JOIN traffic t ON t.project_id = ${params.int(projectId)} AND t.traffic_id = p.traffic_id
    GROUP BY p.place`,
    params.values,
  );
  return new Map(found.map(({ place, rule }) => [place, rule]));
}

function figuresAt(
  tally: AcquisitionTally,
  place: number,
  value: string | null,
  rule: string | null,
): Figures {
  return {
    whole: place === WHOLE,
    value,
    visitors: tally.visitors[place]!,
    newVisitors: tally.newVisitors[place]!,
    sessions: tally.sessions[place]!,
    bounces: tally.bounces[place]!,
    pageviews: tally.pageviews[place]!,
    conversions: tally.conversions[place]!,
    rule,
  };
}

/**
 * The rows that follow the cursor, `rows` at most, and last the whole, counted in one walk over the
 * actors' histories. Null where histories do not hold what the filters or the goal ask for, or are
 * not at hand: then facts and sessions tell it.
 */
export async function figuresInHistories(
  source: Source,
  asked: Asked,
  cursor: RowCursor | null,
  rows: number,
): Promise<Figures[] | null> {
  const { scope: { projectId, filters }, goal } = asked;
  if (!isScopeKnownToHistories([...filters, ...goal?.filters ?? []])) return null;
  const counted = await tallyOf(source, asked);
  if (counted === null) return null;
  const named = await valuesAfter(source.sql, asked, counted, cursor, rows);
  const places = named.map(({ place }) => place);
  const rules = await rulesAt(source.sql, projectId, counted, places);
  return [
    ...named.map(({ place, value }) =>
      figuresAt(counted.tally, place, value, rules.get(place) ?? null)
    ),
    figuresAt(counted.tally, WHOLE, null, null),
  ];
}

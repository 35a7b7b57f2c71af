import type { Row } from "../db/sql.ts";
import { INSIGHT_VALUES_MAX } from "../limits.ts";
import type { EventMatch } from "./filters.ts";
import type { Calendar } from "./insight_calendar.ts";
import type { Read } from "./report.ts";
import { factConditions, sessionValue } from "./selection.ts";
import { sessionsEndByMs } from "./session_end.ts";
import { SqlParams } from "./sql_params.ts";

/** What changes are told by, in the order in which equal ones are: each is a field of filters. */
export const DIMENSIONS = [
  "channel",
  "source",
  "campaign",
  "entryPath",
  "country",
  "device",
  "browser",
] as const;

export type Dimension = typeof DIMENSIONS[number];

/** What one piece of time comes to. */
export interface Counts {
  visitors: number;
  pageviews: number;
  events: number;
  sessions: number;
  bounces: number;
}

/** What everything together, or one value of a dimension, comes to. */
export interface Candidate {
  /** Null: everything together. */
  readonly dimension: Dimension | null;
  /** Null where it is missing. */
  readonly value: string | null;
  readonly current: Counts;
  readonly previous: Counts;
  /** The days of the range that are compared, each counted by itself, together. */
  readonly ofDays: Counts;
  /** Each of the days of the weeks before. */
  readonly daysBefore: readonly Counts[];
}

/** The column of a piece of visit that the value of a dimension is known by. */
function numberOf(dimension: Dimension): "traffic_id" | "entry_path_id" | "context_id" {
  switch (dimension) {
    case "channel":
    case "source":
    case "campaign":
      return "traffic_id";
    case "entryPath":
      return "entry_path_id";
    default:
      return "context_id";
  }
}

/** Segments that belong to the same: what is counted of them can be added. */
interface Group {
  readonly period: "current" | "previous" | null;
  /** The day of the weeks before; equal to their number: any day of the range. */
  readonly slot: number | null;
}

interface Places {
  readonly groups: readonly Group[];
  /** Of each segment its group, its period (1 current, 2 previous) and its day, from 1; 0: none. */
  readonly groupOf: readonly number[];
  readonly periodOf: readonly number[];
  readonly dayOf: readonly number[];
}

function placesOf({ segments, weekdays }: Calendar): Places {
  const groups = new Map<string, { group: Group; number: number }>();
  const groupOf = segments.map(({ period, day }) => {
    if (period === null && day === null) return 0;
    const slot = day === null ? null : Math.min(day, weekdays.length);
    const known = groups.get(`${period} ${slot}`);
    if (known !== undefined) return known.number;
    const number = groups.size + 1;
    groups.set(`${period} ${slot}`, { group: { period, slot }, number });
    return number;
  });
  return {
    groups: [...groups.values()].map(({ group }) => group),
    groupOf,
    periodOf: segments.map(({ period }) => period === "current" ? 1 : period === null ? 0 : 2),
    dayOf: segments.map(({ day }) => day === null ? 0 : day + 1),
  };
}

/**
 * Selected facts, one row for each session of an actor in each segment and context, and what is known
 * of the session. Facts after the last segment stand for sessions that began in it.
 *
 * `alone_…` marks rows that are the only one of their actor in a day or a period, `complete` those
 * that hold all events of their session: most rows are, and are added up without being compared
 * (`added`). Sessions whose events lie in several rows, or are not all selected, are `torn`.
 */
function piecesSql(
  params: SqlParams,
  { scope }: Read,
  { segments }: Calendar,
  { groupOf, periodOf, dayOf }: Places,
  reachToMs: number,
  match: EventMatch | undefined,
): string {
  const fromMs = segments[0]!.fromMs;
  const bounds = [...segments.map((segment) => segment.fromMs), segments.at(-1)!.toMs];
  // Subqueries, since casts from text are not folded into constants: each row would parse the arrays.
  const starts = `(SELECT ${params.bigints(bounds)})`;
  const [group, period, day] = [groupOf, periodOf, dayOf].map((of) =>
    `(SELECT ${params.ints(of)})`
  );
  const placed = (segment: string) => `coalesce((${group})[${segment}], 0)`;
  const conditions = factConditions(params, scope, { fromMs, toMs: reachToMs }, match);
  return `facts_of AS (
      SELECT f.actor_id, f.session_id, f.context_id, width_bucket(f.tick >> 16, ${starts}) AS segment,
        count(*)::int AS events, (count(*) FILTER (WHERE f.name_id = 1))::int AS pageviews
      FROM facts f WHERE ${conditions} GROUP BY 1, 2, 3, 4
    ), placed AS (
      SELECT p.*, coalesce(s.traffic_id, 0) AS traffic_id, coalesce(s.entry_path_id, 0) AS entry_path_id,
        ${placed("p.segment")} AS place, coalesce((${period})[p.segment], 0) AS period,
        coalesce((${day})[p.segment], 0) AS day,
        ${placed(`width_bucket(s.first_tick >> 16, ${starts})`)} AS start_place,
        s.views <= 1 AND s.customs = 0 AS bounce, p.events = s.events AS complete
      FROM facts_of p
      LEFT JOIN sessions s ON s.project_id = ${params.int(scope.projectId)}
        AND s.session_id = p.session_id AND s.actor_id = p.actor_id
    ), pieces AS MATERIALIZED (
      SELECT *, count(*) OVER (PARTITION BY actor_id, day) = 1 AS alone_in_day,
        count(*) OVER (PARTITION BY actor_id, period) = 1 AS alone_in_period
      FROM placed
    ), added AS MATERIALIZED (
      SELECT traffic_id, entry_path_id, context_id, place, start, count(*) AS pieces,
        sum(events)::int8 AS events, sum(pageviews)::int8 AS pageviews,
        count(*) FILTER (WHERE alone_in_day) AS in_day,
        count(*) FILTER (WHERE alone_in_period) AS in_period, count(*) FILTER (WHERE bounce) AS bounces
      FROM (SELECT *, CASE WHEN complete THEN start_place ELSE 0 END AS start FROM pieces) AS p
      GROUP BY GROUPING SETS ((traffic_id, place, start), (entry_path_id, place, start), (context_id, place, start))
    ), torn AS MATERIALIZED (
      SELECT DISTINCT session_id, traffic_id, entry_path_id, start_place, bounce FROM pieces
      WHERE (NOT complete) AND start_place > 0
    )`;
}

/** The values of a dimension with most events in both periods, and by which numbers they are known. */
function linesSql(
  params: SqlParams,
  dimension: Dimension,
  projectId: number,
  groups: readonly Group[],
): string {
  const { joins, value } = sessionValue(dimension);
  const number = numberOf(dimension);
  const inPeriods = groups.flatMap(({ period }, i) => period === null ? [] : i + 1);
  return `SELECT number, value, line FROM (
      SELECT number, value, dense_rank() OVER (ORDER BY events DESC, value COLLATE "C" NULLS LAST) AS line
      FROM (
        SELECT s.${number} AS number, ${value} AS value, sum(s.events) OVER (PARTITION BY ${value}) AS events
        FROM (
          SELECT ${number}, sum(events) AS events, ${params.int(projectId)} AS project_id FROM added
          WHERE ${number} IS NOT NULL AND place = ANY(${params.ints(inPeriods)}) GROUP BY 1
        ) AS s ${joins}
      ) AS known
    ) AS ranked WHERE line <= ${INSIGHT_VALUES_MAX}`;
}

/** What a row of the answer counts. */
const PIECES = 1;
const IN_DAY = 2;
const IN_PERIOD = 3;
const SESSIONS = 4;
const VALUE = 5;

interface CountRow extends Row {
  /** 0: everything together; else the dimension, from 1. */
  readonly dimension: number;
  readonly line: number;
  readonly kind: number;
  /** A group of segments, a day or a period, each from 1. */
  readonly place: number;
  readonly a: number;
  readonly b: number;
  readonly c: number;
  readonly d: number;
  readonly value: string | null;
}

/** The counts of one dimension's lines (null: of everything together, line 0). */
function countsSql(dimension: Dimension | null, rangeDay: string): string {
  const i = dimension === null ? 0 : DIMENSIONS.indexOf(dimension) + 1;
  const number = dimension === null ? "traffic_id" : numberOf(dimension);
  const lined = (table: string) =>
    dimension === null
      ? `(SELECT 0 AS line) AS l CROSS JOIN ${table} t`
      : `${table} t JOIN lines_${i} l ON l.number = t.${number}`;
  const shown = (kind: number, place: string, counts: string) =>
    `SELECT ${i} AS dimension, line::int AS line, ${kind} AS kind, ${place} AS place, ${counts}, NULL::text AS value`;
  const inDay = `least(day, ${rangeDay})`;
  // A session of several contexts is one of each of their values.
  const torn = number === "context_id"
    ? `(SELECT DISTINCT line, session_id, start_place, bounce FROM ${
      lined("pieces")
    } WHERE (NOT complete) AND start_place > 0) AS s`
    : lined("torn");
  return `${
    shown(
      PIECES,
      "place",
      `sum(events)::int8 AS a, sum(pageviews)::int8 AS b, sum(in_day)::int8 AS c, sum(in_period)::int8 AS d`,
    )
  }
    FROM ${lined("added")} WHERE ${number} IS NOT NULL AND place > 0 GROUP BY line, place
    UNION ALL
    ${shown(SESSIONS, "start", "sum(pieces)::int8, sum(bounces)::int8, 0, 0")}
    FROM ${lined("added")} WHERE ${number} IS NOT NULL AND start > 0 GROUP BY line, start
    UNION ALL
    ${shown(SESSIONS, "start_place", "count(*), count(*) FILTER (WHERE bounce), 0, 0")}
    FROM ${torn} GROUP BY line, start_place
    UNION ALL
    ${shown(IN_DAY, inDay, "count(*), 0, 0, 0")}
    FROM (
      SELECT DISTINCT line, day, actor_id FROM ${lined("pieces")}
      WHERE (NOT alone_in_day) AND day > 0
    ) AS actors GROUP BY line, ${inDay}
    UNION ALL
    ${shown(IN_PERIOD, "period", "count(*), 0, 0, 0")}
    FROM (
      SELECT DISTINCT line, period, actor_id FROM ${lined("pieces")}
      WHERE (NOT alone_in_period) AND period > 0
    ) AS actors GROUP BY line, period`;
}

const nothing = (): Counts => ({ visitors: 0, pageviews: 0, events: 0, sessions: 0, bounces: 0 });

interface Tally extends Candidate {
  value: string | null;
}

/** Adds what a row counts to the pieces of time that it counts for. */
function add(
  tally: Tally,
  { kind, place, a, b, c, d }: CountRow,
  groups: readonly Group[],
): void {
  const slotOf = (slot: number) => tally.daysBefore[slot] ?? tally.ofDays;
  const periodOf = (period: Group["period"]) =>
    period === "current" ? tally.current : tally.previous;
  if (kind === IN_DAY) slotOf(place - 1).visitors += a;
  else if (kind === IN_PERIOD) periodOf(place === 1 ? "current" : "previous").visitors += a;
  else {
    const { period, slot } = groups[place - 1]!;
    const targets: [Counts, number][] = [];
    if (slot !== null) targets.push([slotOf(slot), c]);
    if (period !== null) targets.push([periodOf(period), d]);
    for (const [counts, visitors] of targets) {
      counts.visitors += kind === PIECES ? visitors : 0;
      counts.events += kind === PIECES ? a : 0;
      counts.pageviews += kind === PIECES ? b : 0;
      counts.sessions += kind === SESSIONS ? a : 0;
      counts.bounces += kind === SESSIONS ? b : 0;
    }
  }
}

/**
 * What everything together comes to, first, then each of the values with most events of each of the
 * dimensions, all by the definitions of the key figures under a filter on the value: visitors, page
 * views and events of selected facts (those of `match` only, where one is given), sessions that
 * hold one of them, and how many of these bounce. Facts are read once, and everything is linear in them.
 */
export async function readCandidates(
  read: Read,
  calendar: Calendar,
  dimensions: readonly Dimension[],
  match?: EventMatch,
): Promise<Candidate[]> {
  const { sql, scope } = read;
  const params = new SqlParams();
  const places = placesOf(calendar);
  const toMs = calendar.segments.at(-1)!.toMs;
  const reachToMs = await sessionsEndByMs(sql, scope.projectId, toMs);
  const pieces = piecesSql(params, read, calendar, places, reachToMs, match);
  const lines = dimensions.map((dimension) => {
    const i = DIMENSIONS.indexOf(dimension) + 1;
    return `, lines_${i} AS MATERIALIZED (${
      linesSql(params, dimension, scope.projectId, places.groups)
    })`;
  });
  const values = dimensions.map((dimension) => {
    const i = DIMENSIONS.indexOf(dimension) + 1;
    return `SELECT DISTINCT ${i}, line::int, ${VALUE}, 0, 0::int8, 0::int8, 0::int8, 0::int8, value FROM lines_${i}`;
  });
  const rangeDay = params.int(calendar.weekdays.length + 1);
  const counts = [null, ...dimensions].map((dimension) => countsSql(dimension, rangeDay));
  const rows = await sql.query<CountRow>(
    `WITH ${pieces} ${lines.join("")} ${[...counts, ...values].join("\nUNION ALL\n")}`,
    params.values,
  );
  const tallies = new Map<string, Tally>();
  const tallyOf = (dimension: number, line: number): Tally => {
    const known = tallies.get(`${dimension} ${line}`);
    if (known !== undefined) return known;
    const tally: Tally = {
      dimension: DIMENSIONS[dimension - 1] ?? null,
      value: null,
      current: nothing(),
      previous: nothing(),
      ofDays: nothing(),
      daysBefore: calendar.weekdays.map(nothing),
    };
    tallies.set(`${dimension} ${line}`, tally);
    return tally;
  };
  tallyOf(0, 0);
  for (const row of rows.toSorted((a, b) => a.dimension - b.dimension || a.line - b.line)) {
    const tally = tallyOf(row.dimension, row.line);
    if (row.kind === VALUE) tally.value = row.value;
    else add(tally, row, places.groups);
  }
  return [...tallies.values()];
}

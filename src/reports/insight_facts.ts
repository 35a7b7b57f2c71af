import type { Row } from "../db/sql.ts";
import { INSIGHT_VALUES_MAX } from "../limits.ts";
import type { EventMatch } from "../selection/filters.ts";
import { factConditions, sessionValue } from "../selection/selection.ts";
import { SqlParams } from "../selection/sql_params.ts";
import type { Read } from "../walks/read.ts";
import { sessionsEndByMs, withoutHistories } from "../walks/session_end.ts";
import type { Calendar } from "./insight_calendar.ts";
import {
  type Asked,
  type Candidate,
  type Dimension,
  DIMENSIONS,
  type Group,
  numberOf,
  type Places,
  placesOf,
  Tally,
} from "./insight_candidates.ts";

type Source = Pick<Read, "sql" | "scope">;

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
  { scope }: Source,
  { segments }: Calendar,
  { groupOf, periodOf, dayOf }: Places,
  reachToMs: number,
  match: EventMatch | null,
): string {
  const fromMs = segments[0]!.fromMs;
  const bounds = [...segments.map((segment) => segment.fromMs), segments.at(-1)!.toMs];
  // Subqueries, since casts from text are not folded into constants: each row would parse the arrays.
  const starts = `(SELECT ${params.bigints(bounds)})`;
  const [group, period, day] = [groupOf, periodOf, dayOf].map((of) =>
    `(SELECT ${params.ints(of)})`
  );
  const placed = (segment: string) => `coalesce((${group})[${segment}], 0)`;
  const conditions = factConditions(params, scope, { fromMs, toMs: reachToMs }, match ?? undefined);
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

/**
 * The values of a dimension with most events in both periods, and by which numbers they are known:
 * by others before than in these, it may be.
 */
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
          SELECT ${number}, ${params.int(projectId)} AS project_id,
            sum(events) FILTER (WHERE place = ANY(${params.ints(inPeriods)})) AS events
          FROM added WHERE ${number} IS NOT NULL GROUP BY 1
        ) AS s ${joins}
      ) AS known
      WHERE events > 0
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

/** Adds what a row counts to the pieces of time that it counts for. */
function add(
  tally: Tally,
  { kind, place, a, b, c, d }: CountRow,
  groups: readonly Group[],
): void {
  if (kind === IN_DAY) tally.ofSlot(place - 1).visitors += a;
  else if (kind === IN_PERIOD) {
    (place === 1 ? tally.current : tally.previous).visitors += a;
  } else if (kind === SESSIONS) {
    const counts = { sessions: a, bounces: b };
    tally.add(groups[place - 1]!, counts, counts);
  } else {
    const counts = { events: a, pageviews: b };
    tally.add(groups[place - 1]!, { ...counts, visitors: c }, { ...counts, visitors: d });
  }
}

/** What `readCandidates` tells, from the facts: these are read once, and everything is linear in them. */
export async function candidatesInFacts(
  source: Source,
  calendar: Calendar,
  { match, dimensions }: Asked,
): Promise<Candidate[]> {
  const { sql, scope } = source;
  const params = new SqlParams();
  const places = placesOf(calendar);
  const toMs = calendar.segments.at(-1)!.toMs;
  const reachToMs = await sessionsEndByMs(
    { sql, histories: withoutHistories },
    scope.projectId,
    toMs,
  );
  const pieces = piecesSql(params, source, calendar, places, reachToMs, match);
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
    const tally = new Tally(calendar, DIMENSIONS[dimension - 1] ?? null, null);
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

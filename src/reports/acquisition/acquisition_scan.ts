import {
  type AcquisitionDimension,
  ROLLED_DIMENSIONS,
  WHOLE_DIMENSION,
} from "../../attribution/dimensions.ts";
import { packInts, unpackInts } from "../../db/packed_ints.ts";
import type { Sql } from "../../db/sql.ts";
import { SESSION_GAP_MS } from "../../limits.ts";
import { onEvents } from "../../query/filters.ts";
import { spanOf } from "../../query/range.ts";
import { matchFilters, type Span } from "../../query/selection.ts";
import { eventPasses } from "../../scans/event_tests.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import type { Read, ScanSource } from "../../scans/read.ts";
import { endOfSessions } from "../../scans/session_end.ts";
import { sessionPasses } from "../../scans/session_tests.ts";
import { readTechnicalNames } from "../../scans/technical_names.ts";
import type { Goal } from "../saved/goal_definitions.ts";
import { hiddenPlaces, smallPlaces } from "../answer/small_groups.ts";
import { type RolledSpan, rolledSpan } from "../rollups/rolled_up.ts";
import { worthProperty } from "../saved/goal_worth.ts";
import { countNew, withNewcomers } from "../visitors/new_actors.ts";
import { type NumberedValues, numberValues } from "../visitors/session_values.ts";
import {
  AcquisitionCounter,
  type AcquisitionTally,
  WHOLE,
  withTotals,
} from "./acquisition_tally.ts";
import {
  ACQUISITION_COUNTS,
  type AcquisitionInputs,
  type NumberedRules,
  type SessionsAndEvents,
} from "./acquisition_visitor.ts";
import { NEVER } from "../../store/no_day.ts";

/** By what sessions are split, and what is counted of them. */
interface AcquisitionQuestion {
  readonly by: AcquisitionDimension;
  /** The events that are conversions, and the value of one; null: none are counted. */
  readonly goal: Pick<Goal, "match" | "value"> | null;
}

async function readRules(sql: Sql, projectId: number): Promise<NumberedRules> {
  const [row] = await sql.query<{ pack: string | null }>(
    `SELECT ${packInts(["traffic_id", "rule_number"])} AS pack
    FROM (
      SELECT traffic_id, (dense_rank() OVER (ORDER BY rule COLLATE "C") - 1)::int AS rule_number
      FROM traffic WHERE project_id = $1::int
    ) AS numbered`,
    [projectId],
  );
  const pairs = unpackInts(row!.pack);
  const ruleOf = new Int32Array(pairs.reduce((max, id) => Math.max(max, id), 0) + 1);
  const trafficOf: number[] = [];
  for (let i = 0; i < pairs.length; i += 2) {
    ruleOf[pairs[i]!] = pairs[i + 1]!;
    trafficOf[pairs[i + 1]!] = pairs[i]!;
  }
  return { ruleOf, trafficOf };
}

/** Merges the values at the `folded` places into the first of these places. */
function withFolded(values: NumberedValues, folded: readonly number[]): NumberedValues {
  if (folded.length === 0) return values;
  const isFolded = new Set(folded);
  const first = folded[0]! - 1;
  const numberOf = values.numberOf.map((number) => isFolded.has(number + 1) ? first : number);
  return { ...values, numberOf };
}

export type AcquisitionSource = ScanSource & Pick<Read, "range">;

/**
 * Counts sessions by value; `isNew` tells which of those who may be new are.
 * @param prepareValues returns the values by which sessions are counted, and the row whose sessions are listed
 */
export async function scanSessions(
  read: AcquisitionSource,
  { by, goal }: AcquisitionQuestion,
  prepareValues: (
    values: NumberedValues,
  ) => Promise<Pick<AcquisitionInputs, "values" | "listed">>,
) {
  const { sql, scope, scope: { projectId, bots } } = read;
  const span = spanOf(read.range);
  // From one session gap before the span, to recognize sessions that began before it: these do not count.
  const reach: Span = {
    fromMs: span.fromMs - SESSION_GAP_MS,
    toMs: await endOfSessions(read, projectId, span.toMs),
  };
  // The filters on all sessions, then, with a goal, those on sessions that convert.
  const lists = [scope.filters, ...goal === null ? [] : [matchFilters(goal.match)]];
  const value = goal?.value ?? null;
  const property = worthProperty(value);
  const columns = property === null ? [] : [{ property }];
  const timelines = await read.timelines(reach, onEvents(lists.flat()), columns);
  if (property !== null) prepareNumbers(timelines, property);
  const passing = await eventPasses(sql, scope, bots, lists.map(onEvents), timelines.bits);
  const tests: SessionsAndEvents[] = [];
  for (const [i, events] of passing.entries()) {
    tests.push({ sessions: await sessionPasses(sql, scope, lists[i]!), events });
  }
  const [selected] = tests as [SessionsAndEvents];
  const numbered = await numberValues(sql, projectId, [by], selected.events.termMax);
  const inputs: AcquisitionInputs = {
    selected,
    goal: tests[1] ?? null,
    worth: value === null ? null : { property },
    ...await prepareValues(numbered.get(by)!),
    rules: await readRules(sql, projectId),
    newcomers: { span, technical: await readTechnicalNames(sql, projectId) },
    span,
    reach,
  };
  // Conversions count only in sessions with a selected event.
  const scan = timelines.scan(ACQUISITION_COUNTS, () => inputs, { asked: selected });
  return await withNewcomers(sql, timelines, { span, reach }, scan);
}

/**
 * Counts all values in one scan.
 * @param folded places whose values are counted together as one value, at the first of these places
 */
async function scanAcquisition(
  read: AcquisitionSource,
  question: AcquisitionQuestion,
  folded: readonly number[] = [],
): Promise<AcquisitionTally> {
  const { counts: { tally, newcomers }, isNew } = await scanSessions(
    read,
    question,
    (values) => Promise.resolve({ values: withFolded(values, folded), listed: null }),
  );
  tally.sums.newVisitors.set(countNew(newcomers, isNew, tally.idOf.length + 1));
  return withTotals(tally);
}

const OF_DAYS = "d.project_id = $1::int AND d.day >= $2::int AND d.day < $3::int";

/** Sessions, bounces and page views by value and by a traffic of the same channel rule. */
const ROLLED_SUMS = `
SELECT ${packInts(["value_number", "rule_number", "sessions", "bounces", "pageviews"])}
FROM (
  SELECT d.value_number, t.rule_number, sum(t.sessions)::int AS sessions,
    sum(t.bounces)::int AS bounces, sum(t.pageviews)::int AS pageviews
  FROM acquisition_days d
  CROSS JOIN LATERAL unnest(d.rules, d.sessions, d.bounces, d.pageviews)
    AS t (rule_number, sessions, bounces, pageviews)
  WHERE ${OF_DAYS} AND d.dimension = $4::smallint
  GROUP BY 1, 2
) AS sums`;

// A visitor of a value is counted on the one day of the span whose previous day with that value is
// before the span. A new visitor has no previous day at all, and a first day in the span.
const ROLLED_PEOPLE = `
SELECT ${packInts(["dimension", "value_number", "visitors", "new_visitors"])}
FROM (
  SELECT d.dimension, d.value_number,
    (sum(l.actors) FILTER (WHERE l.prev_day < $2::int))::int AS visitors,
    coalesce(sum(l.actors) FILTER (WHERE l.prev_day = ${NEVER} AND l.first_day >= $2::int), 0)::int
      AS new_visitors
  FROM acquisition_days d
  CROSS JOIN LATERAL unnest(d.prev_days, d.first_days, d.actors) AS l (prev_day, first_day, actors)
  WHERE ${OF_DAYS} AND d.dimension IN (${WHOLE_DIMENSION}, $4::smallint)
  GROUP BY 1, 2 HAVING sum(l.actors) FILTER (WHERE l.prev_day < $2::int) > 0
) AS people`;

/** Reads the counts of a dimension's values on whole days from the rollups. */
export async function readRolledAcquisition(
  sql: Sql,
  { projectId, fromDay, toDay }: RolledSpan,
  dimension: AcquisitionDimension,
): Promise<AcquisitionTally> {
  const [packed] = await sql.query<{ sums: string | null; people: string | null }>(
    `SELECT (${ROLLED_SUMS}) AS sums, (${ROLLED_PEOPLE}) AS people`,
    [projectId, fromDay, toDay, ROLLED_DIMENSIONS.indexOf(dimension)],
  );
  const sums = unpackInts(packed!.sums);
  const people = unpackInts(packed!.people);
  const numbered = (column: number) => {
    const ids = new Set(sums.filter((_, i) => i % 5 === column));
    return new Map([...ids].map((id, number) => [id, number]));
  };
  const [values, rules] = [numbered(0), numbered(1)];
  const placeOf = (value: number) => values.get(value)! + 1;
  const counter = new AcquisitionCounter(Int32Array.from(values.keys()), [...rules.keys()]);
  for (let i = 0; i < sums.length; i += 5) {
    const [value, rule, sessions, bounces, views] = sums.subarray(i, i + 5);
    counter.addSessions(placeOf(value!), rules.get(rule!)!, sessions!, bounces!, views!);
  }
  for (let i = 0; i < people.length; i += 4) {
    const isWhole = people[i] === WHOLE_DIMENSION;
    const place = isWhole ? WHOLE : placeOf(people[i + 1]!);
    counter.sums.visitors[place] = people[i + 2]!;
    counter.sums.newVisitors[place] = people[i + 3]!;
  }
  return withTotals(counter.tally());
}

export type ShownTally = Awaited<ReturnType<typeof shownAcquisition>>;

/** Counts from the rollups if whole days of all visitors without a goal are asked for, else in a scan. */
async function tallyOf(read: Read, question: AcquisitionQuestion): Promise<AcquisitionTally> {
  const { scope, project, range } = read;
  const rolled = question.goal === null ? rolledSpan(scope, project, range) : null;
  return rolled !== null && rolled.tail === null
    ? await readRolledAcquisition(read.sql, rolled, question.by)
    : await scanAcquisition(read, question);
}

/**
 * Counts all values. For a share a second scan counts the values of too few visitors as one, because their
 * counts do not say how many visitors two values have in common: `other` is the place of that one, `$other`; null:
 * there are none. `hidden`: the places whose goal value a share hides, those with too few converting actors, and
 * one more if these have too few in sum, so that no difference to the total reveals a hidden value.
 */
export async function shownAcquisition(read: Read, question: AcquisitionQuestion) {
  const { visitorsMin } = read;
  if (visitorsMin === 1) {
    return { tally: await tallyOf(read, question), other: null, hidden: new Set<number>() };
  }
  const single = await scanAcquisition(read, question);
  const visitors = new Map<number, number>();
  for (const [place, sessions] of single.sums.sessions.entries()) {
    if (place !== WHOLE && sessions > 0) visitors.set(place, single.sums.visitors[place]!);
  }
  const folded = smallPlaces(visitors, visitorsMin);
  const [other = null] = folded;
  const tally = other === null ? single : await scanAcquisition(read, question, folded);
  const ofValues = [...tally.sums.conversions.subarray(WHOLE + 1)];
  const hidden = hiddenPlaces(ofValues, visitorsMin);
  return { tally, other, hidden: new Set([...hidden].map((i) => WHOLE + 1 + i)) };
}

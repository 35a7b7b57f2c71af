import { INSIGHT_CELLS_MAX } from "../../limits.ts";
import { ANY_EVENT, type Filter, onEvents } from "../../query/filters.ts";
import { matchPasses } from "../../scans/match_passes.ts";
import type { ScanSource } from "../../scans/read.ts";
import { withWholeSessions } from "../../scans/session_end.ts";
import type { SessionPasses } from "../../scans/session_test.ts";
import { sessionPasses } from "../../scans/session_tests.ts";
import type { VisitorKind } from "../../scans/visitor.ts";
import { type Calendar, segmentsByPeople } from "./insight_calendar.ts";
import {
  byPeriodAndDay,
  type Candidate,
  candidateOf,
  type CandidateQuestion,
  DIMENSIONS,
  type Places,
  placesOf,
  type Slice,
  sliceKey,
} from "./insight_candidates.ts";
import {
  chooseValues,
  type ChosenValues,
  eventsByNumber,
  linesOfAll,
  linesOfChosen,
  type NumberedEvents,
  type ValueLines,
  type ValuesOf,
} from "./insight_lines.ts";
import {
  INSIGHT_COUNTS,
  INSIGHT_EVENTS,
  type InsightInputs,
  type JointIds,
} from "./insight_visitor.ts";
import { IN_DAY, type Lines, LineTally } from "./line_tally.ts";
import { numberValues } from "../visitors/session_values.ts";

/** The part of a read that candidates are counted from. For `people` see `Visited`. */
type CandidateSource = ScanSource & { readonly people?: Uint8Array | null };

/**
 * The loaded timelines, and the tests of their events and sessions. `people`, by actor: the set of ranges whose
 * people they are among, see `segmentsByPeople`; null: everybody counts always.
 */
export type Visited = Awaited<ReturnType<typeof visitedOf>>;

function withoutSessions<T extends { readonly filters: readonly Filter[] }>(filtered: T): T {
  return { ...filtered, filters: onEvents(filtered.filters) };
}

async function visitedOf(
  source: CandidateSource,
  calendar: Calendar,
  questions: readonly CandidateQuestion[],
) {
  const { sql, scope, timelines, people = null } = source;
  const { projectId } = scope;
  const { segments } = calendar;
  const span = { fromMs: segments[0]!.fromMs, toMs: segments.at(-1)!.toMs };
  const reach = await withWholeSessions(source, projectId, span);
  const matches = questions.map(({ match }) => match ?? ANY_EVENT);
  const ofEvents = withoutSessions(scope);
  const matchesOfEvents = matches.map(withoutSessions);
  const ofBits = [ofEvents, ...matchesOfEvents].flatMap((one) => one.filters);
  const loaded = await timelines(reach, ofBits);
  const ofMatches: SessionPasses[] = [];
  for (const { filters } of matches) ofMatches.push(await sessionPasses(sql, scope, filters));
  return {
    sql,
    timelines: loaded,
    calendar,
    people,
    byPeople: segmentsByPeople(calendar, people !== null),
    reach,
    events: await matchPasses(sql, ofEvents, matchesOfEvents, loaded.bits),
    sessions: await sessionPasses(sql, scope, scope.filters),
    ofMatches,
  };
}

/** Scans the timelines with a visitor that counts the lines of each match. */
async function scanLines<Counts>(
  kind: VisitorKind<InsightInputs, Counts>,
  { timelines, calendar: { segments }, people, reach, events, sessions, ofMatches }: Visited,
  { groups, amid }: Places,
  lines: readonly Lines[],
  joint: JointIds | null,
): Promise<Counts> {
  const inputs = {
    events,
    sessions,
    ofMatches,
    places: amid,
    people,
    reach,
    lines: lines.map(({ tables, paths, count }) => ({ tables, paths, count })),
    segments: segments.map(({ fromMs, toMs }) => ({ fromMs, toMs })),
    placeCount: groups.length,
    joint,
  };
  const asked = { events: events.scope, sessions };
  return await timelines.scan(kind, () => inputs, { asked });
}

/** Counts the lines of each match in one scan. */
export async function countLines(
  visited: Visited,
  places: Places,
  lines: readonly Lines[],
  joint: JointIds | null = null,
): Promise<LineTally[]> {
  const counts = await scanLines(INSIGHT_COUNTS, visited, places, lines, joint);
  return counts.map((own, match) => new LineTally(lines[match]!, places.groups.length, own));
}

/** Returns the same timelines and tests, with only some of the matches. */
export function withMatches(visited: Visited, matches: readonly number[]): Visited {
  const { events, ofMatches } = visited;
  return {
    ...visited,
    events: { ...events, tests: matches.map((match) => events.tests[match]!) },
    ofMatches: matches.map((match) => ofMatches[match]!),
  };
}

/** Returns how many numbers the counts of all these lines take. */
function cellsOf(lines: readonly ValueLines[], { groups }: Places): number {
  return lines.reduce((cells, some) => cells + LineTally.cellsOf(some, groups.length), 0);
}

/** Makes the candidates of a match: the total, then the chosen values. */
function candidatesOf(
  tally: LineTally,
  { lineOf }: ValueLines,
  chosen: readonly ChosenValues[],
  calendar: Calendar,
  { groups }: Places,
): Candidate[] {
  const counted = (slice: Slice, line: number) =>
    candidateOf(calendar, slice, groups, (group) => ({
      ofDay: tally.at(line, group + 1, IN_DAY),
      ofPeriod: tally.at(line, group + 1),
    }));
  const values = chosen.flatMap(({ dimension, numbers, values }) =>
    values.map((value, i) => counted({ dimension, value }, lineOf(dimension, numbers[i]!)))
  );
  return [counted({ dimension: null, value: null }, 0), ...values];
}

/** Chooses the values with the most events for each match, in scans of as many matches as fit. */
async function chooseFirst(
  visited: Visited,
  values: ValuesOf,
  lines: readonly ValueLines[],
  cellsMax: number,
): Promise<ChosenValues[][]> {
  const { sql, timelines } = visited;
  // One place for both periods together suffices to find the most frequent values.
  const places = placesOf(
    visited.byPeople,
    ({ period }) => period === null ? null : { period: "current", slot: null },
  );
  const lists: NumberedEvents[][] = [];
  for (let from = 0; from < lines.length;) {
    let to = from + 1;
    while (to < lines.length && cellsOf(lines.slice(from, to + 1), places) <= cellsMax) to++;
    const some = withMatches(visited, Array.from({ length: to - from }, (_, i) => from + i));
    const counted = await scanLines(INSIGHT_EVENTS, some, places, lines.slice(from, to), null);
    for (const [i, own] of counted.entries()) {
      lists.push(await eventsByNumber(own, lines[from + i]!));
    }
    from = to;
  }
  return await chooseValues(sql, timelines.projectId, values, lists);
}

/** The candidates, with what another scan of the same timelines needs. */
export type FoundCandidates = Awaited<ReturnType<typeof readCandidates>>;

/**
 * Counts, for each question, the total, then the values with the most events of each dimension. The figures are
 * those of the key figures under a filter on the value: selected events (with a match, only its events), their
 * visitors and page views, the sessions that contain one, and how many of these bounce. This takes one scan, or
 * two if there are so many values that the most frequent ones must be found first. `numbers`: those of the
 * candidates' values, by `sliceKey`.
 * @param cellsMax how many numbers may be counted at once
 */
export async function readCandidates(
  source: CandidateSource,
  calendar: Calendar,
  questions: readonly CandidateQuestion[],
  cellsMax = INSIGHT_CELLS_MAX,
) {
  const { sql, scope: { projectId } } = source;
  const visited = await visitedOf(source, calendar, questions);
  const places = placesOf(visited.byPeople, byPeriodAndDay(calendar));
  const dimensions = DIMENSIONS.filter((one) =>
    questions.some((question) => question.dimensions.includes(one))
  );
  const values = await numberValues(sql, projectId, dimensions, visited.events.scope.termMax);
  const all = questions.map((question) => linesOfAll(values, question.dimensions));
  const first = cellsOf(all, places) <= cellsMax
    ? null
    : await chooseFirst(visited, values, all, cellsMax);
  const lines = first?.map((some) => linesOfChosen(values, some)) ?? all;
  const tallies = await countLines(visited, places, lines);
  const inPeriods = places.groups.flatMap(({ period }, i) => period === null ? [] : i + 1);
  const eventLists = () =>
    Promise.all(tallies.map((tally, i) => eventsByNumber(tally.eventsAt(inPeriods), all[i]!)));
  const chosen = first ?? await chooseValues(sql, projectId, values, await eventLists());
  const lists = tallies.map((tally, i) =>
    candidatesOf(tally, lines[i]!, chosen[i]!, calendar, places)
  );
  const numbers = new Map(
    chosen.flat().flatMap(({ dimension, numbers, values }) =>
      values.map((value, i) => [sliceKey({ dimension, value }), numbers[i]!] as const)
    ),
  );
  return { visited, values, lists, numbers };
}

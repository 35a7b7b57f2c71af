import { z } from "zod";
import { invalidCursor, readAll } from "../../query/parameters.ts";
import {
  afterCursor,
  cutPage,
  encodeRowCursor,
  readRowCursor,
  type RowCursor,
} from "../../query/row_cursor.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import type { KnownPerson } from "../../query/person_id.ts";
import type { Span } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { spanOf } from "../../query/range.ts";
import type { Read, ScanSource } from "../../scans/read.ts";
import { partsBackwards } from "../newest/backwards.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import { type NumberedRead, OF_USAGE, readNumber } from "../behind/behind.ts";
import { type FoundMoments, NewestActors, newestOf } from "../newest/newest_actors.ts";
import type { Answer, Report } from "../answer/report.ts";
import { selectEvents } from "../../scans/selected_events.ts";
import { NEWEST_PEOPLE } from "../newest/newest_people_visitor.ts";
import { PersonValue, sumPeople } from "./person_sums.ts";

/** A person of the list. */
export const PersonRow = z.object({
  actor: z.string().describe("User id, else anonymous id, else visitor hash"),
  userId: z.string().nullable().describe("Where the person is a user"),
  firstSeen: z.iso.datetime().nullable().describe(
    "The first event ever, technical names ($…) apart",
  ),
  lastSeen: z.iso.datetime().nullable().describe(
    "The last selected event in the range; null: there is none, which only `of` allows",
  ),
  countedAt: z.iso.datetime().optional().describe("Only with `of`: when the person came to count"),
  visits: z.int(),
  pageviews: z.int(),
  events: z.int(),
  value: PersonValue.describe("Of all conversions of goals with a value, by currency"),
}).meta({ id: "Person" });

interface FoundPerson extends KnownPerson {
  readonly last_ms: number;
  readonly first_ms: number | null;
}

/** Orders people who were seen last at the same time. */
const WHO = "(i.kind::text || i.value)";

/** Finds the people who were seen last in a part of the span, and not after it. */
async function newestIn(
  source: ScanSource,
  part: Span,
  endMs: number,
  cursor: RowCursor | null,
  rows: number,
): Promise<FoundMoments> {
  const span = { fromMs: part.fromMs, toMs: endMs };
  const { selected, test } = await selectEvents(source, span, { isCounting: true });
  const edgeMs = cursor?.counts[0] ?? NaN;
  const newest = new NewestActors(rows, edgeMs, part.fromMs, { isOnce: true });
  // With a cursor whole timelines are visited, because a person's last event may be in a run after the part.
  newest.addAll(
    await selected.scan(
      NEWEST_PEOPLE,
      () => ({ span: part, endMs, test, rows, edgeMs }),
      { byRun: cursor === null, askedEvents: test },
    ),
  );
  return newest.found();
}

/** Reads the people after the cursor, in the order of the list. */
async function readFound(
  { sql, scope }: ScanSource,
  { ms, actors }: FoundMoments,
  cursor: RowCursor | null,
  rows: number,
): Promise<FoundPerson[]> {
  if (ms.length === 0) return [];
  const params = new SqlParams();
  const project = params.int(scope.projectId);
  const lists = `${params.ints(actors)}, ${params.bigints(ms)}`;
  return await sql.query<FoundPerson>(
    `SELECT k.actor_id, k.last_ms, i.kind::text AS kind, i.value, a.first_ms
    FROM unnest(${lists}) AS k (actor_id, last_ms)
    CROSS JOIN ${keyedRow("identities v", "v.identity_id = k.actor_id", project)} AS i
    LEFT JOIN ${keyedRow("actors v", "v.actor_id = k.actor_id", project)} AS a ON true
    WHERE ${afterCursor(params, cursor, ["k.last_ms"], WHO)}
    ORDER BY k.last_ms DESC, ${WHO} COLLATE "C" LIMIT ${params.int(rows)}`,
    params.values,
  );
}

/** Lists the next people after the cursor; fewer than `rows` if no more follow. */
export async function listPeople(
  source: ScanSource,
  span: Span,
  cursor: RowCursor | null,
  rows: number,
): Promise<FoundPerson[]> {
  const toMs = cursor === null ? span.toMs : Math.min(span.toMs, cursor.counts[0]! + 1);
  let listed: FoundPerson[] = [];
  for await (const part of partsBackwards(source, { fromMs: span.fromMs, toMs }, rows)) {
    // The first page is searched from each part's start to the end of the span: run by run, this is faster.
    const before = cursor === null ? [] : listed;
    const wanted = rows - before.length;
    const within = cursor === null ? { fromMs: part.fromMs, toMs: span.toMs } : part;
    const found = await newestIn(source, within, span.toMs, cursor, wanted);
    listed = [...before, ...await readFound(source, found, cursor, wanted)];
    if (listed.length === rows) break;
  }
  return listed;
}

const cursorOf = ({ last_ms, kind, value }: FoundPerson): string =>
  encodeRowCursor({ counts: [last_ms], value: kind + value });

const instant = (ms: number | null) => ms === null ? null : new Date(ms).toISOString();

/** Returns a page of the list. `isCounted`: they are the people of a number, with when each came to count. */
async function page(
  read: Read,
  listed: readonly FoundPerson[],
  isCounted: boolean,
): Promise<Answer["result"]> {
  const { sql, scope: { projectId }, range, limit } = read;
  const span = spanOf(range);
  const { rows: shown, nextCursor } = cutPage(listed, limit, cursorOf);
  const goals = await listGoals(sql, projectId);
  const sums = await sumPeople(read, shown.map(({ actor_id }) => actor_id), span, goals);
  const rows = shown.map(({ kind, value: actor, first_ms, last_ms }, i) => {
    const { lastMs, visits, pageviews, events, value } = sums[i]!;
    return {
      actor,
      userId: kind === "u" ? actor : null,
      firstSeen: instant(first_ms),
      lastSeen: instant(isCounted ? lastMs : last_ms),
      ...isCounted ? { countedAt: instant(last_ms) } : {},
      visits,
      pageviews,
      events,
      value,
    };
  });
  return { rows, nextCursor };
}

/** `asked`: the number of another read whose people are listed; null: all people. */
async function answer(
  read: Read,
  { cursor, asked }: { cursor: RowCursor | null; asked: ReturnType<typeof readNumber> },
): Promise<Answer> {
  const { range, limit } = read;
  if (asked === null) {
    const span = spanOf(range);
    const listed = await listPeople(read, span, cursor, limit + 1);
    return { query: { of: null }, result: await page(read, listed, false) };
  }
  const { of, number } = asked;
  const counted = await number.find(read);
  const found = newestOf(counted, limit + 1, cursor?.counts[0] ?? null);
  const listed = await readFound(read, found, cursor, limit + 1);
  return {
    query: { of },
    result: { ...await page(read, listed, true), total: counted.actors.length },
    matches: { of: number.matches ?? [] },
  };
}

/** Reads `cursor`: when the last person of the page before was last seen, and who that was. */
function readCursor(query: URLSearchParams): RowCursor | null {
  const cursor = readRowCursor(query, 1);
  if (cursor === null || Number.isSafeInteger(cursor.counts[0]) && cursor.value !== null) {
    return cursor;
  }
  throw invalidCursor();
}

const OF = OF_USAGE +
  'Funnels with {"step"}, {"lost"} or {"ended":"excluded"|"open"}, and "value" of a group; retention with {"cohort":start,"period"}; ' +
  'journeys (scope=actor) with {"way":[{"step","kind","value"}]}; acquisition with {"value","count":"visitors"|"newVisitors"|"conversions"}; kpis with {"count":"newVisitors"}; ' +
  'heatmaps with {"point":{"x","y","fixed"}}, {"element"}, {"depthPx"} or {"sample":"visitors"}; live with {"minutes":5|30}, and "path" of a page';

export const PEOPLE_REPLY = {
  rows: z.array(PersonRow),
  nextCursor: z.string().nullable().describe("Null on the last page"),
  total: z.int().optional().describe("Only with `of`: how many the number counts"),
};

/** `GET /v1/actors`: people, last seen first. `numbered`: the reads whose numbers `of` may name. */
export const createPeople = (numbered: readonly NumberedRead[]): Report => ({
  path: "/v1/actors",
  summary: "People: first and last seen, visits, events and value of each, who was here last first",
  parameters: { of: OF },
  semantics:
    "Distinct actors of selected events in the range, without technical names ($…): as many as kpis counts visitors under the same filters. " +
    "actor is the person's user id, else the anonymous id, else the visitor hash. firstSeen: the person's first event ever, under no filter; lastSeen: the last selected event in the range. " +
    "visits: sessions that start in the range and contain a selected event; pageviews and events: the selected ones in the range. value: the sum, by currency, of what the selected events in the range are worth as conversions of goals with a value: an event that two goals count is worth both. " +
    "By lastSeen, the latest first; at the same time, anonymous people, hashes, then users, each by id. An id that several have means the user, else the anonymous person. " +
    "With `of`, the people whom the number counts, and total is that number; by countedAt, the latest first: when the step was reached (lost, ended: the last one), the cohort's period begun in, the way begun (of a way back: ended), the start of the row's first session, the first event ever, the first such click or scroll, or of live the last event.",
  reply: PEOPLE_REPLY,
  ask: (query) => {
    const parameters = readAll({
      cursor: () => readCursor(query),
      asked: () => readNumber(query, numbered, "people"),
    });
    return { answer: (read) => answer(read, parameters) };
  },
});

import { z } from "zod";
import {
  givenText,
  invalidCursor,
  invalidParameter,
  readAll,
  storableText,
} from "../../query/parameters.ts";
import { spanOf } from "../../query/range.ts";
import { cutPage } from "../../query/row_cursor.ts";
import type { Read } from "../../scans/read.ts";
import { loadAskedGoal, readGoalSlug } from "../saved/goal_definitions.ts";
import { findPerson } from "../../query/person_id.ts";
import { type NumberedRead, OF_USAGE, readNumber } from "../behind/behind.ts";
import { newestOf } from "../newest/newest_actors.ts";
import type { Answer, Report } from "../answer/report.ts";
import { conversionsOf } from "./watched_counts.ts";
import { placeOfVisit, type VisitPlace } from "./visit_id.ts";
import { listVisits, readFound } from "./visit_list.ts";
import { idOf, shownVisit, type StoredVisit, VisitRow } from "./visit_rows.ts";

/** Explains the conversions of a visit, wherever visits are shown. */
export const VISIT_CONVERSIONS =
  "conversions: the goals matched by the visit's own events, under bots and no other filter; value: the sum of the goal's property where it is a JSON number, or its fixed amount for each conversion.";

/** Characters of a person's id: longer ones are not stored. */
export const PERSON_ID_LENGTH_MAX = 200;

type VisitParameters = ReturnType<typeof readParameters>;

/** Reads the parameters of this report alone; `asked`: the number of another read whose visits are listed, or null. */
function readParameters(query: URLSearchParams, numbered: readonly NumberedRead[]) {
  const parameters = readAll({
    actor: () => storableText(query, "actor", PERSON_ID_LENGTH_MAX, ACTOR_USAGE),
    goal: () => readGoalSlug(query),
    after: () => readCursor(query),
    asked: () => readNumber(query, numbered, "visits"),
  });
  const { asked, actor, goal } = parameters;
  if (asked === null || actor === null && goal === null) return parameters;
  // A number determines the visits by itself.
  throw invalidParameter("of", "Give it without `actor` and `goal`.");
}

/** Reads `cursor`, the id of the last visit of the page before; null: it is not given. */
function readCursor(query: URLSearchParams): VisitPlace | null {
  const text = givenText(query, "cursor");
  if (text === null) return null;
  const place = placeOfVisit(text);
  if (place !== null) return place;
  throw invalidCursor();
}

async function pageOf(read: Read, listed: readonly StoredVisit[]) {
  const { rows, nextCursor } = cutPage(listed, read.limit, idOf);
  const conversions = await conversionsOf(read, rows);
  return { rows: rows.map((visit, i) => shownVisit(visit, conversions[i]!, VisitRow)), nextCursor };
}

async function answer(
  read: Read,
  { actor, goal: slug, after, asked }: VisitParameters,
): Promise<Answer> {
  const { sql, scope: { projectId }, range, limit } = read;
  const rows = limit + 1;
  if (asked !== null) {
    const { of, number } = asked;
    const counted = await number.find(read);
    const listed = await readFound(read, newestOf(counted, rows, after?.ms ?? null), after, rows);
    return {
      query: { actor: null, goal: null, of },
      result: { ...await pageOf(read, listed), total: counted.actors.length },
      matches: { of: number.matches ?? [] },
    };
  }
  const query = { actor, goal: slug, of: null };
  const goal = await loadAskedGoal(sql, projectId, slug);
  const person = actor === null ? null : await findPerson(sql, projectId, actor);
  if (actor !== null && person === null) return { query, result: { rows: [], nextCursor: null } };
  const actorId = person?.actor_id ?? null;
  const listed = await listVisits(read, { span: spanOf(range), actorId, goal, after, rows });
  return { query, result: await pageOf(read, listed) };
}

const ACTOR_USAGE = `Use an id of at most ${PERSON_ID_LENGTH_MAX} characters.`;
const PARAMETERS = {
  actor: "Only visits of one person: a user id, anonymous id or visitor hash",
  goal: "Slug of a saved goal: visits that reached it",
  of: OF_USAGE +
    'Journeys (scope=session) with {"way":[{"step","kind","value"}]}: a node, a link or a path; ' +
    'acquisition with {"value","count":"sessions"}: a row\'s; kpis with {"count":"bounces"}',
};

export const VISITS_REPLY = {
  rows: z.array(VisitRow),
  nextCursor: z.string().nullable().describe("Null on the last page"),
  total: z.int().optional().describe("Only with `of`: how many the number counts"),
};

/** `GET /v1/visits`: visits one by one, newest first. `numbered`: the reads whose numbers `of` may name. */
export const createVisits = (numbered: readonly NumberedRead[]): Report => ({
  path: "/v1/visits",
  summary:
    "Visits one by one, newest first: who, when, from where, how long, and what they reached",
  parameters: PARAMETERS,
  semantics:
    "Sessions that start in the range and contain a selected event (without technical names, $…), whole: as many as kpis counts under the same filters. " +
    "start is the time of the first event, seconds that from it to the last; pageviews and events are all of the visit, whatever the filters. Channel, source, entryPath, country, device, browser and os are those of its first page view, exitPath is that of the last one (of the first and the last event, where there is no page view). " +
    "actor is the person's user id, else the anonymous id, else the visitor hash. " +
    VISIT_CONVERSIONS +
    " With `goal`, visits that reached it. With `of`, the visits that the number counts, and total is that number. Newest first by start, then by the id of the event that it was entered by, descending. An id stays the same as long as the visit's first events do.",
  reply: VISITS_REPLY,
  ask: (query) => {
    const parameters = readParameters(query, numbered);
    return { answer: (read) => answer(read, parameters) };
  },
});

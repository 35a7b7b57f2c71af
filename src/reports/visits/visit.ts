import { z } from "zod";
import { Problem } from "../../problem.ts";
import type { PageCursor } from "../../query/event_cursor.ts";
import type { Filter } from "../../query/filters.ts";
import { cutPage } from "../../query/row_cursor.ts";
import type { Read } from "../../scans/read.ts";
import { EVENT_MEMBERS } from "../../event_file/exported_event_schema.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import type { Answer, Report } from "../answer/report.ts";
import { shownEvent } from "../shown/shown_event.ts";
import {
  cursorAt,
  encodeStoryCursor,
  goalsOfEvents,
  msOf,
  readStoryCursor,
  type StoryEvent,
  storyEvents,
  type StoryQuestion,
} from "./story_events.ts";
import { conversionsOf } from "./watched_counts.ts";
import { placeOfVisit } from "./visit_id.ts";
import { readVisits, shownVisit, type StoredVisit, WholeVisit } from "./visit_rows.ts";
import { VISIT_CONVERSIONS } from "./visits.ts";

const VisitEvent = z.object({
  ...EVENT_MEMBERS,
  secondsToNext: z.number().nullable().describe("To the visit's next event; null: it is the last"),
  secondsOnPage: z.number().nullable().describe(
    "Of a page view: to the next one, or, of the last one, to the visit's last event; else null",
  ),
  goals: z.array(z.string()).describe("Slugs of the goals that it reached"),
}).meta({ id: "VisitEvent" });

const PAGE_VIEWS: readonly Filter[] = [{ field: "name", op: "is", values: ["page_view"] }];
const OF_ID = `SELECT * FROM sessions s
  WHERE s.project_id = (SELECT $1::int) AND s.first_ms = $2::int8 AND s.entry_id = $3::text::uuid`;

/** Finds the visit of an id. Throws Problem `not_found`. */
async function findVisit({ sql, scope }: Read, id: string): Promise<StoredVisit> {
  const place = placeOfVisit(id);
  const [visit] = place === null
    ? []
    : await readVisits(sql, OF_ID, [scope.projectId, place.ms, place.entryId]);
  if (visit !== undefined) return visit;
  throw new Problem("not_found", "There is no visit with this id.");
}

const isView = ({ row }: StoryEvent): boolean => row.name === "page_view";

/** Returns when the last listed page was left: at the next page view of the visit, or at its end. */
async function leftAtMs(
  whole: Read,
  story: StoryQuestion,
  last: StoryEvent,
  visit: StoredVisit,
): Promise<number> {
  const source = { ...whole, scope: { ...whole.scope, filters: PAGE_VIEWS } };
  const [next] = await storyEvents(source, { ...story, after: cursorAt(last), rows: 1 });
  return next === undefined ? visit.last_ms : msOf(next);
}

/** Returns for each page view the seconds until the next one; null for other events. */
function secondsOnPages(events: readonly StoryEvent[], leftMs: number): (number | null)[] {
  const seconds: (number | null)[] = [];
  let nextMs = leftMs;
  for (const event of events.toReversed()) {
    seconds.push(isView(event) ? (nextMs - msOf(event)) / 1000 : null);
    if (isView(event)) nextMs = msOf(event);
  }
  return seconds.reverse();
}

async function answer(read: Read, id: string, after: PageCursor | null): Promise<Answer> {
  const { sql, scope, limit } = read;
  const visit = await findVisit(read, id);
  const goals = await listGoals(sql, scope.projectId);
  // A visit is shown whole, whatever the filters.
  const whole: Read = { ...read, scope: { ...scope, bots: "include", filters: [] } };
  const story: StoryQuestion = {
    actorId: visit.actor_id,
    span: { fromMs: visit.first_ms, toMs: visit.last_ms + 1 },
    ofSessions: true,
    order: "oldest",
    after,
    rows: limit,
  };
  const found = await storyEvents(whole, story);
  const { rows: listed, nextCursor } = cutPage(found, limit, encodeStoryCursor);
  const leftMs = nextCursor === null
    ? visit.last_ms
    : await leftAtMs(whole, story, listed.at(-1)!, visit);
  const onPages = secondsOnPages(listed, leftMs);
  const reached = await goalsOfEvents(read, visit.actor_id, listed, goals);
  const [conversions] = await conversionsOf(read, [visit], goals);
  const events = listed.map((event, i) => ({
    ...shownEvent(event.row),
    secondsToNext: i + 1 < found.length ? (msOf(found[i + 1]!) - msOf(event)) / 1000 : null,
    secondsOnPage: onPages[i]!,
    goals: reached[i]!,
  }));
  return {
    query: { id },
    result: { visit: shownVisit(visit, conversions!, WholeVisit), events, nextCursor },
  };
}

export const VISIT_REPLY = {
  visit: WholeVisit,
  events: z.array(VisitEvent),
  nextCursor: z.string().nullable().describe("Null where no event follows"),
};

/** `GET /v1/visits/:id`: one visit as a story. */
export const VISIT: Report = {
  path: "/v1/visits/:id",
  summary:
    "One visit as a story: where it came from, and its events in order with the time between",
  parameters: {},
  semantics:
    "The visit of this id, whole, whatever the range, bots, segment and filters: its row, and its events in the order of time, ties by eventId. What was sent with $session: false or a secret key, and technical names ($…), are none of it. " +
    "secondsToNext: to the visit's next event. secondsOnPage: from a page view to the next one, of the last one to the visit's last event. goals: those that the event is a conversion of. " +
    VISIT_CONVERSIONS,
  reply: VISIT_REPLY,
  ask: (query, { id = "" }) => {
    const after = readStoryCursor(query);
    return { answer: (read) => answer(read, id, after), isCounted: false, isOfOne: true };
  },
};

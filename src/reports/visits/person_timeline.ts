import { z } from "zod";
import { arrayLiteral } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import type { PageCursor } from "../../query/event_cursor.ts";
import { spanOf } from "../../query/range.ts";
import { cutPage } from "../../query/row_cursor.ts";
import type { Read } from "../../scans/read.ts";
import { EVENT_MEMBERS } from "../../event_file/exported_event_schema.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import type { Answer, Report } from "../answer/report.ts";
import { shownEvent } from "../shown/shown_event.ts";
import {
  encodeStoryCursor,
  goalsOfEvents,
  msOf,
  readStoryCursor,
  type StoryEvent,
  storyEvents,
} from "./story_events.ts";
import { conversionsOf } from "./watched_counts.ts";
import { idOf, readVisits, shownVisit, type StoredVisit, VisitRow } from "./visit_rows.ts";
import { VISIT_CONVERSIONS } from "./visits.ts";
import { PersonHead, personHead } from "./person_head.ts";
import { findPerson } from "../../query/person_id.ts";

const PersonEvent = z.object({
  ...EVENT_MEMBERS,
  visit: z.string().nullable().describe("Id of its visit; null: it has none"),
  goals: z.array(z.string()).describe("Slugs of the goals that it reached"),
}).meta({ id: "PersonEvent" });

// The visit that an event may belong to is the last one that starts at or before it. A subquery hides the project from
// the planner: it would take one that its statistics do not know for one without rows, and read all of its sessions.
const OF_TIMES = `
SELECT DISTINCT s.* FROM unnest($3::text::int8[]) AS k (ms)
CROSS JOIN LATERAL (
  SELECT * FROM sessions
  WHERE project_id = (SELECT $1::int) AND actor_id = $2::int AND first_ms <= k.ms
  ORDER BY first_ms DESC LIMIT 1) AS s
WHERE s.last_ms >= k.ms`;

/** Tells whether an event belongs to a visit: technical names, and events sent as such, do not. */
const isOfVisit = ({ row }: StoryEvent): boolean => row.in_session && !row.name.startsWith("$");

/** Reads the visits of events, newest first. */
async function visitsOfEvents(
  { sql, scope }: Read,
  actorId: number,
  events: readonly StoryEvent[],
): Promise<StoredVisit[]> {
  const times = [...new Set(events.filter(isOfVisit).map(msOf))];
  if (times.length === 0) return [];
  return await readVisits(sql, OF_TIMES, [scope.projectId, actorId, arrayLiteral(times)]);
}

function visitOf(event: StoryEvent, visits: readonly StoredVisit[]): string | null {
  const ms = msOf(event);
  const visit = isOfVisit(event)
    ? visits.find(({ first_ms, last_ms }) => first_ms <= ms && last_ms >= ms)
    : undefined;
  return visit === undefined ? null : idOf(visit);
}

async function answer(read: Read, id: string, after: PageCursor | null): Promise<Answer> {
  const { sql, scope, range, limit } = read;
  const person = await findPerson(sql, scope.projectId, id);
  if (person === null) throw new Problem("not_found", "Nothing is stored of this person.");
  const { actor_id: actorId } = person;
  const found = await storyEvents(read, {
    actorId,
    ofSessions: false,
    order: "newest",
    after,
    rows: limit,
    span: spanOf(range),
  });
  const { rows: listed, nextCursor } = cutPage(found, limit, encodeStoryCursor);
  const goals = await listGoals(sql, scope.projectId);
  const visits = await visitsOfEvents(read, actorId, listed);
  const conversions = await conversionsOf(read, visits, goals);
  const reached = await goalsOfEvents(read, actorId, listed, goals);
  return {
    query: { actor: person.value },
    result: {
      person: await personHead(read, person),
      visits: visits.map((visit, i) => shownVisit(visit, conversions[i]!, VisitRow)),
      events: listed.map((event, i) => ({
        ...shownEvent(event.row),
        visit: visitOf(event, visits),
        goals: reached[i]!,
      })),
      nextCursor,
    },
  };
}

export const PERSON_TIMELINE_REPLY = {
  person: PersonHead,
  visits: z.array(VisitRow),
  events: z.array(PersonEvent),
  nextCursor: z.string().nullable().describe("Null where no event follows"),
};

/** `GET /v1/actors/:id/timeline`: what is known of one person, and the person's events, newest first. */
export const PERSON_TIMELINE: Report = {
  path: "/v1/actors/:id/timeline",
  summary: "One person: devices, places, visits and events, newest first",
  parameters: {},
  semantics:
    "The person whom the id names: a user id, else an anonymous id (of a user, where it is one's), else a visitor hash. " +
    "events: the selected ones in the range, newest first, ties by eventId, as the list of events tells them, technical names ($…) too; visits: whole, those that these events belong to. " +
    "person: firstSeen is the first event ever; lastSeen, visits, pageviews, events and value as in the list of people; devices and places are those of the visits that start in the range, whatever the filters. goals of an event: those that it is a conversion of. " +
    VISIT_CONVERSIONS,
  reply: PERSON_TIMELINE_REPLY,
  ask: (query, { id = "" }) => {
    const after = readStoryCursor(query);
    return { answer: (read) => answer(read, id, after), isCounted: false };
  },
};

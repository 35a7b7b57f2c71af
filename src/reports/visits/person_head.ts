import { z } from "zod";
import type { Row } from "../../db/sql.ts";
import { deviceOf } from "../../query/field_values.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import type { Span } from "../../query/selection.ts";
import { spanOf } from "../../query/range.ts";
import type { Read } from "../../scans/read.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import type { KnownPerson } from "../../query/person_id.ts";
import { ofBots, PersonValue, sumPeople } from "./person_sums.ts";

/** Rows of a person's page: anonymous ids, devices and places, the latest first. */
export const PERSON_IDS_MAX = 50;
export const PERSON_DEVICES_MAX = 20;
export const PERSON_PLACES_MAX = 20;

const text = z.string().nullable();
const seen = { visits: z.int(), lastSeen: z.iso.datetime() };

/** A person, with everything that the person's page shows. */
export const PersonHead = z.object({
  actor: z.string(),
  userId: text,
  anonymousIds: z.array(z.string()).describe(
    `The person's anonymous ids, at most ${PERSON_IDS_MAX}, by when each was first sent with the user id, the latest first`,
  ),
  firstSeen: z.iso.datetime().nullable().describe("The first event ever"),
  lastSeen: z.iso.datetime().nullable().describe(
    "The last selected event in the range; null: there is none",
  ),
  visits: z.int(),
  pageviews: z.int(),
  events: z.int(),
  value: PersonValue,
  devices: z.array(z.object({ device: text, browser: text, os: text, ...seen })).describe(
    `Of the visits in the range, the last seen first, at most ${PERSON_DEVICES_MAX}`,
  ),
  places: z.array(z.object({ country: text, region: text, city: text, ...seen })).describe(
    `Of the visits in the range, the last seen first, at most ${PERSON_PLACES_MAX}`,
  ),
}).meta({ id: "WholePerson" });

/** Reads the values of a person's visits in a span, each with its number of visits; last seen first. */
async function seenValues<K extends string>(
  { sql, scope }: Read,
  actorId: number,
  { fromMs, toMs }: Span,
  columns: Readonly<Record<K, string>>,
  countMax: number,
): Promise<(Record<K, string | null> & { visits: number; lastSeen: string })[]> {
  const names = Object.keys(columns) as K[];
  const rows = await sql.query<Row & { visits: number; last_ms: number }>(
    `SELECT ${names.join(", ")}, count(*) AS visits, max(last_ms) AS last_ms FROM (
      SELECT s.last_ms, ${names.map((name) => `${columns[name]} AS ${name}`).join(", ")}
      FROM sessions s
      CROSS JOIN ${keyedRow("contexts v", "v.context_id = s.context_id", "$1::int")} AS c
      WHERE s.project_id = (SELECT $1::int) AND s.actor_id = $2::int
        AND s.first_ms >= $3::int8 AND s.first_ms < $4::int8 AND ${ofBots(scope.bots)}
    ) AS own
    GROUP BY ${names.join(", ")}
    ORDER BY max(last_ms) DESC, count(*) DESC, ${names.join(", ")} LIMIT $5::int`,
    [scope.projectId, actorId, fromMs, toMs, countMax],
  );
  return rows.map((row) => {
    const texts = names.map((name) => [name, row[name] as string | null]);
    const values = Object.fromEntries(texts) as Record<K, string | null>;
    return { ...values, visits: row.visits, lastSeen: new Date(row.last_ms).toISOString() };
  });
}

// In an order that events determine. That of identity ids depends on which event arrived first. A subquery hides the
// project from the planner: it would take one that its statistics do not know for one without rows, and read all of them.
const ANONYMOUS_IDS = `
SELECT value FROM identities
WHERE project_id = (SELECT $1::int) AND kind = 'a'
  AND (identity_id = $2::int OR actor_id = $2::int AND actor_id <> identity_id)
ORDER BY linked_ms DESC NULLS LAST, value COLLATE "C" LIMIT $3::int`;

/** Reads what is known about a person, and what the person did in the range. */
export async function personHead(
  read: Read,
  { actor_id: actorId, kind, value: actor }: KnownPerson,
): Promise<z.output<typeof PersonHead>> {
  const { sql, scope: { projectId }, range } = read;
  const span = spanOf(range);
  const ids = await sql.query<Row & { value: string }>(ANONYMOUS_IDS, [
    projectId,
    actorId,
    PERSON_IDS_MAX,
  ]);
  const [ever] = await sql.query<Row & { first_ms: number }>(
    "SELECT first_ms FROM actors WHERE project_id = (SELECT $1::int) AND actor_id = $2::int",
    [projectId, actorId],
  );
  const goals = await listGoals(sql, projectId);
  const [sums] = await sumPeople(read, [actorId], span, goals);
  const { lastMs, visits, pageviews, events, value } = sums!;
  const devices = { device: deviceOf("c"), browser: "c.browser", os: "c.os" };
  const places = { country: "c.country", region: "c.region", city: "c.city" };
  return {
    actor,
    userId: kind === "u" ? actor : null,
    anonymousIds: ids.map((one) => one.value),
    firstSeen: ever === undefined ? null : new Date(ever.first_ms).toISOString(),
    lastSeen: lastMs === null ? null : new Date(lastMs).toISOString(),
    visits,
    pageviews,
    events,
    value,
    devices: await seenValues(read, actorId, span, devices, PERSON_DEVICES_MAX),
    places: await seenValues(read, actorId, span, places, PERSON_PLACES_MAX),
  };
}

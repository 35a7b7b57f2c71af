import { z } from "zod";
import type { Project } from "../auth/projects.ts";
import type { Database, Sql } from "../db/sql.ts";
import type { Exchange } from "../http/router.ts";
import { EXPORT_CHUNK_ROWS } from "../limits.ts";
import { Problem } from "../problem.ts";
import { shownEvent, type StoredEventRow } from "./stored_events.ts";

/** What the handlers of one person's data work with; the token is an admin's of the project. */
export interface ActorServices {
  readonly database: Database;
  readonly fold: { catchUp(projectId: number): Promise<void> };
  /** Erases an actor and everything made of their events. @returns how many events there were */
  readonly erase: (projectId: number, actorId: number) => Promise<number>;
}

interface Identity extends Record<string, unknown> {
  readonly actor_id: number;
  readonly kind: "u" | "a" | "h";
  readonly value: string;
}

/** Reply of `DELETE /v1/actors/:id`. */
export const ActorErased = z.object({
  erased: z.object({
    events: z.int().meta({ description: "Stored events that are gone, sessions with them" }),
    identities: z.array(z.string()).meta({ description: "The ids that named this person" }),
  }),
});

const ActorShown = z.object({
  id: z.string(),
  userId: z.string().nullable(),
  anonymousIds: z.array(z.string()),
  hash: z.string().nullable().meta({ description: "Where neither id is known" }),
  firstSeenAt: z.iso.datetime().nullable(),
  lastSeenAt: z.iso.datetime().nullable(),
});

/** Reply of `GET /v1/actors/:id`. */
export const ActorExport = z.object({
  actor: ActorShown,
  sessions: z.array(z.object({
    startedAt: z.iso.datetime(),
    endedAt: z.iso.datetime(),
    events: z.int(),
    pageviews: z.int(),
    entryPath: z.string().nullable(),
    exitPath: z.string().nullable(),
    channel: z.string(),
    source: z.string().nullable(),
    medium: z.string().nullable(),
    campaign: z.string().nullable(),
  })),
  events: z.array(z.record(z.string(), z.unknown())),
});

/** All identities of the actor whom `id` names: a user id, else an anonymous id, else a hash. */
async function identitiesOf(sql: Sql, projectId: number, id: string): Promise<Identity[]> {
  const unknown = new Problem("not_found", "Nothing is stored of this actor.");
  // An id from a path may hold what PostgreSQL's text cannot.
  if (id.includes("\0") || !id.isWellFormed()) throw unknown;
  const rows = await sql.query<Identity>(
    `SELECT i.actor_id, i.kind::text AS kind, i.value
    FROM identities i
    WHERE i.project_id = $1::int AND i.actor_id = (
      SELECT actor_id FROM identities
      WHERE project_id = $1::int AND value = $2::text AND kind IN ('u', 'a', 'h')
      ORDER BY position(kind::text IN 'uah') LIMIT 1)
    ORDER BY position(i.kind::text IN 'uah'), i.value`,
    [projectId, id],
  );
  if (rows.length === 0) throw unknown;
  return rows;
}

async function actorHead(sql: Sql, projectId: number, identities: readonly Identity[]) {
  const [seen] = await sql.query<{ first: number | null; last: number | null }>(
    `SELECT min(tick) >> 16 AS first, max(tick) >> 16 AS last
    FROM facts WHERE project_id = $1::int AND actor_id = $2::int`,
    [projectId, identities[0]!.actor_id],
  );
  const valuesOf = (kind: string) =>
    identities.filter((identity) => identity.kind === kind).map(({ value }) => value);
  const instant = (ms: number | null | undefined) => ms == null ? null : new Date(ms).toISOString();
  return {
    id: identities[0]!.value,
    userId: valuesOf("u")[0] ?? null,
    anonymousIds: valuesOf("a"),
    hash: valuesOf("h")[0] ?? null,
    firstSeenAt: instant(seen?.first),
    lastSeenAt: instant(seen?.last),
  };
}

async function sessionsOf(sql: Sql, projectId: number, actorId: number) {
  const rows = await sql.query<Record<string, unknown> & { started: number; ended: number }>(
    `SELECT s.first_tick >> 16 AS started, s.last_tick >> 16 AS ended, s.events,
      s.views AS pageviews, n.term AS "entryPath", x.term AS "exitPath",
      t.channel, t.source, t.medium, t.campaign
    FROM sessions s
    JOIN traffic t ON t.project_id = s.project_id AND t.traffic_id = s.traffic_id
    LEFT JOIN terms n ON n.project_id = s.project_id AND n.term_id = s.entry_path_id
    LEFT JOIN terms x ON x.project_id = s.project_id AND x.term_id = s.exit_path_id
    WHERE s.project_id = $1::int AND s.actor_id = $2::int ORDER BY s.first_tick`,
    [projectId, actorId],
  );
  return rows.map(({ started, ended, ...rest }) => ({
    startedAt: new Date(started).toISOString(),
    endedAt: new Date(ended).toISOString(),
    ...rest,
  }));
}

// Facts say which events are the actor's, in order; the position is text, as it exceeds a double.
const EVENTS_AFTER = `
SELECT f.tick::text AS tick, e.*
FROM (
  SELECT tick, event_id FROM facts
  WHERE project_id = $1::int AND actor_id = $2::int
    AND (tick, event_id) > ($3::text::int8, $4::text::uuid)
  ORDER BY tick, event_id LIMIT ${EXPORT_CHUNK_ROWS}
) f
JOIN stored_events e ON e.project_id = $1::int AND e.event_id = f.event_id
ORDER BY f.tick, f.event_id`;

const FIRST = { tick: "-9223372036854775808", eventId: "00000000-0000-0000-0000-000000000000" };

/**
 * `GET /v1/actors/:id`: all that is stored of one person, oldest first. The reply is written as it
 * is read, so that memory stays bounded.
 */
export async function getActor(
  { database, fold }: ActorServices,
  { project, params }: { project: Project; params: Exchange<unknown>["params"] },
): Promise<Response> {
  const { projectId } = project;
  await fold.catchUp(projectId);
  const identities = await identitiesOf(database, projectId, params.id ?? "");
  const { actor_id: actorId } = identities[0]!;
  const actor = await actorHead(database, projectId, identities);
  const sessions = await sessionsOf(database, projectId, actorId);
  const head = JSON.stringify({ actor, sessions }).slice(0, -1) + ',"events":[';
  const encoder = new TextEncoder();
  let after = FIRST;
  let separator = head;
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const rows = await database.query<StoredEventRow & { tick: string }>(EVENTS_AFTER, [
        projectId,
        actorId,
        after.tick,
        after.eventId,
      ]);
      let text = "";
      for (const row of rows) {
        text += separator + JSON.stringify(shownEvent(row));
        separator = ",";
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < EXPORT_CHUNK_ROWS) {
        controller.enqueue(encoder.encode(`${text || separator.replace(/^,$/, "")}]}`));
        controller.close();
        return;
      }
      after = { tick: last.tick, eventId: last.event_id };
      controller.enqueue(encoder.encode(text));
    },
  });
  return new Response(body, {
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  });
}

/** `DELETE /v1/actors/:id`: erases one person. */
export async function deleteActor(
  { database, fold, erase }: ActorServices,
  { project, params }: { project: Project; params: Exchange<unknown>["params"] },
): Promise<z.infer<typeof ActorErased>> {
  await fold.catchUp(project.projectId);
  const identities = await identitiesOf(database, project.projectId, params.id ?? "");
  const events = await erase(project.projectId, identities[0]!.actor_id);
  return { erased: { events, identities: identities.map(({ value }) => value) } };
}

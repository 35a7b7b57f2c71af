import { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Database, Sql } from "../../db/sql.ts";
import type { Exchange } from "../../http/router.ts";
import { DAY_MS } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { isStorable } from "../../text_schemas.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import { ACTOR_OF_ID, type KnownPerson } from "../../query/person_id.ts";
import {
  type Moments,
  momentsOfIdentities,
  rowsOfIdentities,
} from "../../store/identity_events.ts";
import { removePictures } from "../../screenshots/queue/removed_pictures.ts";
import { EventShown } from "../../event_file/exported_event_schema.ts";
import { shownEvent } from "../shown/shown_event.ts";
import { atOneMoment } from "../answer/time_limit.ts";
import { inNextPersonTurn, inPersonTurn } from "./person_turns.ts";

/** Services of the handlers of one person's data, whose caller is an admin of the project. */
export interface ActorServices {
  readonly database: Database;
  readonly projection: { catchUp(projectId: number): Promise<void> };
  /** Moves the events of the person with this `id` that a running upgrade has not moved yet. */
  readonly movePerson: (projectId: number, id: string) => Promise<void>;
  /**
   * Erases an actor and everything derived from the actor's events. In the same transaction, `also` runs first,
   * `actorOf` finds the actor once no other transaction can link identities, and `forget` gets the names, paths
   * and titles that only the actor's events had.
   * @returns how many events were erased
   */
  readonly erase: (
    projectId: number,
    actorOf: (inside: Sql) => Promise<number>,
    also: (inside: Sql) => Promise<void>,
    forget: (inside: Sql, texts: readonly string[]) => Promise<void>,
  ) => Promise<number>;
}

/** The project and the id of the person. */
interface AskedActor {
  readonly project: Project;
  readonly params: Exchange<unknown>["params"];
}

/** A person whose events are being sent. */
interface SentActor {
  readonly projectId: number;
  readonly id: string;
  readonly gone: AbortSignal | null;
}

interface Identity extends KnownPerson {
  readonly identity_id: number;
}

/** Reply of `DELETE /v1/actors/:id`. */
export const ActorErased = z.object({
  erased: z.object({
    events: z.int().describe("Stored events that are gone, sessions with them"),
    identities: z.array(z.string()).describe("The ids that named this person"),
  }),
});

const ActorShown = z.object({
  id: z.string(),
  userId: z.string().nullable(),
  anonymousIds: z.array(z.string()),
  hash: z.string().nullable().describe("Where neither id is known"),
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
  events: z.array(EventShown),
});

const unknownActor = () => new Problem("not_found", "Nothing is stored of this actor.");

/**
 * Returns all identities of the actor that `id` names: a user id, else an anonymous id, else a hash.
 * Throws Problem `not_found`.
 */
async function identitiesOf(sql: Sql, projectId: number, id: string): Promise<Identity[]> {
  // An id from a path may contain characters that a text in PostgreSQL cannot.
  if (!isStorable(id)) throw unknownActor();
  const rows = await sql.query<Identity>(
    `SELECT i.identity_id, i.actor_id, i.kind::text AS kind, i.value
    FROM (${ACTOR_OF_ID}) AS o CROSS JOIN LATERAL (
      SELECT * FROM identities
      WHERE project_id = (SELECT $1::int) AND identity_id = o.actor_id AND actor_id = identity_id
      UNION ALL
      SELECT * FROM identities
      WHERE project_id = (SELECT $1::int) AND actor_id = o.actor_id AND actor_id <> identity_id
      OFFSET 0) AS i
    ORDER BY position(i.kind::text IN 'uah'), i.value`,
    [projectId, id],
  );
  if (rows.length === 0) throw unknownActor();
  return rows;
}

const idsOf = (identities: readonly Identity[]): ReadonlySet<number> =>
  new Set(identities.map(({ identity_id }) => identity_id));

/** The length of the span of a person's events that is read at once. */
const TIMELINE_STEP_MS = 30 * DAY_MS;

function actorHead(identities: readonly Identity[], seen: Moments | null) {
  const valuesOf = (kind: string) =>
    identities.filter((identity) => identity.kind === kind).map(({ value }) => value);
  const instant = (ms?: number) => ms === undefined ? null : new Date(ms).toISOString();
  return {
    id: identities[0]!.value,
    userId: valuesOf("u")[0] ?? null,
    anonymousIds: valuesOf("a"),
    hash: valuesOf("h")[0] ?? null,
    firstSeenAt: instant(seen?.firstMs),
    lastSeenAt: instant(seen?.lastMs),
  };
}

async function sessionsOf(sql: Sql, projectId: number, actorId: number) {
  const rows = await sql.query<Record<string, unknown> & { started: number; ended: number }>(
    `SELECT s.first_ms AS started, s.last_ms AS ended, s.events,
      s.views AS pageviews, n.term AS "entryPath", x.term AS "exitPath",
      t.channel, t.source, t.medium, t.campaign
    FROM sessions s
    CROSS JOIN ${keyedRow("traffic v", "v.traffic_id = s.traffic_id", "$1::int")} AS t
    LEFT JOIN ${keyedRow("terms v", "v.term_id = s.entry_path_id", "$1::int")} AS n ON true
    LEFT JOIN ${keyedRow("terms v", "v.term_id = s.exit_path_id", "$1::int")} AS x ON true
    WHERE s.project_id = (SELECT $1::int) AND s.actor_id = $2::int ORDER BY s.first_ms`,
    [projectId, actorId],
  );
  return rows.map(({ started, ended, ...rest }) => ({
    startedAt: new Date(started).toISOString(),
    endedAt: new Date(ended).toISOString(),
    ...rest,
  }));
}

/** Projects all stored events of a person that an upgrade has not moved yet: in a turn, as it waits with a connection. */
async function gatherEarlier(
  { projection, movePerson }: Pick<ActorServices, "projection" | "movePerson">,
  projectId: number,
  id: string,
): Promise<void> {
  await movePerson(projectId, id);
  await projection.catchUp(projectId);
}

/**
 * Yields a person's events, oldest first, as the JSON items of a list, some days at a time. Throws Problem `not_found`
 * if some of `ids` are no longer of the person with `id`; one who comes back after an erasure has new ones.
 */
async function* eventTexts(
  database: Database,
  { projectId, id, gone }: SentActor,
  ids: ReadonlySet<number>,
  seen: Moments | null,
): AsyncGenerator<string> {
  let separator = "";
  for (const span of seen?.spans ?? []) {
    const read = async (sql: Sql) => {
      const now = idsOf(await identitiesOf(sql, projectId, id));
      if (!ids.isSubsetOf(now)) throw unknownActor();
      return await rowsOfIdentities(sql, projectId, ids, span);
    };
    const rows = await inNextPersonTurn(
      database,
      projectId,
      gone,
      () => atOneMoment(database, read),
    );
    if (rows.length === 0) continue;
    yield separator + rows.map((row) => JSON.stringify(shownEvent(row))).join(",");
    separator = ",";
  }
}

/**
 * `GET /v1/actors/:id`: everything that is stored about one person, oldest first. The reply is streamed while
 * events are read, so that memory stays bounded. It breaks off if an id of the person is erased, expires or moves meanwhile.
 * @param gone aborted once nobody waits for the reply any more
 */
export async function getActor(
  services: ActorServices,
  { project, params, gone = null }: AskedActor & { gone?: AbortSignal | null },
): Promise<Response> {
  const { database, projection } = services;
  const { projectId } = project;
  const id = params.id ?? "";
  await projection.catchUp(projectId);
  const { identities, ids, seen, sessions } = await inPersonTurn(
    database,
    projectId,
    gone,
    async () => {
      await gatherEarlier(services, projectId, id);
      return await atOneMoment(database, async (sql) => {
        const identities = await identitiesOf(sql, projectId, id);
        const ids = idsOf(identities);
        const seen = await momentsOfIdentities(sql, projectId, ids, TIMELINE_STEP_MS);
        const sessions = await sessionsOf(sql, projectId, identities[0]!.actor_id);
        return { identities, ids, seen, sessions };
      });
    },
  );
  const actor = actorHead(identities, seen);
  const texts = async function* () {
    yield JSON.stringify({ actor, sessions }).slice(0, -1) + ',"events":[';
    yield* eventTexts(database, { projectId, id, gone }, ids, seen);
    yield "]}";
  };
  const body = ReadableStream.from(texts()).pipeThrough(new TextEncoderStream());
  return new Response(body, {
    headers: { "Content-Type": "application/json", "Cache-Control": "no-store" },
  });
}

/**
 * `DELETE /v1/actors/:id`: erases one person, and runs `also` in the same transaction.
 * Throws Problem `not_found`.
 */
export async function deleteActor(
  services: ActorServices,
  { project, params, also }: AskedActor & {
    also: (inside: Sql) => Promise<void>;
  },
): Promise<z.infer<typeof ActorErased>> {
  const { projectId } = project;
  const id = params.id ?? "";
  await services.projection.catchUp(projectId);
  let identities: Identity[] = [];
  const actorOf = async (inside: Sql) => {
    identities = await identitiesOf(inside, projectId, id);
    return identities[0]!.actor_id;
  };
  const forget = (inside: Sql, texts: readonly string[]) =>
    removePictures(inside, projectId, texts);
  const events = await inPersonTurn(services.database, projectId, null, async () => {
    await gatherEarlier(services, projectId, id);
    return await services.erase(projectId, actorOf, also, forget);
  });
  return { erased: { events, identities: identities.map(({ value }) => value) } };
}

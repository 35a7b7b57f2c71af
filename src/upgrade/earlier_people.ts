import { keyedRow } from "../db/keyed_rows.ts";
import { arrayLiteral, type Database, type Sql } from "../db/sql.ts";
import { eraseActor, searchBeforeErasing } from "../projection/erasure.ts";
import { deleteEventIds } from "../projection/keyed_deletion.ts";
import { beginProjection } from "../projection/projected_project.ts";
import { isStorable } from "../text_schemas.ts";
import { hasEarlier, lockEarlier, noteLess } from "./earlier_projects.ts";
import { earlierRowsOf } from "./earlier_rows.ts";
import { storeMoved } from "./moved_events.ts";
import { MOVED_EVENTS, UPGRADE_SCAN_MS_MAX } from "./upgrade_limits.ts";

/** Values that identify people: user ids, anonymous ids, and visitor hashes as PostgreSQL's hex. */
interface Names {
  readonly users: readonly string[];
  readonly anonymous: readonly string[];
  readonly hashes: readonly string[];
}

const HASH = /^[\w-]{22}$/;

/** Returns the id as PostgreSQL's hex of a visitor hash; none: it cannot be one. */
function hashesOf(id: string): string[] {
  if (!HASH.test(id)) return [];
  return [`\\x${Uint8Array.fromBase64(id, { alphabet: "base64url" }).toHex()}`];
}

const params = (projectId: number, { users, anonymous, hashes }: Names) => [
  projectId,
  arrayLiteral(users),
  arrayLiteral(anonymous),
  arrayLiteral(hashes),
];

async function valuesOf(tx: Sql, text: string, projectId: number, values: readonly string[]) {
  const rows = await tx.query<{ value: string }>(text, [projectId, arrayLiteral(values)]);
  return rows.map(({ value }) => value);
}

const LINKED = "v.actor_id = u.identity_id AND v.actor_id <> v.identity_id";

// The user ids that ever occurred with these anonymous ids, and the reverse, in earlier and in projected events.
const USERS = `
SELECT user_id AS value FROM earlier_events
WHERE project_id = $1::int AND anonymous_id = ANY ($2::text::text[]) AND user_id IS NOT NULL
UNION
SELECT u.value FROM unnest($2::text::text[]) AS wanted (key)
CROSS JOIN ${keyedRow("identities v", "v.kind = 'a' AND v.value = wanted.key", "$1::int")} AS a
CROSS JOIN ${keyedRow("identities v", "v.identity_id = a.actor_id", "$1::int")} AS u
WHERE u.kind = 'u'`;
const ANONYMOUS = `
SELECT anonymous_id AS value FROM earlier_events
WHERE project_id = $1::int AND user_id = ANY ($2::text::text[]) AND anonymous_id IS NOT NULL
UNION
SELECT a.value FROM unnest($2::text::text[]) AS wanted (key)
CROSS JOIN ${keyedRow("identities v", "v.kind = 'u' AND v.value = wanted.key", "$1::int")} AS u
CROSS JOIN ${keyedRow("identities v", LINKED, "$1::int")} AS a
WHERE a.kind = 'a'`;

/** Returns all names that may belong to the person with an id; also those of others who share a device. */
export async function namesAround(tx: Sql, projectId: number, id: string): Promise<Names> {
  const users = [...new Set([id, ...await valuesOf(tx, USERS, projectId, [id])])];
  const anonymous = await valuesOf(tx, ANONYMOUS, projectId, users);
  return { users, anonymous: [...new Set([id, ...anonymous])], hashes: hashesOf(id) };
}

// The events of these names, and all events that may decide whose an anonymous id is, if not moved yet.
const EVENTS_AROUND = `
SELECT e.event_id FROM earlier_events e
WHERE e.project_id = $1::int
  AND (e.user_id = ANY ($2::text::text[]) OR e.anonymous_id = ANY ($3::text::text[])
    OR e.user_id IS NULL AND e.anonymous_id IS NULL AND e.visitor_hash = ANY ($4::text::bytea[]))
  AND NOT EXISTS (
    SELECT FROM event_ids i WHERE i.project_id = e.project_id AND i.event_id = e.event_id OFFSET 0)`;

async function eventsAround(tx: Sql, projectId: number, id: string): Promise<string[]> {
  await tx.script(`SET LOCAL statement_timeout = ${UPGRADE_SCAN_MS_MAX}`);
  const names = await namesAround(tx, projectId, id);
  const rows = await tx.query<{ event_id: string }>(EVENTS_AROUND, params(projectId, names));
  return rows.map(({ event_id }) => event_id);
}

/**
 * Moves all earlier events of one person into the journal at once, and the events that decide whose the person's
 * anonymous ids are: once they are projected, all that is stored of the person is known. Scans the table three
 * times, without an index: about two seconds at ten million events.
 */
export async function movePerson(database: Database, projectId: number, id: string): Promise<void> {
  // An id from a URL may contain characters that PostgreSQL's text cannot.
  if (!isStorable(id)) return;
  if (!await hasEarlier(database, projectId)) return;
  const ids = await database.transaction((tx) => eventsAround(tx, projectId, id));
  for (let from = 0; from < ids.length; from += MOVED_EVENTS) {
    const some = ids.slice(from, from + MOVED_EVENTS);
    await database.transaction(async (tx) => {
      if (await lockEarlier(tx, projectId) === null) return;
      const rows = await earlierRowsOf(tx, projectId, some);
      await storeMoved(tx, projectId, [...rows.values()]);
    });
  }
}

// Earlier events by the names of the person, some of which may have been linked to them since `movePerson`.
const ERASE = `
WITH gone AS (
  DELETE FROM earlier_events
  WHERE project_id = $1::int
    AND (user_id = ANY ($2::text::text[])
      OR user_id IS NULL AND anonymous_id = ANY ($3::text::text[])
      OR user_id IS NULL AND anonymous_id IS NULL AND visitor_hash = ANY ($4::text::bytea[]))
  RETURNING event_id)
SELECT g.event_id, EXISTS (
  SELECT FROM event_ids i WHERE i.project_id = $1::int AND i.event_id = g.event_id OFFSET 0) AS moved
FROM gone g`;

/** Groups the names that `eraseActor` returns by their kind, which is the first letter of each. */
function namesOf(erased: ReadonlySet<string>): Names {
  const of = (kind: string) =>
    [...erased].filter((name) => name.startsWith(kind)).map((name) => name.slice(1));
  return { users: of("u"), anonymous: of("a"), hashes: of("h").flatMap(hashesOf) };
}

/**
 * Erases one actor as `eraseActor` does, and in the same transaction the actor's earlier events, so that none is
 * moved back later. Call `movePerson` and project first.
 * @param actorOf finds the actor: called before the transaction, and again once identities cannot change
 * @param also runs first, in the same transaction
 * @param forget runs last, in the same transaction, with the names, paths and titles that only this actor had
 * @returns how many events were erased
 */
export async function erasePerson(
  database: Database,
  projectId: number,
  actorOf: (tx: Sql) => Promise<number>,
  also: (tx: Sql) => Promise<void> = () => Promise.resolve(),
  forget: (tx: Sql, texts: readonly string[]) => Promise<void> = () => Promise.resolve(),
): Promise<number> {
  // An actor that is not found here may appear meanwhile, so the transaction looks again.
  const seen = await actorOf(database).catch(() => null);
  const earlier = seen === null ? null : await searchBeforeErasing(database, projectId, seen);
  return await database.transaction(async (tx) => {
    await also(tx);
    const isUpgrading = await lockEarlier(tx, projectId) !== null;
    await beginProjection(tx, projectId);
    const actor = await actorOf(tx);
    const { eventIds, names, texts } = await eraseActor(
      tx,
      projectId,
      actor,
      isUpgrading,
      earlier,
    );
    await forget(tx, texts);
    if (!isUpgrading) return eventIds.length;
    await tx.script(`SET LOCAL statement_timeout = ${UPGRADE_SCAN_MS_MAX}`);
    const gone = await tx.query<{ event_id: string; moved: boolean }>(
      ERASE,
      params(projectId, namesOf(names)),
    );
    const erased = new Set(eventIds);
    const others = gone.filter(({ event_id }) => !erased.has(event_id));
    await noteLess(tx, projectId, others.filter(({ moved }) => !moved).length);
    await deleteEventIds(tx, projectId, others.map(({ event_id }) => event_id));
    return eventIds.length + others.length;
  });
}

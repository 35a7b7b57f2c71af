import { gatheredRows } from "../db/gathered_rows.ts";
import { arrayLiteral, arrayLiterals, type Param, type Row, type Sql } from "../db/sql.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import type { SessionPart } from "./session_parts.ts";

/** The columns of `sessions`, their types, and their values of a part. */
const COLUMNS: readonly [
  name: string,
  type: string,
  valueOf: (part: SessionPart) => string | number | null,
][] = [
  ["actor_id", "int", ({ actor }) => actor],
  ["first_ms", "int8", ({ firstMs }) => firstMs],
  ["last_ms", "int8", ({ lastMs }) => lastMs],
  ["first_view_ms", "int8", ({ firstViewMs }) => firstViewMs],
  ["last_view_ms", "int8", ({ lastViewMs }) => lastViewMs],
  ["entry_id", "uuid", ({ entryId }) => entryId],
  ["exit_id", "uuid", ({ exitId }) => exitId],
  ["entry_path_id", "int", ({ entryPath }) => entryPath || null],
  ["exit_path_id", "int", ({ exitPath }) => exitPath || null],
  ["context_id", "int", ({ context }) => context],
  ["traffic_id", "int", ({ traffic }) => traffic],
  ["events", "int", ({ events }) => events],
  ["views", "int", ({ views }) => views],
  ["customs", "int", ({ customs }) => customs],
  ["passive_views", "int", ({ passiveViews }) => passiveViews],
  ["passive_customs", "int", ({ passiveCustoms }) => passiveCustoms],
  ["humans", "int", ({ humans }) => humans],
];
const COLUMN_NAMES = COLUMNS.map(([name]) => name);
const NAMES = COLUMN_NAMES.join(", ");

// The sessions that may touch a range: the last one that starts before it, and all that start within it or
// just after. Each range takes two index lookups, however many sessions the actor has.
const NEAR = `
SELECT s.* FROM unnest($2::text::int[], $3::text::int8[], $4::text::int8[])
  AS r (actor_id, low_ms, high_ms)
CROSS JOIN LATERAL (
  (SELECT ${NAMES} FROM sessions
    WHERE project_id = $1::int AND actor_id = r.actor_id AND first_ms < r.low_ms
    ORDER BY first_ms DESC LIMIT 1)
  UNION ALL
  SELECT ${NAMES} FROM sessions
  WHERE project_id = $1::int AND actor_id = r.actor_id
    AND first_ms >= r.low_ms AND first_ms <= r.high_ms + ${SESSION_GAP_MS}
) s
WHERE s.last_ms >= r.low_ms - ${SESSION_GAP_MS}`;

const OF_ACTORS = `
SELECT s.* FROM unnest($2::text::int[]) AS k (actor_id)
CROSS JOIN LATERAL (
  SELECT ${NAMES} FROM sessions WHERE project_id = $1::int AND actor_id = k.actor_id OFFSET 0) s`;

const DELETE = `
DELETE FROM sessions s USING unnest($2::text::int[], $3::text::int8[]) AS k (actor_id, first_ms)
WHERE s.project_id = $1::int AND s.actor_id = k.actor_id AND s.first_ms = k.first_ms`;

const WRITE = `
INSERT INTO sessions (project_id, ${NAMES})
SELECT $1::int, a.* FROM unnest(${
  COLUMNS.map(([, type], i) => `$${i + 2}::text::${type}[]`).join(", ")
}) AS a
ON CONFLICT (project_id, actor_id, first_ms) DO UPDATE
SET ${COLUMNS.slice(2).map(([name]) => `${name} = excluded.${name}`).join(", ")}`;

function partOfRow(row: Row): SessionPart {
  return {
    actor: row.actor_id as number,
    firstMs: row.first_ms as number,
    lastMs: row.last_ms as number,
    firstViewMs: row.first_view_ms as number | null,
    lastViewMs: row.last_view_ms as number | null,
    entryId: row.entry_id as string,
    exitId: row.exit_id as string,
    entryPath: row.entry_path_id as number | null ?? 0,
    exitPath: row.exit_path_id as number | null ?? 0,
    context: row.context_id as number,
    traffic: row.traffic_id as number,
    events: row.events as number,
    views: row.views as number,
    customs: row.customs as number,
    passiveViews: row.passive_views as number,
    passiveCustoms: row.passive_customs as number,
    humans: row.humans as number,
  };
}

async function readParts(
  tx: Sql,
  select: string,
  params: readonly Param[],
): Promise<SessionPart[]> {
  return (await gatheredRows(tx, COLUMN_NAMES, select, params)).map(partOfRow);
}

/** Returns the key of a session, unique within the project. */
export const sessionKey = ({ actor, firstMs }: Pick<SessionPart, "actor" | "firstMs">): string =>
  `${actor} ${firstMs}`;

/** Reads the stored sessions that are close enough to one of the parts to be one session with it. */
export async function sessionsNear(
  tx: Sql,
  projectId: number,
  parts: readonly SessionPart[],
): Promise<SessionPart[]> {
  if (parts.length === 0) return [];
  const params = [projectId, ...arrayLiterals(["actor", "firstMs", "lastMs"], parts)];
  const near = await readParts(tx, NEAR, params);
  // One session may be near two parts.
  return [...new Map(near.map((part) => [sessionKey(part), part])).values()];
}

/** Reads all stored sessions of some actors. */
export async function sessionsOfActors(
  tx: Sql,
  projectId: number,
  actors: readonly number[],
): Promise<SessionPart[]> {
  if (actors.length === 0) return [];
  return await readParts(tx, OF_ACTORS, [projectId, arrayLiteral(actors)]);
}

/** Reads all stored sessions that begin before an instant. */
export async function sessionsBefore(
  tx: Sql,
  projectId: number,
  beforeMs: number,
): Promise<SessionPart[]> {
  return await readParts(
    tx,
    `SELECT ${NAMES} FROM sessions WHERE project_id = $1::int AND first_ms < $2::int8`,
    [projectId, beforeMs],
  );
}

/** Replaces the stored sessions `gone` by `came`. */
export async function replaceSessions(
  tx: Sql,
  projectId: number,
  gone: readonly SessionPart[],
  came: readonly SessionPart[],
): Promise<void> {
  const cameKeys = new Set(came.map(sessionKey));
  const deleted = gone.filter((part) => !cameKeys.has(sessionKey(part)));
  if (deleted.length > 0) {
    await tx.query(DELETE, [projectId, ...arrayLiterals(["actor", "firstMs"], deleted)]);
  }
  if (came.length > 0) {
    await tx.query(WRITE, [
      projectId,
      ...COLUMNS.map(([, , valueOf]) => arrayLiteral(came.map(valueOf))),
    ]);
  }
}

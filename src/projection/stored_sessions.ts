import { gatheredRows } from "../db/gathered_rows.ts";
import { arrayLiteral, arrayLiterals, type Param, type Row, type Sql } from "../db/sql.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import { keyedDeletion } from "./keyed_deletion.ts";
import type { SessionPart } from "./session_parts.ts";

/** The columns of `sessions`, their types, and the members of a part that they hold. */
const COLUMNS: readonly [name: string, type: string, member: keyof SessionPart][] = [
  ["actor_id", "int", "actor"],
  ["first_ms", "int8", "firstMs"],
  ["last_ms", "int8", "lastMs"],
  ["first_view_ms", "int8", "firstViewMs"],
  ["last_view_ms", "int8", "lastViewMs"],
  ["entry_id", "uuid", "entryId"],
  ["exit_id", "uuid", "exitId"],
  ["entry_path_id", "int", "entryPath"],
  ["exit_path_id", "int", "exitPath"],
  ["context_id", "int", "context"],
  ["traffic_id", "int", "traffic"],
  ["events", "int", "events"],
  ["views", "int", "views"],
  ["customs", "int", "customs"],
  ["passive_views", "int", "passiveViews"],
  ["passive_customs", "int", "passiveCustoms"],
  ["humans", "int", "humans"],
];
const NAMES = COLUMNS.map(([name]) => name).join(", ");
const MEMBERS = COLUMNS.map(([, , member]) => member);

/** A missing path is null in the table and 0 in a part. */
const isPath = (name: string): boolean => name.endsWith("_path_id");
const AS_MEMBERS = COLUMNS.map(([name, , member]) =>
  `${isPath(name) ? `coalesce(s.${name}, 0)` : `s.${name}`} AS "${member}"`
).join(", ");

// The sessions that may touch a range: the last one that starts before it, and all that start within it or
// just after. Each range takes two index lookups, however many sessions the actor has. A subquery hides the project from
// the planner: it would take one that its statistics do not know for one without rows, and read all of its sessions.
const NEAR = `
SELECT ${AS_MEMBERS}
FROM unnest($2::text::int[], $3::text::int8[], $4::text::int8[])
  AS r (actor_id, low_ms, high_ms)
CROSS JOIN LATERAL (
  (SELECT ${NAMES} FROM sessions
    WHERE project_id = (SELECT $1::int) AND actor_id = r.actor_id AND first_ms < r.low_ms
    ORDER BY first_ms DESC LIMIT 1)
  UNION ALL
  SELECT ${NAMES} FROM sessions
  WHERE project_id = (SELECT $1::int) AND actor_id = r.actor_id
    AND first_ms >= r.low_ms AND first_ms <= r.high_ms + ${SESSION_GAP_MS}
) s
WHERE s.last_ms >= r.low_ms - ${SESSION_GAP_MS}`;

const OF_ACTORS = `
SELECT ${AS_MEMBERS} FROM unnest($2::text::int[]) AS k (actor_id)
CROSS JOIN LATERAL (
  SELECT ${NAMES} FROM sessions WHERE project_id = (SELECT $1::int) AND actor_id = k.actor_id OFFSET 0) s`;

const DELETE = keyedDeletion("sessions", [["actor_id", "int"], ["first_ms", "int8"]]);

const WRITE = `
INSERT INTO sessions (project_id, ${NAMES})
SELECT $1::int, ${COLUMNS.map(([name]) => isPath(name) ? `nullif(${name}, 0)` : name).join(", ")}
FROM unnest(${
  COLUMNS.map(([, type], i) => `$${i + 2}::text::${type}[]`).join(", ")
}) AS a (${NAMES})
ON CONFLICT (project_id, actor_id, first_ms) DO UPDATE
SET ${COLUMNS.slice(2).map(([name]) => `${name} = excluded.${name}`).join(", ")}`;

const readParts = (tx: Sql, select: string, params: readonly Param[]): Promise<SessionPart[]> =>
  gatheredRows<SessionPart & Row>(tx, MEMBERS, select, params);

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
    `SELECT ${AS_MEMBERS} FROM sessions s WHERE project_id = $1::int AND first_ms < $2::int8`,
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
      ...arrayLiterals(MEMBERS, came),
    ]);
  }
}

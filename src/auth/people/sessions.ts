import type { Sql } from "../../db/sql.ts";
import { Problem } from "../../problem.ts";
import { randomText } from "../random_text.ts";
import {
  SESSION_UNUSED_MS_MAX,
  SESSION_USE_NOTED_MS,
  SESSIONS_PER_PERSON_MAX,
} from "./people_limits.ts";
import { type Person, PERSON_COLUMNS, personOfRow } from "./people.ts";
import { isSecret, newSecret, secretHash } from "./secrets.ts";

/** By what people recognize a session. */
export interface SessionPlace {
  /** `Firefox on Windows` */
  readonly device: string | null;
  /** `Berlin, DE` */
  readonly place: string | null;
  /** Stored as IP_STORAGE says. */
  readonly address: string | null;
}

/** A session that has not ended. Times are ISO 8601 in UTC. */
export interface Session extends SessionPlace {
  /** `ses_…` */
  readonly id: string;
  readonly createdAt: string;
  readonly lastSeenAt: string;
  readonly expiresAt: string;
}

interface SessionRow extends Record<string, unknown> {
  session_id: string;
  began_at: Date;
  session_seen_at: Date;
  expires_at: Date;
  device: string | null;
  place: string | null;
  address: string | null;
}

// Renamed where a person has a column of the same name.
const SESSION_COLUMNS = "s.session_id, s.created_at AS began_at, " +
  "s.last_seen_at AS session_seen_at, s.expires_at, s.device, s.place, s.address";

function sessionOfRow(row: SessionRow): Session {
  return {
    id: row.session_id,
    device: row.device,
    place: row.place,
    address: row.address,
    createdAt: row.began_at.toISOString(),
    lastSeenAt: row.session_seen_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
  };
}

const iso = (ms: number) => new Date(ms).toISOString();

/**
 * Starts a session of a person. If they have too many, the one unused for longest ends.
 * @returns its id, and the cookie's secret, of which only the hash is stored
 */
export async function startSession(sql: Sql, { personId, at, nowMs }: {
  readonly personId: string;
  readonly at: SessionPlace;
  readonly nowMs: number;
}): Promise<{ readonly sessionId: string; readonly secret: string }> {
  const secret = newSecret();
  const sessionId = `ses_${randomText(22)}`;
  await sql.query(
    `WITH surplus AS (
      DELETE FROM person_sessions WHERE session_id IN (
        SELECT session_id FROM person_sessions WHERE person_id = $3::text
        ORDER BY last_seen_at DESC, session_id OFFSET $9::int
      )
    ), seen AS (
      UPDATE people SET last_seen_at = $4::text::timestamptz WHERE person_id = $3::text
    )
    INSERT INTO person_sessions (session_id, token_hash, person_id, created_at, last_seen_at,
      expires_at, device, place, address)
    VALUES ($1::text, $2::text::bytea, $3::text, $4::text::timestamptz, $4::text::timestamptz,
      $5::text::timestamptz, $6::text, $7::text, $8::text)`,
    [
      sessionId,
      secretHash(secret),
      personId,
      iso(nowMs),
      iso(nowMs + SESSION_UNUSED_MS_MAX),
      at.device,
      at.place,
      at.address,
      SESSIONS_PER_PERSON_MAX - 1,
    ],
  );
  return { sessionId, secret };
}

/** Finds the session of a cookie's secret, and its person. Null: there is none, or it has ended. */
export async function sessionOf(
  sql: Sql,
  secret: string,
  nowMs: number,
): Promise<{ readonly person: Person; readonly session: Session } | null> {
  if (!isSecret(secret)) return null;
  const [row] = await sql.query<SessionRow>(
    `SELECT ${PERSON_COLUMNS}, ${SESSION_COLUMNS} FROM person_sessions s JOIN people p USING (person_id)
    WHERE s.token_hash = $1::text::bytea AND s.expires_at > $2::text::timestamptz`,
    [secretHash(secret), iso(nowMs)],
  );
  if (row === undefined) return null;
  return { person: personOfRow(row), session: sessionOfRow(row) };
}

/** Stores that a session is used, which extends it, and its device, place and address. */
export async function noteSessionUse(
  sql: Sql,
  session: Session,
  at: SessionPlace,
  nowMs: number,
): Promise<void> {
  if (nowMs - Date.parse(session.lastSeenAt) < SESSION_USE_NOTED_MS) return;
  await sql.query(
    `WITH used AS (
      UPDATE person_sessions SET last_seen_at = $2::text::timestamptz,
        expires_at = $3::text::timestamptz, device = $4::text, place = $5::text, address = $6::text
      WHERE session_id = $1::text RETURNING person_id
    )
    UPDATE people SET last_seen_at = $2::text::timestamptz
    WHERE person_id = (SELECT person_id FROM used)`,
    [session.id, iso(nowMs), iso(nowMs + SESSION_UNUSED_MS_MAX), at.device, at.place, at.address],
  );
}

/** A person's sessions, most recently used first. */
export async function listSessions(sql: Sql, personId: string, nowMs: number): Promise<Session[]> {
  const rows = await sql.query<SessionRow>(
    `SELECT ${SESSION_COLUMNS} FROM person_sessions s
    WHERE s.person_id = $1::text AND s.expires_at > $2::text::timestamptz
    ORDER BY s.last_seen_at DESC, s.session_id`,
    [personId, iso(nowMs)],
  );
  return rows.map(sessionOfRow);
}

/** Ends one session of a person. Throws `not_found`. */
export async function endSession(sql: Sql, personId: string, sessionId: string): Promise<void> {
  const ended = await sql.query(
    "DELETE FROM person_sessions WHERE session_id = $1::text AND person_id = $2::text RETURNING 1",
    [/^ses_[A-Za-z0-9]{1,60}$/.test(sessionId) ? sessionId : "", personId],
  );
  if (ended.length === 0) throw new Problem("not_found", "You have no session with this id.");
}

/** Ends the session of a cookie's secret, if there is one. */
export async function endSessionOfSecret(sql: Sql, secret: string): Promise<void> {
  if (!isSecret(secret)) return;
  await sql.query("DELETE FROM person_sessions WHERE token_hash = $1::text::bytea", [
    secretHash(secret),
  ]);
}

/** Ends all sessions of a person, except the one that is kept, if any. */
export async function endSessions(
  sql: Sql,
  personId: string,
  keptId: string | null = null,
): Promise<void> {
  await sql.query(
    `DELETE FROM person_sessions
    WHERE person_id = $1::text AND session_id IS DISTINCT FROM $2::text`,
    [personId, keptId],
  );
}

/** Ends everybody's sessions. @returns how many there were */
export async function endEverySession(sql: Sql): Promise<number> {
  return (await sql.query("DELETE FROM person_sessions RETURNING 1")).length;
}

/** Deletes expired sessions. @returns how many there were */
export async function deleteEndedSessions(sql: Sql, nowMs: number): Promise<number> {
  const ended = await sql.query(
    "DELETE FROM person_sessions WHERE expires_at <= $1::text::timestamptz RETURNING 1",
    [iso(nowMs)],
  );
  return ended.length;
}

import assert from "node:assert/strict";
import type { Database, Sql } from "../../../src/db/sql.ts";
import { DAY_MS } from "../../../src/limits.ts";
import { type AuthServer, authServer } from "../auth_server.ts";

export const NOW_MS = Date.UTC(2026, 10, 21, 4);
export const OWNER = { scopes: ["read", "write", "jobs", "admin", "people"] };
export const WANTED = { name: "Weekly report", scope: "read", projects: ["prj_a"] };

export const iso = (ms: number) => new Date(ms).toISOString();

/** What tests look at of a listed token. */
export interface Listed {
  readonly id: string;
  readonly name: string;
  readonly lastUsedAt: string | null;
  readonly status: string;
}

/** A deployment with two projects, and a clock that stands still. */
export async function world(sql: Database) {
  const clock = { nowMs: NOW_MS };
  const now = () => clock.nowMs;
  const servers = [authServer(sql, { now }), authServer(sql, { now })] as const;
  const owner = await servers[0].grant({ ...OWNER, ttlSeconds: 86_400 });
  for (const id of ["prj_a", "prj_b"]) {
    await servers[0].call("POST", "/v1/projects", owner, { id, name: id });
  }
  return { clock, now, one: servers[0], two: servers[1], owner };
}

/** A new token by the token `by`. */
export async function made(server: AuthServer, by: string, change: Record<string, unknown> = {}) {
  const answer = await server.call("POST", "/v1/tokens", by, { ...WANTED, ...change });
  assert.equal(answer.status, 201, JSON.stringify(answer.body));
  return answer.body as { id: string; token: string; expiresAt: string };
}

/** The tokens that the token `by` may see. */
export async function listed(server: AuthServer, by: string): Promise<Listed[]> {
  return (await server.call("GET", "/v1/tokens", by)).body.tokens;
}

/** Somebody with a session that lasts, and the quarter of an hour of a token that it mints. */
export async function signedIn(
  sql: Sql,
  server: AuthServer,
  id: string,
  role: string,
  projects: string,
) {
  await sql.query(
    `INSERT INTO people (person_id, email, name, role, projects, created_at)
    VALUES ($1::text, $1::text || '@example.com', 'Somebody', $2::text, $3::text::text[], now())`,
    [`per_${id}`, role, projects],
  );
  await sql.query(
    `INSERT INTO person_sessions
      (session_id, token_hash, person_id, created_at, last_seen_at, expires_at)
    VALUES ($1::text, sha256($1::text::bytea), $2::text, now(), now(), $3::text::timestamptz)`,
    [`ses_${id}`, `per_${id}`, iso(NOW_MS + 3650 * DAY_MS)],
  );
  return (scopes: string[], own: string[] | "*" = "*") =>
    server.grant({
      scopes,
      projects: own,
      subject: `${id}@example.com`,
      ttlSeconds: 900,
      session: { id: `ses_${id}`, rights: 1 },
    });
}

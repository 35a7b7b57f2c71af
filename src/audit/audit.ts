import { createHash } from "node:crypto";
import { arrayLiteral, type Sql } from "../db/sql.ts";
import { AUDIT_REPEAT_MS, AUDIT_SUBJECT_LENGTH_MAX } from "../limits.ts";

/** Everything that is recorded. A name keeps its meaning for ever, since stored entries have it. */
export const AUDIT_ACTIONS = [
  "owner.create",
  "person.invite",
  "person.join",
  "person.change",
  "person.role",
  "person.remove",
  "person.reset",
  "password.change",
  "passkey.add",
  "passkey.remove",
  "session.end",
  "project.create",
  "project.change",
  "key.create",
  "key.rotate",
  "key.revoke",
  "token.create",
  "token.issue",
  "token.revoke",
  "token.revoke_all",
  "share.create",
  "share.change",
  "share.revoke",
  "note.create",
  "note.change",
  "note.delete",
  "actor.export",
  "actor.erase",
  "events.export",
  "events.import",
  "history.import",
  "history.remove",
  "digest.save",
  "digest.delete",
  "alert.save",
  "alert.delete",
  "webhook.save",
  "webhook.delete",
  "told.unsubscribe",
  "archive.make",
  "archive.restore",
] as const;

export type AuditAction = typeof AUDIT_ACTIONS[number];

/** One thing that somebody did. */
export interface AuditEntry {
  /** A person's e-mail, or the subject of a token. */
  readonly who: string;
  readonly what: AuditAction;
  /** What it was done to, in words for people; never a secret, never a visitor's identity. */
  readonly subject: string;
  /** The project that it concerns; absent or null: the whole deployment. */
  readonly projectId?: number | null;
  /** The client's address; null: a shell on the server's own machine, or the server itself. */
  readonly from: string | null;
}

const VISITOR_MARK_LENGTH = 16;

/** Returns text that PostgreSQL can store, on one line, cut to its limit. */
function line(text: string): string {
  const plain = text.toWellFormed().replace(/\p{Cc}+/gu, " ");
  return plain.slice(0, AUDIT_SUBJECT_LENGTH_MAX).toWellFormed();
}

/** Records what somebody did, in the same transaction. Throws `DatabaseUnavailable`. */
export async function recordAudit(sql: Sql, entry: AuditEntry): Promise<void> {
  await sql.query(
    `INSERT INTO audit (who, what, subject, project_id, from_address)
    VALUES ($1::text, $2::text, $3::text, $4::int, $5::text)`,
    [line(entry.who), entry.what, line(entry.subject), entry.projectId ?? null, entry.from],
  );
}

/** How often somebody did something lately, up to a maximum, and the seconds since the first time. */
interface RecentActions {
  readonly count: number;
  readonly firstAgoS: number;
}

/** Counts what somebody did in a project within so many seconds, up to `countMax`. */
export async function recentActions(
  sql: Sql,
  { who, whats, projectId }: {
    readonly who: string;
    readonly whats: readonly AuditAction[];
    readonly projectId: number;
  },
  withinS: number,
  countMax: number,
): Promise<RecentActions> {
  const [recent] = await sql.query<RecentActions & Record<string, unknown>>(
    `SELECT count(*)::int AS count,
      coalesce(extract(epoch FROM clock_timestamp() - min(at)), 0)::float8 AS "firstAgoS"
    FROM (
      SELECT at FROM audit
      WHERE project_id = $1::int AND who = $2::text AND what = ANY($3::text::text[])
        AND at > clock_timestamp() - make_interval(secs => $4::float8)
      ORDER BY audit_id DESC LIMIT $5::int
    ) AS latest`,
    [projectId, line(who), arrayLiteral(whats), withinS, countMax],
  );
  return recent!;
}

/**
 * As `recordAudit`, unless the same entry was recorded within AUDIT_REPEAT_MS: one export often consists of many
 * requests.
 */
export async function recordAuditOnce(sql: Sql, entry: AuditEntry): Promise<void> {
  const { what, projectId = null, from } = entry;
  const [known] = await sql.query(
    `SELECT FROM audit
    WHERE at > clock_timestamp() - make_interval(secs => $1::float8) AND what = $2::text
      AND who = $3::text AND subject = $4::text AND project_id IS NOT DISTINCT FROM $5::int
      AND from_address IS NOT DISTINCT FROM $6::text LIMIT 1`,
    [AUDIT_REPEAT_MS / 1000, what, line(entry.who), line(entry.subject), projectId, from],
  );
  if (known === undefined) await recordAudit(sql, entry);
}

/**
 * Returns a visitor's name in the audit: a hash, which does not tell who it is, but by which the entries of a known
 * id can be found. `project` is the public id.
 */
export function visitorMark(project: string, id: string): string {
  const digest = createHash("sha256").update(`${project}\0${id}`).digest("hex");
  return `visitor ${digest.slice(0, VISITOR_MARK_LENGTH)}`;
}

import { arrayLiteral, type Sql } from "../db/sql.ts";
import { AUDIT_KEPT_DAYS, DAY_MS } from "../limits.ts";
import { pageRows, readAll, refuseUnknown } from "../query/parameters.ts";
import { encodeRowCursor, readRowCursor } from "../query/row_cursor.ts";
import type { AuditAction } from "./audit.ts";

/** An entry as replies show it. */
interface ShownEntry {
  readonly at: string;
  readonly who: string;
  readonly what: AuditAction;
  readonly subject: string;
  /** Public id; null: the whole deployment. */
  readonly project: string | null;
  readonly from: string | null;
}

/** A requested page. */
interface AuditPage {
  readonly rows: number;
  /** The last entry of the previous page; null: the newest page. */
  readonly after: number | null;
}

/** The parameters of `GET /v1/audit`. */
export const AUDIT_QUERY: Readonly<Record<string, string>> = {
  limit: "Entries of a page, 1 to 1000. Default: 100",
  cursor: "`nextCursor` of the page before",
};

/** Throws `invalid_parameter` with every invalid one at once. */
export function readAuditPage(query: URLSearchParams): AuditPage {
  const { rows, cursor } = readAll({
    unknown: () => refuseUnknown(query, Object.keys(AUDIT_QUERY)),
    rows: () => pageRows(query),
    cursor: () => readRowCursor(query, 1),
  });
  return { rows, after: cursor?.counts[0] ?? null };
}

interface EntryRow extends Record<string, unknown> {
  audit_id: number;
  at: Date;
  who: string;
  what: AuditAction;
  subject: string;
  project: string | null;
  from_address: string | null;
}

/**
 * Returns a page of the audit, newest first. With access to some projects only, entries of others and of the whole
 * deployment are left out.
 */
export async function listAudit(
  sql: Sql,
  projects: readonly string[] | "*",
  page: AuditPage,
): Promise<{ readonly rows: ShownEntry[]; readonly nextCursor: string | null }> {
  const found = await sql.query<EntryRow>(
    `SELECT a.audit_id, a.at, a.who, a.what, a.subject, p.public_id AS project, a.from_address
    FROM audit a LEFT JOIN projects p USING (project_id)
    WHERE ($1::text IS NULL OR a.project_id IN (
        SELECT project_id FROM projects WHERE public_id = ANY ($1::text::text[])))
      AND ($2::float8 IS NULL OR a.audit_id < $2::float8)
    ORDER BY a.audit_id DESC LIMIT $3::int`,
    [projects === "*" ? null : arrayLiteral(projects), page.after, page.rows + 1],
  );
  const shown = found.slice(0, page.rows);
  const last = shown.at(-1);
  const entries = shown.map(({ at, who, what, subject, project, from_address }) => ({
    at: at.toISOString(),
    who,
    what,
    subject,
    project,
    from: from_address,
  }));
  const isMore = found.length > page.rows && last !== undefined;
  const nextCursor = isMore ? encodeRowCursor({ counts: [last.audit_id], value: null }) : null;
  return { rows: entries, nextCursor };
}

/** Deletes entries older than AUDIT_KEPT_DAYS. Returns how many there were. */
export async function purgeAudit(sql: Sql, nowMs: number): Promise<number> {
  const [gone] = await sql.query<{ entries: number }>(
    `WITH gone AS (DELETE FROM audit WHERE at < $1::text::timestamptz RETURNING 1)
    SELECT count(*)::int AS entries FROM gone`,
    [new Date(nowMs - AUDIT_KEPT_DAYS * DAY_MS).toISOString()],
  );
  return gone?.entries ?? 0;
}

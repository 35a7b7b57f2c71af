/** Digests and alerts in their tables. */

import { holdProject } from "../db/held_project.ts";
import type { Sql } from "../db/sql.ts";
import { Problem } from "../problem.ts";
import { invalidParameter } from "../query/parameters.ts";
import { makeRoom, type SavedKind } from "../reports/saved/saved_room.ts";
import type { AlertDefinition } from "./alert_definition.ts";
import type { DigestDefinition } from "./digest_definition.ts";
import { isSlug, SLUG_USAGE } from "../query/slugs.ts";
import { ALERTS_MAX, CHECK_CLAIM_MS, DIGESTS_MAX, WEBHOOKS_MAX } from "./notification_limits.ts";

/** A kind of definition. */
export interface NotificationKind extends SavedKind {
  readonly table: "digests" | "alerts" | "webhooks";
}

export const DIGESTS: NotificationKind = {
  table: "digests",
  one: "digest",
  many: "digests",
  countMax: DIGESTS_MAX,
};
export const ALERTS: NotificationKind = {
  table: "alerts",
  one: "alert",
  many: "alerts",
  countMax: ALERTS_MAX,
};
export const WEBHOOKS: NotificationKind = {
  table: "webhooks",
  one: "webhook",
  many: "webhooks",
  countMax: WEBHOOKS_MAX,
};

const iso = (ms: number) => new Date(ms).toISOString();

/** The slug that a path names. Throws `invalid_parameter`. */
export function slugOf(params: Readonly<Record<string, string>>): string {
  const slug = params["slug"] ?? "";
  if (isSlug(slug)) return slug;
  throw invalidParameter("slug", SLUG_USAGE);
}

export function noneOf({ one }: NotificationKind): Problem {
  return new Problem("not_found", `There is no ${one} of this name.`);
}

/** A digest or an alert to be saved. */
export interface Saving {
  readonly projectId: number;
  readonly slug: string;
  /** Whether it must not replace an existing one. */
  readonly isNewOnly: boolean;
  readonly definition: DigestDefinition | AlertDefinition;
  /** The server's URL in the request that saves it. */
  readonly address: string;
  /** Returns when it is due, by the time zone of its project. */
  readonly dueMs: (timezone: string) => number;
  readonly nowMs: number;
}

/** Replaces a digest's state. It is due at once if it was due, or had failed; else by its new definition. */
const DIGEST_ANEW = `due_at = CASE
    WHEN stored.problem IS NOT NULL OR stored.due_at <= $7::text::timestamptz THEN $7::text::timestamptz
    ELSE excluded.due_at
  END, claimed_until = NULL, problem = NULL, updated_at = now()`;

const IS_SAME_ALERT = "stored.title = excluded.title AND stored.definition = excluded.definition";

/**
 * Replaces an alert's state. One that is saved as it is stored keeps what it has reported, which it would report once
 * more, and when it is due, unless it has failed: then it is tried again.
 */
const ALERT_ANEW = [
  { of: { due_at: "excluded.due_at", claimed_until: "NULL" }, kept: "AND stored.problem IS NULL" },
  { of: { firing_since: "NULL", told: "'{}'", updated_at: "now()" }, kept: "" },
].flatMap(({ of, kept }) =>
  Object.entries(of).map(([column, anew]) =>
    `${column} = CASE WHEN ${IS_SAME_ALERT} ${kept} THEN stored.${column} ELSE ${anew} END`
  )
).concat("problem = NULL").join(", ");

/** Selects the row of project $1 and slug $2 as it was before the statement. */
export const beforeOf = ({ table }: NotificationKind) =>
  `WITH before AS (SELECT * FROM ${table} WHERE project_id = $1::int AND slug = $2::text)`;

/** Returns whether the row that a statement stores differs in these columns from the one before, if any. */
export const isChangedIn = (...columns: readonly string[]) =>
  `RETURNING NOT EXISTS (SELECT FROM before WHERE ${
    columns.map((column) => `before.${column} = stored.${column}`).join(" AND ")
  }) AS "isChanged"`;

/** What saving did. */
export interface Saved {
  readonly isNew: boolean;
  /** Whether it is new, or defined otherwise than before. */
  readonly isChanged: boolean;
}

/**
 * Stores or replaces a digest or an alert, in the caller's transaction. The state of an alert that is defined otherwise
 * is reset.
 */
export async function saveNotification(
  tx: Sql,
  kind: NotificationKind,
  { definition: { title, ...definition }, address, dueMs, nowMs, ...place }: Saving,
): Promise<Saved> {
  const timezone = await holdProject(tx, place.projectId);
  const isNew = await makeRoom(tx, kind, place);
  const due = iso(dueMs(timezone));
  const isAlert = kind.table === "alerts";
  const [stored] = await tx.query<{ isChanged: boolean }>(
    `${beforeOf(kind)}
    INSERT INTO ${kind.table} AS stored (project_id, slug, title, definition, address, due_at)
    VALUES ($1::int, $2::text, $3::text, $4::text::jsonb, $5::text, $6::text::timestamptz)
    ON CONFLICT (project_id, slug) DO UPDATE SET title = excluded.title,
      definition = excluded.definition, address = excluded.address,
      ${isAlert ? ALERT_ANEW : DIGEST_ANEW}
    ${isChangedIn("title", "definition")}`,
    [
      ...[place.projectId, place.slug, title, JSON.stringify(definition), address, due],
      ...isAlert ? [] : [iso(nowMs)],
    ],
  );
  return { isNew, isChanged: stored!.isChanged };
}

/** Deletes a definition, in the caller's transaction. Throws `not_found`. */
export async function deleteNotification(
  tx: Sql,
  kind: NotificationKind,
  projectId: number,
  slug: string,
): Promise<{ title: string }> {
  const [row] = isSlug(slug)
    ? await tx.query<{ title: string }>(
      `DELETE FROM ${kind.table} WHERE project_id = $1::int AND slug = $2::text RETURNING title`,
      [projectId, slug],
    )
    : [];
  if (row === undefined) throw noneOf(kind);
  return row;
}

interface NotificationRow extends Record<string, unknown> {
  project_id: number;
  slug: string;
  title: string;
  definition: Record<string, unknown>;
  address: string;
  due_at: Date;
  problem: string | null;
  firing_since: Date | null;
  told: string[];
}

/** A stored digest or alert. */
export interface StoredNotification<D> {
  readonly projectId: number;
  readonly slug: string;
  readonly definition: D;
  readonly address: string;
  readonly dueMs: number;
  readonly problem: string | null;
  /** Alerts only: since when the condition holds; null: it does not. */
  readonly firingSinceMs: number | null;
  /** Alerts only: the keys of the occurrences that messages have reported. */
  readonly told: readonly string[];
}

export type StoredDigest = StoredNotification<DigestDefinition>;
export type StoredAlert = StoredNotification<AlertDefinition>;

function storedOf<D>(row: NotificationRow): StoredNotification<D> {
  return {
    projectId: row.project_id,
    slug: row.slug,
    definition: { title: row.title, ...row.definition } as unknown as D,
    address: row.address,
    dueMs: row.due_at.getTime(),
    problem: row.problem,
    firingSinceMs: row.firing_since?.getTime() ?? null,
    told: row.told ?? [],
  };
}

/** A project's digests or alerts, by slug. */
export async function listNotifications<D>(
  sql: Sql,
  kind: NotificationKind,
  projectId: number,
): Promise<StoredNotification<D>[]> {
  const rows = await sql.query<NotificationRow>(
    `SELECT * FROM ${kind.table} WHERE project_id = $1::int ORDER BY slug COLLATE "C"`,
    [projectId],
  );
  return rows.map((row) => storedOf<D>(row));
}

/** Throws `not_found`. */
export async function requireNotification<D>(
  sql: Sql,
  kind: NotificationKind,
  projectId: number,
  slug: string,
): Promise<StoredNotification<D>> {
  const [row] = await sql.query<NotificationRow>(
    `SELECT * FROM ${kind.table} WHERE project_id = $1::int AND slug = $2::text`,
    [projectId, slug],
  );
  if (row === undefined) throw noneOf(kind);
  return storedOf<D>(row);
}

/**
 * Claims the one that has been due for longest, so that no other server takes it within CHECK_CLAIM_MS. Null: none
 * is due.
 */
export async function claimNotification<D>(
  sql: Sql,
  kind: NotificationKind,
  nowMs: number,
): Promise<StoredNotification<D> | null> {
  const [row] = await sql.query<NotificationRow>(
    `UPDATE ${kind.table} t SET claimed_until = now() + $2::int8 * interval '1 ms'
    FROM (
      SELECT project_id, slug FROM ${kind.table}
      WHERE due_at <= $1::text::timestamptz AND (claimed_until IS NULL OR claimed_until <= now())
      ORDER BY due_at, project_id, slug LIMIT 1 FOR UPDATE SKIP LOCKED) due
    WHERE t.project_id = due.project_id AND t.slug = due.slug RETURNING t.*`,
    [iso(nowMs), CHECK_CLAIM_MS],
  );
  return row === undefined ? null : storedOf<D>(row);
}

/** The result of a check, and when the next one is due. */
interface CheckNoted {
  readonly nextMs: number;
  readonly problem: string | null;
  /** Alerts only. */
  readonly firingSinceMs?: number | null;
  readonly told?: string;
}

/**
 * Stores the result of a check, in the caller's transaction. Returns false, and stores nothing, if the definition
 * was changed, deleted or checked by another server meanwhile.
 */
export async function noteCheck(
  tx: Sql,
  kind: NotificationKind,
  { projectId, slug, dueMs }: StoredNotification<unknown>,
  { nextMs, problem, firingSinceMs = null, told = "{}" }: CheckNoted,
): Promise<boolean> {
  const firing = kind.table === "alerts"
    ? ", firing_since = $6::text::timestamptz, told = $7::text::text[]"
    : "";
  const rows = await tx.query(
    `UPDATE ${kind.table} SET due_at = $4::text::timestamptz, problem = $5::text,
      claimed_until = NULL${firing}
    WHERE project_id = $1::int AND slug = $2::text
      AND date_trunc('milliseconds', due_at) = $3::text::timestamptz
    RETURNING slug`,
    [
      projectId,
      slug,
      iso(dueMs),
      iso(nextMs),
      problem,
      ...firing === "" ? [] : [firingSinceMs === null ? null : iso(firingSinceMs), told],
    ],
  );
  return rows.length > 0;
}

/** Gives up a claim without a result, as when the server stops. */
export async function releaseNotification(
  sql: Sql,
  kind: NotificationKind,
  { projectId, slug }: StoredNotification<unknown>,
): Promise<void> {
  await sql.query(
    `UPDATE ${kind.table} SET claimed_until = NULL WHERE project_id = $1::int AND slug = $2::text`,
    [projectId, slug],
  );
}

/** Whether any digest, alert or message is due: by the indexes, also where statistics do not know the tables yet. */
export async function isAnythingDue(sql: Sql, nowMs: number): Promise<boolean> {
  const [row] = await sql.query<{ due: boolean }>(
    `SELECT coalesce(least((SELECT min(due_at) FROM digests), (SELECT min(due_at) FROM alerts),
      (SELECT min(due_at) FROM deliveries)) <= $1::text::timestamptz, false) AS due`,
    [iso(nowMs)],
  );
  return row!.due;
}

/** Removes an address from a digest or an alert, in the caller's transaction. Returns whether it was there. */
export async function removeReceiver(
  tx: Sql,
  kind: NotificationKind,
  { projectId, slug, email }: {
    readonly projectId: number;
    readonly slug: string;
    readonly email: string;
  },
): Promise<boolean> {
  const rows = await tx.query(
    `UPDATE ${kind.table} SET definition = jsonb_set(definition, '{to}', (definition->'to') - $3::text)
    WHERE project_id = $1::int AND slug = $2::text AND definition->'to' ? $3::text RETURNING slug`,
    [projectId, slug, email],
  );
  return rows.length > 0;
}

/** Digests, alerts and webhooks in their tables. */

import { holdProject } from "../db/held_project.ts";
import type { Sql } from "../db/sql.ts";
import { Problem } from "../problem.ts";
import { invalidParameter } from "../query/parameters.ts";
import { makeRoom, type SavedKind } from "../reports/saved/saved_room.ts";
import type { AlertDefinition } from "./alert_definition.ts";
import type { DigestDefinition } from "./digest_definition.ts";
import { isSlug, SLUG_USAGE } from "../query/slugs.ts";
import { ALERTS_MAX, DIGESTS_MAX, LOOK_CLAIM_MS, WEBHOOKS_MAX } from "./told_limits.ts";
import type { WebhookDefinition } from "./webhook_definition.ts";

/** A kind of what is stored here. */
export interface ToldKind extends SavedKind {
  readonly table: "digests" | "alerts" | "webhooks";
}

export const DIGESTS: ToldKind = {
  table: "digests",
  one: "digest",
  many: "digests",
  countMax: DIGESTS_MAX,
};
export const ALERTS: ToldKind = {
  table: "alerts",
  one: "alert",
  many: "alerts",
  countMax: ALERTS_MAX,
};
export const WEBHOOKS: ToldKind = {
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

export function noneOf({ one }: ToldKind): Problem {
  return new Problem("not_found", `There is no ${one} of this name.`);
}

/** What is saved of a digest or an alert. */
export interface Saving {
  readonly projectId: number;
  readonly slug: string;
  /** Whether it may replace nothing. */
  readonly isNewOnly: boolean;
  readonly definition: DigestDefinition | AlertDefinition;
  /** Where whoever saves it found the server. */
  readonly address: string;
  /** When it is due, by the time zone of its project. */
  readonly dueMs: (timezone: string) => number;
  readonly nowMs: number;
}

/** When a stored digest is due after it was replaced: one that is still to be made is so at once. */
const STAYS_DUE = `CASE WHEN stored.problem IS NOT NULL OR stored.due_at <= $7::text::timestamptz
  THEN $7::text::timestamptz ELSE excluded.due_at END`;

/** Stores a digest or an alert, or replaces it, which then begins anew; in a transaction of the caller's. */
export async function saveTold(
  tx: Sql,
  kind: ToldKind,
  { definition: { title, ...definition }, address, dueMs, nowMs, ...place }: Saving,
): Promise<{ isNew: boolean }> {
  const timezone = await holdProject(tx, place.projectId);
  const isNew = await makeRoom(tx, kind, place);
  const due = iso(dueMs(timezone));
  const isAlert = kind.table === "alerts";
  const anew = isAlert ? ", firing_since = NULL, told = '{}'" : "";
  await tx.query(
    `INSERT INTO ${kind.table} AS stored (project_id, slug, title, definition, address, due_at)
    VALUES ($1::int, $2::text, $3::text, $4::text::jsonb, $5::text, $6::text::timestamptz)
    ON CONFLICT (project_id, slug) DO UPDATE SET title = excluded.title,
      definition = excluded.definition, address = excluded.address,
      due_at = ${
      isAlert ? "excluded.due_at" : STAYS_DUE
    }, claimed_until = NULL, problem = NULL, updated_at = now()${anew}`,
    [
      ...[place.projectId, place.slug, title, JSON.stringify(definition), address, due],
      ...isAlert ? [] : [iso(nowMs)],
    ],
  );
  return { isNew };
}

/** Deletes one, in a transaction of the caller's. Throws `not_found`. */
export async function deleteTold(
  tx: Sql,
  kind: ToldKind,
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

interface ToldRow extends Record<string, unknown> {
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
export interface StoredTold<D> {
  readonly projectId: number;
  readonly slug: string;
  readonly definition: D;
  readonly address: string;
  readonly dueMs: number;
  readonly problem: string | null;
  /** Of alerts alone. */
  readonly firingSinceMs: number | null;
  readonly told: readonly string[];
}

export type StoredDigest = StoredTold<DigestDefinition>;
export type StoredAlert = StoredTold<AlertDefinition>;

function storedOf<D>(row: ToldRow): StoredTold<D> {
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

/** Those of a project, by slug. */
export async function listTold<D>(
  sql: Sql,
  kind: ToldKind,
  projectId: number,
): Promise<StoredTold<D>[]> {
  const rows = await sql.query<ToldRow>(
    `SELECT * FROM ${kind.table} WHERE project_id = $1::int ORDER BY slug COLLATE "C"`,
    [projectId],
  );
  return rows.map((row) => storedOf<D>(row));
}

/** Throws `not_found`. */
export async function requireTold<D>(
  sql: Sql,
  kind: ToldKind,
  projectId: number,
  slug: string,
): Promise<StoredTold<D>> {
  const [row] = await sql.query<ToldRow>(
    `SELECT * FROM ${kind.table} WHERE project_id = $1::int AND slug = $2::text`,
    [projectId, slug],
  );
  if (row === undefined) throw noneOf(kind);
  return storedOf<D>(row);
}

/**
 * Takes the one that has been due for longest, for LOOK_CLAIM_MS: no other server looks at it meanwhile.
 * Null: none is due.
 */
export async function claimTold<D>(
  sql: Sql,
  kind: ToldKind,
  nowMs: number,
): Promise<StoredTold<D> | null> {
  const [row] = await sql.query<ToldRow>(
    `UPDATE ${kind.table} t SET claimed_until = now() + $2::int8 * interval '1 ms'
    FROM (
      SELECT project_id, slug FROM ${kind.table}
      WHERE due_at <= $1::text::timestamptz AND (claimed_until IS NULL OR claimed_until <= now())
      ORDER BY due_at, project_id, slug LIMIT 1 FOR UPDATE SKIP LOCKED) due
    WHERE t.project_id = due.project_id AND t.slug = due.slug RETURNING t.*`,
    [iso(nowMs), LOOK_CLAIM_MS],
  );
  return row === undefined ? null : storedOf<D>(row);
}

/** What a look came to, and when the next one is. */
export interface LookNoted {
  readonly nextMs: number;
  readonly problem: string | null;
  /** Of alerts alone. */
  readonly firingSinceMs?: number | null;
  readonly told?: string;
}

/**
 * Notes a look, in a transaction of the caller's. False where it was changed or deleted meanwhile, or
 * somebody else has looked: then nothing came of this one.
 */
export async function noteLook(
  tx: Sql,
  kind: ToldKind,
  { projectId, slug, dueMs }: StoredTold<unknown>,
  { nextMs, problem, firingSinceMs = null, told = "{}" }: LookNoted,
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

/** Gives back what was taken and not looked at, as when the server stops. */
export async function releaseTold(
  sql: Sql,
  kind: ToldKind,
  { projectId, slug }: StoredTold<unknown>,
): Promise<void> {
  await sql.query(
    `UPDATE ${kind.table} SET claimed_until = NULL WHERE project_id = $1::int AND slug = $2::text`,
    [projectId, slug],
  );
}

/** Whether anything is to be looked at or to be sent: what is asked every minute. */
export async function isAnythingDue(sql: Sql, nowMs: number): Promise<boolean> {
  const [row] = await sql.query<{ due: boolean }>(
    `SELECT EXISTS (SELECT FROM digests WHERE due_at <= $1::text::timestamptz)
      OR EXISTS (SELECT FROM alerts WHERE due_at <= $1::text::timestamptz)
      OR EXISTS (SELECT FROM deliveries WHERE due_at <= $1::text::timestamptz) AS due`,
    [iso(nowMs)],
  );
  return row!.due;
}

/** Takes an address out of a digest or an alert, in a transaction of the caller's. */
export async function removeReceiver(
  tx: Sql,
  kind: ToldKind,
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

/** A stored webhook. */
export interface StoredWebhook {
  readonly slug: string;
  readonly definition: WebhookDefinition;
  readonly byOperator: boolean;
  readonly secret: string;
}

interface WebhookRow extends Record<string, unknown> {
  slug: string;
  title: string;
  definition: Omit<WebhookDefinition, "title">;
  by_operator: boolean;
  secret: string;
}

const WEBHOOK = `SELECT slug, title, definition, by_operator, secret FROM webhooks
WHERE project_id = $1::int`;

function webhookOf({ slug, title, definition, by_operator, secret }: WebhookRow): StoredWebhook {
  const { url, format } = definition;
  return { slug, definition: { title, url, format }, byOperator: by_operator, secret };
}

export async function listWebhooks(sql: Sql, projectId: number): Promise<StoredWebhook[]> {
  const rows = await sql.query<WebhookRow>(`${WEBHOOK} ORDER BY slug COLLATE "C"`, [projectId]);
  return rows.map(webhookOf);
}

/** Null: the project has none of this name. */
export async function findWebhook(
  sql: Sql,
  projectId: number,
  slug: string,
): Promise<StoredWebhook | null> {
  const [row] = await sql.query<WebhookRow>(`${WEBHOOK} AND slug = $2::text`, [projectId, slug]);
  return row === undefined ? null : webhookOf(row);
}

/** Stores a webhook, or replaces it: then its secret stays. In a transaction of the caller's. */
export async function saveWebhook(
  tx: Sql,
  { projectId, isNewOnly }: { readonly projectId: number; readonly isNewOnly: boolean },
  { slug, definition: { title, ...definition }, byOperator, secret }: StoredWebhook,
): Promise<{ isNew: boolean }> {
  await holdProject(tx, projectId);
  const isNew = await makeRoom(tx, WEBHOOKS, { projectId, slug, isNewOnly });
  await tx.query(
    `INSERT INTO webhooks (project_id, slug, title, definition, by_operator, secret)
    VALUES ($1::int, $2::text, $3::text, $4::text::jsonb, $5::boolean, $6::text)
    ON CONFLICT (project_id, slug) DO UPDATE SET title = excluded.title,
      definition = excluded.definition, by_operator = excluded.by_operator, updated_at = now()`,
    [projectId, slug, title, JSON.stringify(definition), byOperator, secret],
  );
  return { isNew };
}

/** Titles of the digests and alerts that go to a webhook. */
export async function usersOfWebhook(
  sql: Sql,
  projectId: number,
  slug: string,
): Promise<string[]> {
  const rows = await sql.query<{ title: string }>(
    `SELECT title FROM digests WHERE project_id = $1::int AND definition->'webhooks' ? $2::text
    UNION ALL
    SELECT title FROM alerts WHERE project_id = $1::int AND definition->'webhooks' ? $2::text`,
    [projectId, slug],
  );
  return rows.map(({ title }) => title);
}

/** A digest that goes to a webhook. */
interface WebhookDigest extends Record<string, unknown> {
  slug: string;
  title: string;
  /** Public ids of all that it tells of. */
  projects: string[];
}

/** The digests that go to a webhook. Alerts tell of the webhook's own project alone. */
export async function digestsOfWebhook(
  sql: Sql,
  projectId: number,
  slug: string,
): Promise<WebhookDigest[]> {
  return await sql.query<WebhookDigest>(
    `SELECT slug, title, CASE WHEN definition->'projects' = '[]'
      THEN jsonb_build_array((SELECT public_id FROM projects WHERE project_id = $1::int))
      ELSE definition->'projects' END AS projects
    FROM digests WHERE project_id = $1::int AND definition->'webhooks' ? $2::text
    ORDER BY slug COLLATE "C"`,
    [projectId, slug],
  );
}

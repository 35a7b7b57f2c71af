/** Webhooks in their table. */

import { holdProject } from "../db/held_project.ts";
import type { Sql } from "../db/sql.ts";
import { makeRoom } from "../reports/saved/saved_room.ts";
import { beforeOf, isChangedIn, type Saved, WEBHOOKS } from "./notification_store.ts";
import type { WebhookDefinition } from "./webhook_definition.ts";

/** A stored webhook. */
export interface StoredWebhook {
  readonly slug: string;
  readonly definition: WebhookDefinition;
  /** Whether an operator of the whole deployment set it: its URL may then be of the server's own network. */
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

/** Stores a webhook, or replaces it and keeps its secret, in the caller's transaction. */
export async function saveWebhook(
  tx: Sql,
  { projectId, isNewOnly }: { readonly projectId: number; readonly isNewOnly: boolean },
  { slug, definition: { title, ...definition }, byOperator, secret }: StoredWebhook,
): Promise<Saved> {
  await holdProject(tx, projectId);
  const isNew = await makeRoom(tx, WEBHOOKS, { projectId, slug, isNewOnly });
  const [stored] = await tx.query<{ isChanged: boolean }>(
    `${beforeOf(WEBHOOKS)}
    INSERT INTO webhooks AS stored (project_id, slug, title, definition, by_operator, secret)
    VALUES ($1::int, $2::text, $3::text, $4::text::jsonb, $5::boolean, $6::text)
    ON CONFLICT (project_id, slug) DO UPDATE SET title = excluded.title,
      definition = excluded.definition, by_operator = excluded.by_operator, updated_at = now()
    ${isChangedIn("title", "definition", "by_operator")}`,
    [projectId, slug, title, JSON.stringify(definition), byOperator, secret],
  );
  return { isNew, isChanged: stored!.isChanged };
}

/** Returns the titles of the digests and alerts that go to a webhook. */
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

interface WebhookDigest extends Record<string, unknown> {
  slug: string;
  title: string;
  /** Public ids of its projects. */
  projects: string[];
}

/** Returns the digests that go to a webhook. Only they may have other projects than the webhook's own. */
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

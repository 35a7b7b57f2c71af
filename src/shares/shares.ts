import { holdProject } from "../db/held_project.ts";
import { z } from "zod";
import { PASSWORD_LENGTH_MAX } from "../auth/people/people_limits.ts";
import { normalOrigin } from "../auth/projects.ts";
import { randomText } from "../auth/random_text.ts";
import { arrayLiteral, type Param, type Sql } from "../db/sql.ts";
import { originPatternMistake } from "../http/cors.ts";
import { Problem } from "../problem.ts";
import { type Filter, FiltersSchema, namesPerson } from "../query/filters.ts";
import { InstantOrNull, Title } from "../text_schemas.ts";
import {
  MINIMUM_VISITORS_DEFAULT,
  MINIMUM_VISITORS_MAX,
  MINIMUM_VISITORS_MIN,
  SHARE_FILTERS_MAX,
  SHARE_ORIGINS_MAX,
  SHARE_PASSWORD_LENGTH_MIN,
  SHARES_MAX,
} from "./share_limits.ts";
import { SHARE_VIEWS, type ShareView } from "./share_views.ts";

const title = Title
  .meta({ description: "What stands above the dashboard.", example: "Shop, for our investors" });
const views = z.array(z.enum(SHARE_VIEWS, `Use ${SHARE_VIEWS.join(", ")}.`))
  .min(1, "Name at least one view.")
  .refine((all) => new Set(all).size === all.length, "Name each view once.")
  .meta({ description: "Which views it shows, the first one first.", example: ["overview"] });
const filters = FiltersSchema
  .refine(
    (all) => all.length <= SHARE_FILTERS_MAX,
    `Use at most ${SHARE_FILTERS_MAX} filters.`,
  )
  .refine(
    (all) => !all.some(namesPerson),
    "A share cannot be of one person: of userId use exists or not_exists.",
  )
  .meta({ description: "They hold in every read; whoever looks at it can only add to them." });
const expiresAt = InstantOrNull.meta({
  description:
    "From when on it shows nothing; null: never. A new share ends later than now; a change may end it.",
});
const embedOrigins = z.array(
  z.string().transform((text) => normalOrigin(text) ?? text)
    // URLs allow characters in a host, such as `;`, that could add directives to the page's policy.
    .refine(
      (text) => originPatternMistake(text) === null,
      "Give an origin such as https://example.com or https://*.example.com, without a path.",
    ),
).max(SHARE_ORIGINS_MAX, `List at most ${SHARE_ORIGINS_MAX} origins.`)
  .meta({
    description: "Origins whose pages may hold it in a frame; empty: none may.",
    example: ["https://intranet.example.com"],
  });
const minimumVisitors = z.int("Give a whole number.")
  .min(MINIMUM_VISITORS_MIN, `Use at least ${MINIMUM_VISITORS_MIN}.`)
  .max(MINIMUM_VISITORS_MAX, `Use at most ${MINIMUM_VISITORS_MAX}.`)
  .meta({
    description: "What fewer visitors did is told as part of $other, or not: null. 1: all is told.",
    example: 3,
  });
const password = z.string()
  .min(SHARE_PASSWORD_LENGTH_MIN, `Use at least ${SHARE_PASSWORD_LENGTH_MIN} characters.`)
  .max(PASSWORD_LENGTH_MAX, `Use at most ${PASSWORD_LENGTH_MAX} characters.`).nullable()
  .meta({ description: "Asked for by the page beside the link; null: the link alone opens it." });

/** Body of `POST /v1/projects/:id/shares`. */
export const ShareCreation = z.strictObject({
  title,
  views: views.default(["overview"]),
  filters: filters.default([]),
  expiresAt: expiresAt.default(null),
  password: password.default(null),
  embedOrigins: embedOrigins.default([]),
  minimumVisitors: minimumVisitors.default(MINIMUM_VISITORS_DEFAULT),
}).meta({ id: "ShareCreation" });

/** Body of `PATCH /v1/projects/:id/shares/:shareId`: what is absent stays. */
export const ShareChange = z.strictObject({
  title,
  views,
  filters,
  expiresAt,
  password,
  embedOrigins,
  minimumVisitors,
}).partial().meta({ id: "ShareChange" });

/** A share as replies show it to people who may change it. */
export const ShareShown = z.object({
  id: z.string().meta({ description: "Who knows it can open the share.", example: "shr_…" }),
  url: z.url().meta({ description: "The page." }),
  title: z.string(),
  views: z.array(z.enum(SHARE_VIEWS)),
  filters: FiltersSchema,
  expiresAt: z.iso.datetime().nullable(),
  hasPassword: z.boolean(),
  embedOrigins: z.array(z.string()),
  minimumVisitors: z.int(),
  createdAt: z.iso.datetime(),
  status: z.enum(["active", "expired"]),
}).meta({ id: "Share" });

/** A stored share. */
export interface Share {
  /** `shr_…` */
  readonly id: string;
  readonly projectId: number;
  /** The public id of the project. */
  readonly project: string;
  readonly title: string;
  readonly views: readonly ShareView[];
  readonly filters: readonly Filter[];
  readonly minimumVisitors: number;
  readonly embedOrigins: readonly string[];
  /** Null: the link alone opens it. */
  readonly passwordHash: string | null;
  readonly epoch: number;
  readonly createdAtMs: number;
  /** Null: it does not expire. */
  readonly expiresAtMs: number | null;
}

interface ShareRow extends Record<string, unknown> {
  share_id: string;
  project_id: number;
  public_id: string;
  title: string;
  views: ShareView[];
  filters: Filter[];
  minimum_visitors: number;
  embed_origins: string[];
  password: string | null;
  epoch: number;
  created_at: Date;
  expires_at: Date | null;
}

const SELECT = `SELECT s.*, p.public_id FROM shares s JOIN projects p USING (project_id)`;
const SHARE_ID = /^shr_[A-Za-z0-9]{32}$/;

/** Whether the text has the form of a share's id; other text need not be looked up. */
export function isShareId(text: string): boolean {
  return SHARE_ID.test(text);
}

function shareOf(row: ShareRow): Share {
  return {
    id: row.share_id,
    projectId: row.project_id,
    project: row.public_id,
    title: row.title,
    views: row.views,
    filters: row.filters,
    minimumVisitors: row.minimum_visitors,
    embedOrigins: row.embed_origins,
    passwordHash: row.password,
    epoch: row.epoch,
    createdAtMs: row.created_at.getTime(),
    expiresAtMs: row.expires_at?.getTime() ?? null,
  };
}

export function hasExpired({ expiresAtMs }: Share, nowMs: number): boolean {
  return expiresAtMs !== null && nowMs >= expiresAtMs;
}

/** Returns a share as replies show it. `ownUrl`: the server's URL. */
export function shownShare(
  share: Share,
  ownUrl: string,
  nowMs: number,
): z.input<typeof ShareShown> {
  const { id, title, views, filters, embedOrigins, minimumVisitors, expiresAtMs } = share;
  return {
    id,
    url: `${ownUrl}/share/${id}`,
    title,
    views: [...views],
    filters: [...filters],
    expiresAt: expiresAtMs === null ? null : new Date(expiresAtMs).toISOString(),
    hasPassword: share.passwordHash !== null,
    embedOrigins: [...embedOrigins],
    minimumVisitors,
    createdAt: new Date(share.createdAtMs).toISOString(),
    status: hasExpired(share, nowMs) ? "expired" : "active",
  };
}

/** Finds the shares with these ids. */
export async function findShares(sql: Sql, ids: readonly string[]): Promise<Share[]> {
  const rows = await sql.query<ShareRow>(
    `${SELECT} WHERE s.share_id = ANY($1::text::text[])`,
    [arrayLiteral(ids)],
  );
  return rows.map(shareOf);
}

/** A project's shares, oldest first. */
export async function listShares(sql: Sql, projectId: number): Promise<Share[]> {
  const rows = await sql.query<ShareRow>(
    `${SELECT} WHERE s.project_id = $1::int ORDER BY s.created_at, s.share_id`,
    [projectId],
  );
  return rows.map(shareOf);
}

type NewShare = z.output<typeof ShareCreation>;
type SharePatch = z.output<typeof ShareChange>;

/** Returns the columns that a change sets. `passwordHash` undefined: the password stays. */
function columnsOf(
  patch: SharePatch,
  passwordHash: string | null | undefined,
): [column: string, type: string, value: Param][] {
  const { title, views, filters, expiresAt, embedOrigins, minimumVisitors } = patch;
  const all: [string, string, Param | undefined][] = [
    ["title", "text", title],
    ["views", "text::text[]", views && arrayLiteral(views)],
    ["filters", "text::jsonb", filters && JSON.stringify(filters)],
    ["expires_at", "text::timestamptz", expiresAt],
    ["embed_origins", "text::text[]", embedOrigins && arrayLiteral(embedOrigins)],
    ["minimum_visitors", "int", minimumVisitors],
    ["password", "text", passwordHash],
  ];
  return all.flatMap(([column, type, value]) => value === undefined ? [] : [[column, type, value]]);
}

/** Makes a share, in the caller's transaction. Throws `conflict` if the project has too many. */
export async function createShare(
  sql: Sql,
  projectId: number,
  wanted: NewShare,
  passwordHash: string | null,
  nowMs: number,
): Promise<Share> {
  await holdProject(sql, projectId);
  const [known] = await sql.query<{ shares: number }>(
    "SELECT count(*)::int AS shares FROM shares WHERE project_id = $1::int",
    [projectId],
  );
  if (known!.shares >= SHARES_MAX) {
    throw new Problem(
      "conflict",
      `A project has at most ${SHARES_MAX} shares. Revoke one that is not needed any more.`,
    );
  }
  const id = `shr_${randomText(32)}`;
  const columns = columnsOf(wanted, passwordHash);
  await sql.query(
    `INSERT INTO shares (share_id, project_id, created_at, ${
      columns.map(([column]) => column).join(", ")
    })
    VALUES ($1::text, $2::int, $3::text::timestamptz, ${
      columns.map(([, type], i) => `$${i + 4}::${type}`).join(", ")
    })`,
    [id, projectId, new Date(nowMs).toISOString(), ...columns.map(([, , value]) => value)],
  );
  return (await findShares(sql, [id]))[0]!;
}

function noSuchShare(): Problem {
  return new Problem("not_found", "The project has no share with this id.");
}

/** One share of one project. Throws `not_found`. */
export async function requireShare(sql: Sql, projectId: number, id: string): Promise<Share> {
  const [share] = isShareId(id) ? await findShares(sql, [id]) : [];
  if (share?.projectId !== projectId) throw noSuchShare();
  return share;
}

/**
 * Changes the members that the patch names. A change of the password ends the tokens made before. Throws
 * `not_found`.
 * @param passwordHash of the new password; null: none; undefined: the password stays
 */
export async function changeShare(
  sql: Sql,
  { id, projectId }: Pick<Share, "id" | "projectId">,
  patch: SharePatch,
  passwordHash: string | null | undefined,
): Promise<Share> {
  const columns = columnsOf(patch, passwordHash);
  const sets = columns.map(([column, type], i) => `${column} = $${i + 3}::${type}`);
  if (passwordHash !== undefined) sets.push("epoch = epoch + 1");
  if (sets.length > 0) {
    await sql.query(
      `UPDATE shares SET ${sets.join(", ")} WHERE project_id = $1::int AND share_id = $2::text`,
      [projectId, id, ...columns.map(([, , value]) => value)],
    );
  }
  return await requireShare(sql, projectId, id);
}

/** Deletes a share. Throws `not_found`. */
export async function revokeShare(
  sql: Sql,
  { id, projectId }: Pick<Share, "id" | "projectId">,
): Promise<void> {
  const rows = await sql.query(
    `DELETE FROM shares WHERE project_id = $1::int AND share_id = $2::text RETURNING share_id`,
    [projectId, id],
  );
  if (rows.length === 0) throw noSuchShare();
}

import { z } from "zod";
import { arrayLiteral, type Param, type Sql } from "../db/sql.ts";
import { LOCATION_LENGTH_MAX, PROJECT_ORIGINS_MAX, RETENTION_DAYS_MAX } from "../limits.ts";
import { Problem } from "../problem.ts";
import { isSiteUrl, isTimezone, normalSiteUrl } from "../project_values.ts";
import { nameText, PlainText } from "../text_schemas.ts";
import { randomText } from "./random_text.ts";
import { moveDigests } from "./zone_change.ts";

/** Returns an origin as browsers send it, with its `*.`, if any; null: the text is not an origin. */
export function normalOrigin(text: string): string | null {
  const wildcard = text.includes("://*.");
  const url = URL.parse(wildcard ? text.replace("://*.", "://") : text);
  if (url === null || !/^https?:$/.test(url.protocol)) return null;
  const bare = url.pathname === "/" && url.search === "" && url.hash === "" &&
    url.username === "" && url.password === "" && !/[*?#]/.test(url.host);
  return bare ? wildcard ? url.origin.replace("://", "://*.") : url.origin : null;
}

const AllowedOrigin = z.string().max(LOCATION_LENGTH_MAX).refine(
  (text) => normalOrigin(text) !== null,
  "Give an origin such as https://example.com or https://*.example.com, without a path. " +
    "An empty list allows every origin.",
).overwrite((text) => normalOrigin(text) ?? text);

export const ProjectId = z.string()
  .regex(/^prj_[A-Za-z0-9_-]{1,60}$/, "Use prj_ and up to 60 letters, digits, _ or -.")
  .meta({ description: "Public id of a project.", example: "prj_default" });

const name = nameText("Give a name.")
  .meta({ description: "What people call the project.", example: "Shop" });
const siteUrl = PlainText
  .refine(isSiteUrl, "Give an http or https URL without a user name, such as https://example.com.")
  .overwrite(normalSiteUrl)
  // Of the stored form, so that what a reply shows can be sent again.
  .max(LOCATION_LENGTH_MAX, `Use at most ${LOCATION_LENGTH_MAX} characters.`)
  .nullable()
  .meta({ description: "Where the site is; heat maps need it.", example: "https://example.com" });
export const Timezone = z.string()
  .refine(isTimezone, "Give an IANA time zone such as Europe/Berlin.")
  .meta({ description: "IANA time zone that days are cut by.", example: "Europe/Berlin" });
const allowedOrigins = z.array(AllowedOrigin)
  .max(PROJECT_ORIGINS_MAX, `List at most ${PROJECT_ORIGINS_MAX} origins.`)
  .meta({
    description: "Origins whose pages may send events, https://*.example.com for any subdomain; " +
      "empty: any origin.",
    example: ["https://example.com", "https://*.example.com"],
  });
const ipStorage = z.enum(["full", "truncated", "none"], "Use full, truncated, none or null.")
  .nullable()
  .meta({ description: "How much of an IP address is stored; null: as the server's IP_STORAGE." });
const retentionDays = z.int("Give a whole number of days, or null.")
  .min(1, "Keep events for at least one day.")
  .max(RETENTION_DAYS_MAX, `Use at most ${RETENTION_DAYS_MAX} days, or null for ever.`)
  .nullable()
  .meta({ description: "Days that events are kept; null: for ever.", example: 730 });

/** Body of `POST /v1/projects`. */
export const ProjectCreation = z.strictObject({
  id: ProjectId.optional(),
  name,
  siteUrl: siteUrl.default(null),
  timezone: Timezone.default("UTC"),
  allowedOrigins: allowedOrigins.default([]),
  ipStorage: ipStorage.default(null),
  retentionDays: retentionDays.default(null),
}).meta({ id: "ProjectCreation" });

/** Body of `PATCH /v1/projects/:id`: what is absent stays. */
export const ProjectChange = z.strictObject({
  name,
  siteUrl,
  timezone: Timezone,
  allowedOrigins,
  ipStorage,
  retentionDays,
}).partial().meta({ id: "ProjectChange" });

/** A project as replies show it. */
export const ProjectShown = z.object({
  id: ProjectId,
  name,
  siteUrl,
  timezone: Timezone,
  allowedOrigins,
  ipStorage,
  retentionDays,
  createdAt: z.iso.datetime().meta({ example: "2026-11-21T04:00:00.000Z" }),
}).meta({ id: "Project" });

export type NewProject = z.output<typeof ProjectCreation>;
export type ProjectPatch = z.output<typeof ProjectChange>;

/** A stored project: what replies show, and the number by which other tables refer to it. */
export interface Project extends z.output<typeof ProjectShown> {
  readonly projectId: number;
}

interface ProjectRow extends Record<string, unknown> {
  project_id: number;
  public_id: string;
  name: string;
  site_url: string | null;
  timezone: string;
  allowed_origins: string[];
  ip_storage: Project["ipStorage"];
  retention_days: number | null;
  created_at: Date;
}

const COLUMNS = "project_id, public_id, name, site_url, timezone, allowed_origins, ip_storage, " +
  "retention_days, created_at";

function project(row: ProjectRow): Project {
  return {
    projectId: row.project_id,
    id: row.public_id,
    name: row.name,
    siteUrl: row.site_url,
    timezone: row.timezone,
    allowedOrigins: row.allowed_origins,
    ipStorage: row.ip_storage,
    retentionDays: row.retention_days,
    createdAt: row.created_at.toISOString(),
  };
}

/** Stores a project. Null: the chosen id is taken. */
export async function insertProject(sql: Sql, wanted: NewProject): Promise<Project | null> {
  const [row] = await sql.query<ProjectRow>(
    `INSERT INTO projects
      (public_id, name, site_url, site_url_by_operator, timezone, allowed_origins, ip_storage,
        retention_days)
    VALUES ($1::text, $2::text, $3::text, true, $4::text, $5::text::text[], $6::text, $7::int)
    ON CONFLICT (public_id) DO NOTHING RETURNING ${COLUMNS}`,
    [
      wanted.id ?? `prj_${randomText(16)}`,
      wanted.name,
      wanted.siteUrl,
      wanted.timezone,
      arrayLiteral(wanted.allowedOrigins),
      wanted.ipStorage,
      wanted.retentionDays,
    ],
  );
  return row === undefined ? null : project(row);
}

/** Stores a project. Throws `conflict` if its chosen id is taken. */
export async function createProject(sql: Sql, wanted: NewProject): Promise<Project> {
  const created = await insertProject(sql, wanted);
  if (created !== null) return created;
  throw new Problem("conflict", "A project with this id exists already. Choose another id.");
}

/** All projects, or those with the given public ids that exist, oldest first. */
export async function listProjects(sql: Sql, ids: readonly string[] | "*"): Promise<Project[]> {
  const rows = await sql.query<ProjectRow>(
    `SELECT ${COLUMNS} FROM projects
    WHERE $1::text IS NULL OR public_id = ANY($1::text::text[]) ORDER BY project_id`,
    [ids === "*" ? null : arrayLiteral(ids)],
  );
  return rows.map(project);
}

function noSuchProject(): Problem {
  return new Problem("not_found", "There is no project with this id.");
}

/** The project with this public id. Throws `not_found`. */
export async function requireProject(sql: Sql, id: string): Promise<Project> {
  // An id from a path may have characters that PostgreSQL's text cannot (NUL).
  const [found] = ProjectId.safeParse(id).success ? await listProjects(sql, [id]) : [];
  if (found === undefined) throw noSuchProject();
  return found;
}

/**
 * Changes the members that the patch names, in the caller's transaction. Throws `not_found`.
 * @param isOperator whether an operator of the whole deployment changes it: captures may then fetch a site of the
 * server's own network
 */
export async function patchProject(
  sql: Sql,
  id: string,
  patch: ProjectPatch,
  isOperator: boolean,
): Promise<Project> {
  const wanted: [column: string, type: string, value: Param | undefined][] = [
    ["name", "text", patch.name],
    ["site_url", "text", patch.siteUrl],
    ["timezone", "text", patch.timezone],
    ["allowed_origins", "text::text[]", patch.allowedOrigins && arrayLiteral(patch.allowedOrigins)],
    ["ip_storage", "text", patch.ipStorage],
    ["retention_days", "int", patch.retentionDays],
  ];
  const params: Param[] = [id];
  const changes: string[] = [];
  for (const [column, type, value] of wanted) {
    if (value === undefined) continue;
    params.push(value);
    changes.push(`${column} = $${params.length}::${type}`);
    if (column !== "site_url") continue;
    // Sending the stored URL again does not count as setting it.
    const stays = `site_url_by_operator AND site_url IS NOT DISTINCT FROM $${params.length}::text`;
    changes.push(`site_url_by_operator = ${isOperator ? "true" : stays}`);
  }
  if (changes.length === 0 || !ProjectId.safeParse(id).success) return requireProject(sql, id);
  // One statement, which locks the table before the row, cannot deadlock with one that locks the whole table.
  const [row] = await sql.query<ProjectRow & { zone_before: string }>(
    `UPDATE projects SET ${changes.join(", ")}
    FROM (
      SELECT project_id AS id, timezone AS zone_before FROM projects
      WHERE public_id = $1::text FOR NO KEY UPDATE) stored
    WHERE project_id = stored.id RETURNING ${COLUMNS}, zone_before`,
    params,
  );
  if (row === undefined) throw noSuchProject();
  await moveDigests(sql, row.project_id, row.zone_before, row.timezone);
  return project(row);
}

/** A project's name in the audit. */
export function projectName({ name, id }: Pick<Project, "name" | "id">): string {
  return `${name} (${id})`;
}

/** Returns the project's name and the members that differ, for the audit; null: none does. */
export function changeOfProject(before: Project, after: Project): string | null {
  const members = Object.keys(ProjectChange.shape) as (keyof ProjectPatch)[];
  const differing = members.filter((member) =>
    JSON.stringify(before[member]) !== JSON.stringify(after[member])
  );
  return differing.length === 0 ? null : `${projectName(after)}: ${differing.join(", ")}`;
}

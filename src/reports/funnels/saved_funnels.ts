import type { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import type { Exchange } from "../../http/router.ts";
import { FUNNELS_MAX } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { invalidParameter } from "../../query/parameters.ts";
import {
  FunnelBody,
  type FunnelDefinition,
  type FunnelShown,
  plainDefinition,
} from "./funnel_definition.ts";

export interface SavedFunnelServices {
  /** The database that is written to. */
  readonly sql: Sql;
}

type Asked = Pick<Exchange<unknown>, "request" | "params">;

/** A saved funnel. */
export interface SavedFunnel extends FunnelDefinition {
  readonly slug: string;
  readonly title: string;
  readonly updatedAt: Date;
}

interface FunnelRow extends Record<string, unknown> {
  readonly slug: string;
  readonly title: string;
  readonly definition: FunnelDefinition;
  readonly updated_at: Date;
}

const SLUG = /^[a-z0-9][a-z0-9-]{0,62}$/;
const FUNNELS =
  "SELECT slug, title, definition, updated_at FROM saved_funnels WHERE project_id = $1::int";

function funnelOf({ slug, title, definition, updated_at }: FunnelRow): SavedFunnel {
  return { slug, title, ...plainDefinition(definition), updatedAt: updated_at };
}

/** A funnel as replies show it. */
export function shownFunnel(funnel: SavedFunnel): z.output<typeof FunnelShown> {
  const { slug, title, updatedAt } = funnel;
  const { steps, exclude, ...others } = plainDefinition(funnel);
  return {
    slug,
    title,
    steps: [...steps],
    ...others,
    exclude: [...exclude],
    updatedAt: updatedAt.toISOString(),
  };
}

/** The saved funnels of a project, by slug. */
export async function listFunnels(sql: Sql, projectId: number): Promise<SavedFunnel[]> {
  const rows = await sql.query<FunnelRow>(`${FUNNELS} ORDER BY slug COLLATE "C"`, [projectId]);
  return rows.map(funnelOf);
}

/** There is none, for whoever asks. */
export function noSuchFunnel(): Problem {
  return new Problem("not_found", "There is no funnel of this name.");
}

/** A saved funnel. Throws `not_found`. */
export async function requireFunnel(
  sql: Sql,
  projectId: number,
  slug: string,
): Promise<SavedFunnel> {
  const rows = SLUG.test(slug)
    ? await sql.query<FunnelRow>(`${FUNNELS} AND slug = $2::text`, [projectId, slug])
    : [];
  if (rows[0] === undefined) throw noSuchFunnel();
  return funnelOf(rows[0]);
}

/** Stores a funnel. Throws `conflict` where it would be one too many. */
async function saveFunnel(
  sql: Sql,
  projectId: number,
  slug: string,
  { title, ...definition }: z.output<typeof FunnelBody>,
): Promise<{ funnel: SavedFunnel; isNew: boolean }> {
  return await sql.transaction(async (tx) => {
    // One at a time in a project, so that the number of funnels holds; events are stored meanwhile.
    await tx.query("SELECT FROM projects WHERE project_id = $1::int FOR NO KEY UPDATE", [
      projectId,
    ]);
    const [known] = await tx.query<{ same: number; others: number }>(
      `SELECT count(*) FILTER (WHERE slug = $2::text) AS same,
        count(*) FILTER (WHERE slug <> $2::text) AS others
      FROM saved_funnels WHERE project_id = $1::int`,
      [projectId, slug],
    );
    const isNew = known!.same === 0;
    if (isNew && known!.others >= FUNNELS_MAX) {
      throw new Problem(
        "conflict",
        `A project has at most ${FUNNELS_MAX} saved funnels. Delete one that is not needed any more.`,
      );
    }
    const [row] = await tx.query<FunnelRow>(
      `INSERT INTO saved_funnels (project_id, slug, title, definition)
      VALUES ($1::int, $2::text, $3::text, $4::text::jsonb)
      ON CONFLICT (project_id, slug) DO UPDATE
      SET title = excluded.title, definition = excluded.definition, updated_at = now()
      RETURNING slug, title, definition, updated_at`,
      [projectId, slug, title, JSON.stringify(definition)],
    );
    return { funnel: funnelOf(row!), isNew };
  });
}

/**
 * `PUT /v1/funnels/:slug`: 201 with the funnel where it is new, 200 where it replaced one. Throws
 * `invalid_parameter` that names `slug`, `conflict`, and what `readJson` throws.
 */
export async function putFunnel(
  { sql }: SavedFunnelServices,
  { projectId }: Pick<Project, "projectId">,
  { request, params }: Asked,
): Promise<Response> {
  const slug = params.slug ?? "";
  if (!SLUG.test(slug)) {
    throw invalidParameter(
      "slug",
      "Use up to 63 lower-case letters, digits and hyphens, the first no hyphen.",
    );
  }
  const body = await readJson(request, FunnelBody);
  const { funnel, isNew } = await saveFunnel(sql, projectId, slug, body);
  return json(shownFunnel(funnel), isNew ? 201 : 200);
}

/** `DELETE /v1/funnels/:slug`: 204. Throws `not_found`. */
export async function deleteFunnel(
  { sql }: SavedFunnelServices,
  { projectId }: Pick<Project, "projectId">,
  { params }: Asked,
): Promise<Response> {
  const { slug } = await requireFunnel(sql, projectId, params.slug ?? "");
  await sql.query("DELETE FROM saved_funnels WHERE project_id = $1::int AND slug = $2::text", [
    projectId,
    slug,
  ]);
  return new Response(null, { status: 204 });
}

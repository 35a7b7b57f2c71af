/** Definitions (funnels, goals, segments) that people save under a slug, in a table for each kind. */
import type { Project } from "../../auth/projects.ts";
import type { Row, Sql } from "../../db/sql.ts";
import type { Exchange } from "../../http/router.ts";
import { Problem } from "../../problem.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { isSlug, SLUG_USAGE } from "../../query/slugs.ts";

/** A kind of definition: its table, its name in singular and plural, and how many a project may have. */
export interface DefinitionKind {
  readonly table: "saved_funnels" | "goals" | "saved_segments";
  readonly one: string;
  readonly many: string;
  readonly countMax: number;
}

/** What the handlers of definitions need: the database that takes writes. */
export interface DefinitionServices {
  readonly sql: Sql;
}

/** The project of definitions. */
export type OfProject = Pick<Project, "projectId">;
/** The request for one definition, whose slug the path names. */
export type DefinitionAsked = Pick<Exchange<unknown>, "request" | "params">;

/** A definition as it is stored. */
export interface DefinitionRow<D> extends Row {
  readonly slug: string;
  readonly title: string;
  readonly definition: D;
  readonly updated_at: Date;
}

function select({ table }: DefinitionKind): string {
  return `SELECT slug, title, definition, updated_at FROM ${table} WHERE project_id = $1::int`;
}

/** Lists the definitions of a kind that a project has, in the order of slugs. */
export async function listDefinitions<D>(
  sql: Sql,
  kind: DefinitionKind,
  projectId: number,
): Promise<DefinitionRow<D>[]> {
  return await sql.query(`${select(kind)} ORDER BY slug COLLATE "C"`, [projectId]);
}

/** Loads a definition by its slug; null where the project has none of this slug. */
export async function loadDefinition<D>(
  sql: Sql,
  kind: DefinitionKind,
  projectId: number,
  slug: string,
): Promise<DefinitionRow<D> | null> {
  if (!isSlug(slug)) return null;
  const [row] = await sql.query<DefinitionRow<D>>(`${select(kind)} AND slug = $2::text`, [
    projectId,
    slug,
  ]);
  return row ?? null;
}

interface Definition {
  readonly slug: string;
  readonly title: string;
  /** Stored as JSON. */
  readonly definition: unknown;
}

/** Returns the slug that a path names. Throws `invalid_parameter`. */
export function namedSlug(params: Readonly<Record<string, string>>): string {
  const slug = params.slug ?? "";
  if (isSlug(slug)) return slug;
  throw invalidParameter("slug", SLUG_USAGE);
}

/** Makes a 404: there is no such definition. */
export function noSuchDefinition({ one }: DefinitionKind): Problem {
  return new Problem("not_found", `There is no ${one} of this name.`);
}

/** Checks a change against other definitions, inside the transaction, where none changes. Throws to refuse it. */
type DefinitionCheck = (inside: Sql) => Promise<void>;

/** Runs one change of definitions at a time in a project, so that checks hold; events are stored meanwhile. */
async function inTurn<T>(
  sql: Sql,
  projectId: number,
  work: (inside: Sql) => Promise<T>,
): Promise<T> {
  return await sql.transaction(async (tx) => {
    await tx.query("SELECT FROM projects WHERE project_id = $1::int FOR NO KEY UPDATE", [
      projectId,
    ]);
    return await work(tx);
  });
}

/**
 * Stores or replaces a definition. Throws `conflict` where the project has too many, and what `check`
 * throws.
 */
export async function saveDefinition(
  sql: Sql,
  { table, many, countMax }: DefinitionKind,
  projectId: number,
  { slug, title, definition }: Definition,
  check: DefinitionCheck = async () => {},
): Promise<{ isNew: boolean; updatedAt: Date }> {
  return await inTurn(sql, projectId, async (tx) => {
    await check(tx);
    const [known] = await tx.query<{ same: number; others: number }>(
      `SELECT count(*) FILTER (WHERE slug = $2::text) AS same,
        count(*) FILTER (WHERE slug <> $2::text) AS others
      FROM ${table} WHERE project_id = $1::int`,
      [projectId, slug],
    );
    const isNew = known!.same === 0;
    if (isNew && known!.others >= countMax) {
      throw new Problem(
        "conflict",
        `A project has at most ${countMax} ${many}. Delete one that is not needed any more.`,
      );
    }
    const [row] = await tx.query<{ updated_at: Date }>(
      `INSERT INTO ${table} (project_id, slug, title, definition)
      VALUES ($1::int, $2::text, $3::text, $4::text::jsonb)
      ON CONFLICT (project_id, slug) DO UPDATE
      SET title = excluded.title, definition = excluded.definition, updated_at = now()
      RETURNING updated_at`,
      [projectId, slug, title, JSON.stringify(definition)],
    );
    return { isNew, updatedAt: row!.updated_at };
  });
}

/** Deletes the definition that a path names: 204. Throws `not_found`, and what `check` throws. */
export async function deleteDefinition(
  { sql }: DefinitionServices,
  kind: DefinitionKind,
  { projectId }: OfProject,
  { params: { slug = "" } }: Pick<DefinitionAsked, "params">,
  check: (inside: Sql, slug: string) => Promise<void> = async () => {},
): Promise<Response> {
  if (!isSlug(slug)) throw noSuchDefinition(kind);
  await inTurn(sql, projectId, async (tx) => {
    await check(tx, slug);
    const rows = await tx.query(
      `DELETE FROM ${kind.table} WHERE project_id = $1::int AND slug = $2::text RETURNING slug`,
      [projectId, slug],
    );
    if (rows.length === 0) throw noSuchDefinition(kind);
  });
  return new Response(null, { status: 204 });
}

import type { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Row, Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { json } from "../../http/reply.ts";
import type { Exchange } from "../../http/router.ts";
import { Problem } from "../../problem.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { isSlug, SLUG_USAGE } from "../../query/slugs.ts";

/** Definitions (funnels, goals, segments) that people save under a slug, in a table for each kind. */

/** A kind of definition: its table, its name in singular and plural, and how many a project may have. */
export interface DefinitionKind<D, T> {
  readonly table: "saved_funnels" | "goals" | "saved_segments";
  readonly one: string;
  readonly many: string;
  readonly countMax: number;
  /**
   * Makes a definition of its row, with its members in the order of the API, which the database does not
   * keep.
   */
  readonly read: (row: DefinitionRow<D>) => T;
}

/** A definition as it is stored. */
interface DefinitionRow<D> extends Row {
  readonly slug: string;
  readonly title: string;
  readonly definition: D;
  readonly updated_at: Date;
}

/** Answers a request for one definition, whose slug the path names. `sql` is the database that takes writes. */
type DefinitionHandler = (
  services: { readonly sql: Sql },
  project: Pick<Project, "projectId">,
  asked: Pick<Exchange<unknown>, "request" | "params">,
) => Promise<Response>;

function select({ table }: Pick<DefinitionKind<never, unknown>, "table">): string {
  return `SELECT slug, title, definition, updated_at FROM ${table} WHERE project_id = $1::int`;
}

/** Lists the definitions of a kind that a project has, in the order of slugs. */
export async function listDefinitions<D, T>(
  sql: Sql,
  kind: DefinitionKind<D, T>,
  projectId: number,
): Promise<T[]> {
  const text = `${select(kind)} ORDER BY slug COLLATE "C"`;
  return (await sql.query<DefinitionRow<D>>(text, [projectId])).map(kind.read);
}

/** Loads a definition by its slug; null where the project has none of this slug. */
export async function loadDefinition<D, T>(
  sql: Sql,
  kind: DefinitionKind<D, T>,
  projectId: number,
  slug: string,
): Promise<T | null> {
  if (!isSlug(slug)) return null;
  const text = `${select(kind)} AND slug = $2::text`;
  const [row] = await sql.query<DefinitionRow<D>>(text, [projectId, slug]);
  return row === undefined ? null : kind.read(row);
}

/** Makes the 404 of a definition that does not exist. */
export function noSuchDefinition({ one }: { readonly one: string }): Problem {
  return new Problem("not_found", `There is no ${one} of this name.`);
}

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

/** Stores or replaces a definition. Throws `conflict` where the project has too many. */
async function save<D>(
  tx: Sql,
  { table, many, countMax }: DefinitionKind<D, unknown>,
  projectId: number,
  { slug, title, definition }: Pick<DefinitionRow<D>, "slug" | "title" | "definition">,
): Promise<{ isNew: boolean; row: DefinitionRow<D> }> {
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
  return { isNew, row: { slug, title, definition, updated_at: row!.updated_at } };
}

/**
 * Makes the handler of a `PUT`: 201 with the definition where it is new, 200 where it replaced one. It
 * throws `invalid_parameter` that names `slug`, `conflict`, what `readJson` throws, and what `check` throws.
 * @param check compares the definition with others in the transaction, in which none of them changes
 */
export function putterOf<D, T>(
  kind: DefinitionKind<D, T>,
  body: z.ZodType<D & { readonly title: string }>,
  shown: (definition: T) => unknown,
  check: (inside: Sql, projectId: number, definition: D) => Promise<void> = async () => {},
): DefinitionHandler {
  return async ({ sql }, { projectId }, { request, params: { slug = "" } }) => {
    if (!isSlug(slug)) throw invalidParameter("slug", SLUG_USAGE);
    const { title, ...others } = await readJson(request, body);
    const definition = others as unknown as D;
    const { isNew, row } = await inTurn(sql, projectId, async (tx) => {
      await check(tx, projectId, definition);
      return await save(tx, kind, projectId, { slug, title, definition });
    });
    return json(shown(kind.read(row)), isNew ? 201 : 200);
  };
}

/** Makes the handler of a `DELETE`: 204. It throws `not_found`, and what `check` throws in the transaction. */
export function deleterOf(
  kind: Pick<DefinitionKind<never, unknown>, "table" | "one">,
  check: (inside: Sql, projectId: number, slug: string) => Promise<void> = async () => {},
): DefinitionHandler {
  return async ({ sql }, { projectId }, { params: { slug = "" } }) => {
    if (!isSlug(slug)) throw noSuchDefinition(kind);
    await inTurn(sql, projectId, async (tx) => {
      await check(tx, projectId, slug);
      const rows = await tx.query(
        `DELETE FROM ${kind.table} WHERE project_id = $1::int AND slug = $2::text RETURNING slug`,
        [projectId, slug],
      );
      if (rows.length === 0) throw noSuchDefinition(kind);
    });
    return new Response(null, { status: 204 });
  };
}

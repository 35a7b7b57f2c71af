import { holdProject } from "../../db/held_project.ts";
import type { z } from "zod";
import type { Project } from "../../auth/projects.ts";
import type { Row, Sql } from "../../db/sql.ts";
import { readJson } from "../../http/json_body.ts";
import { isForNewOnly } from "../../http/known_copy.ts";
import { json } from "../../http/reply.ts";
import type { Exchange } from "../../http/router.ts";
import { Problem } from "../../problem.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { isSlug, SLUG_USAGE } from "../../query/slugs.ts";
import { makeRoom, type SavedKind } from "./saved_room.ts";

/** Definitions (funnels, goals, segments) that people save under a slug, in a table for each kind. */

/** A kind of definition. */
export interface DefinitionKind<D, T> extends SavedKind {
  readonly table: "saved_funnels" | "goals" | "saved_segments";
  /**
   * Makes a definition, as replies show it, from its row: with its members in the order of the API, which the
   * database does not keep.
   */
  readonly read: (row: DefinitionRow<D>) => T;
}

interface DefinitionRow<D> extends Row {
  readonly slug: string;
  readonly title: string;
  readonly definition: D;
  readonly updated_at: Date;
}

/** Answers a request for one definition, whose slug is in the path. `sql` is the database for writes. */
type DefinitionHandler = (
  services: { readonly sql: Sql },
  project: Pick<Project, "projectId">,
  asked: Pick<Exchange<unknown>, "request" | "params">,
) => Promise<Response>;

function select({ table }: Pick<DefinitionKind<never, unknown>, "table">): string {
  return `SELECT slug, title, definition, updated_at FROM ${table} WHERE project_id = $1::int`;
}

/** Makes a function that lists a project's definitions of a kind, in the order of slugs. */
export function listerOf<D, T>(kind: DefinitionKind<D, T>) {
  const text = `${select(kind)} ORDER BY slug COLLATE "C"`;
  return async (sql: Sql, projectId: number): Promise<T[]> =>
    (await sql.query<DefinitionRow<D>>(text, [projectId])).map(kind.read);
}

/** Makes a function that loads a definition by its slug; null: the project has none with it. */
export function loaderOf<D, T>(kind: DefinitionKind<D, T>) {
  const text = `${select(kind)} AND slug = $2::text`;
  return async (sql: Sql, projectId: number, slug: string): Promise<T | null> => {
    if (!isSlug(slug)) return null;
    const [row] = await sql.query<DefinitionRow<D>>(text, [projectId, slug]);
    return row === undefined ? null : kind.read(row);
  };
}

/** Makes a function that loads a definition by its slug, or throws `not_found`. */
export function requirerOf<D, T>(kind: DefinitionKind<D, T>) {
  const load = loaderOf(kind);
  return async (sql: Sql, projectId: number, slug: string): Promise<T> => {
    const definition = await load(sql, projectId, slug);
    if (definition === null) throw noSuchDefinition(kind);
    return definition;
  };
}

/** Makes the 404 of a definition that does not exist, or that the caller may not see. */
export function noSuchDefinition({ one }: { readonly one: string }): Problem {
  return new Problem("not_found", `There is no ${one} of this name.`);
}

/** Runs one change of definitions at a time in a project, so that checks stay true; events are stored meanwhile. */
async function inTurn<T>(
  sql: Sql,
  projectId: number,
  work: (inside: Sql) => Promise<T>,
): Promise<T> {
  return await sql.transaction(async (tx) => {
    await holdProject(tx, projectId);
    return await work(tx);
  });
}

/** Stores or replaces a definition. Throws as `makeRoom` does. */
async function save<D>(
  tx: Sql,
  kind: DefinitionKind<D, unknown>,
  { projectId, slug, title, definition, isNewOnly }:
    & Pick<DefinitionRow<D>, "slug" | "title" | "definition">
    & { readonly projectId: number; readonly isNewOnly: boolean },
): Promise<{ isNew: boolean; row: DefinitionRow<D> }> {
  const isNew = await makeRoom(tx, kind, { projectId, slug, isNewOnly });
  const [row] = await tx.query<{ updated_at: Date }>(
    `INSERT INTO ${kind.table} (project_id, slug, title, definition)
    VALUES ($1::int, $2::text, $3::text, $4::text::jsonb)
    ON CONFLICT (project_id, slug) DO UPDATE
    SET title = excluded.title, definition = excluded.definition, updated_at = now()
    RETURNING updated_at`,
    [projectId, slug, title, JSON.stringify(definition)],
  );
  return { isNew, row: { slug, title, definition, updated_at: row!.updated_at } };
}

/**
 * Makes the handler of a `PUT`: 201 with the definition if it is new, 200 if it replaced one. It throws
 * `invalid_parameter` that names `slug`, `conflict`, `already_exists` if the request is only for a new one, what
 * `readJson` throws, and what `check` throws.
 * @param check compares the definition with others in the transaction, in which none of them changes
 */
export function putterOf<D, T>(
  kind: DefinitionKind<D, T>,
  body: z.ZodType<D & { readonly title: string }>,
  check: (inside: Sql, projectId: number, definition: D) => Promise<void> = async () => {},
): DefinitionHandler {
  return async ({ sql }, { projectId }, { request, params: { slug = "" } }) => {
    if (!isSlug(slug)) throw invalidParameter("slug", SLUG_USAGE);
    const { title, ...others } = await readJson(request, body);
    const definition = others as unknown as D;
    const { isNew, row } = await inTurn(sql, projectId, async (tx) => {
      await check(tx, projectId, definition);
      const isNewOnly = isForNewOnly(request);
      return await save(tx, kind, { projectId, slug, title, definition, isNewOnly });
    });
    return json(kind.read(row), isNew ? 201 : 200);
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

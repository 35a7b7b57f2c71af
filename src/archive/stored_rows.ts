import type { Row, Sql } from "../db/sql.ts";
import { ARCHIVED_ROWS_AT_ONCE } from "./archive_limits.ts";
import type { ArchivedTable } from "./archived_tables.ts";

/** The number and the id of the project that rows belong to. */
export interface Owner {
  readonly projectId: number;
  readonly id: string;
}

export const NO_PROJECT = "*";

/** A project to archive, with its name. */
export interface NamedOwner extends Owner {
  readonly name: string;
}

/** Lists all projects, or the one with an id. */
export async function listOwners(sql: Sql, id: string | null = null): Promise<NamedOwner[]> {
  return await sql.query<NamedOwner & Row>(
    `SELECT project_id AS "projectId", public_id AS id, name FROM projects
    WHERE $1::text IS NULL OR public_id = $1::text ORDER BY project_id`,
    [id],
  );
}

interface RowText extends Row {
  readonly row: string;
  readonly place: string;
}

/** Returns the SQL of a row as JSON (alias t), without columns that mean nothing in another database. */
export function rowJson({ leaves = [] }: ArchivedTable): string {
  const left = ["project_id", ...leaves].map((name) => `'${name}'`).join(", ");
  return `(to_jsonb(t) - ARRAY[${left}])`;
}

function statementOf(table: ArchivedTable, isFirst: boolean): string {
  const { name, key, where = "true" } = table;
  const columns = key.map((column) => `t.${column}`).join(", ");
  const places = key.map((column) => `'${column}', t.${column}`).join(", ");
  const behind = isFirst || key.length === 0
    ? ""
    : `AND (${columns}) > (SELECT ${key.map((column) => `x.${column}`).join(", ")}
      FROM jsonb_populate_record(NULL::${name}, $3::text::jsonb) x)`;
  const own = table.name === "audit"
    ? "t.project_id IS NOT DISTINCT FROM $1::int"
    : table.of === "project"
    ? "t.project_id = $1::int"
    : "$1::int IS NULL";
  return `SELECT ${rowJson(table)}::text AS row, jsonb_build_object(${places})::text AS place
  FROM ${name} t WHERE ${own} AND ${where} ${behind}
  ${key.length === 0 ? "" : `ORDER BY ${columns}`} LIMIT $2::int`;
}

/** Whether a table has rows of this owner. */
export function hasRowsOf(table: ArchivedTable, owner: Owner | null): boolean {
  return table.name === "audit" || (table.of === "project") === (owner !== null);
}

/** Reads a page of rows after a place, the key of a row as JSON. */
async function page(
  sql: Sql,
  table: ArchivedTable,
  owner: Owner | null,
  place: string | null,
): Promise<RowText[]> {
  const count = table.oneByOne === true && table.paged === true ? 1 : ARCHIVED_ROWS_AT_ONCE;
  const params = [owner?.projectId ?? null, count, ...place === null ? [] : [place]];
  return await sql.transaction(async (tx) => {
    // Times are written in UTC, whatever zone PostgreSQL has.
    await tx.script("SET LOCAL timezone = 'UTC'");
    return await tx.query<RowText>(statementOf(table, place === null), params);
  });
}

/** Yields the rows of a table, each as JSON, page by page. */
export async function* storedRows(
  sql: Sql,
  table: ArchivedTable,
  owner: Owner | null,
): AsyncGenerator<string[]> {
  for (let place: string | null = null;;) {
    const rows: RowText[] = await page(sql, table, owner, place);
    if (rows.length === 0) return;
    yield rows.map(({ row }) => row);
    if (table.key.length === 0) return;
    place = rows.at(-1)!.place;
  }
}

import type { Sql } from "../src/db/sql.ts";

export interface TableSize {
  readonly table: string;
  readonly rows: number;
  readonly heapBytes: number;
  readonly indexBytes: number;
  readonly toastBytes: number;
}

interface SizeRow extends Record<string, unknown> {
  readonly name: string;
  readonly rows: number;
  readonly heap: number;
  readonly indexes: number;
  readonly toast: number;
}

// Of a materialised view as of a table. The table's own free space map counts as its heap; what its
// long values take stands apart, the index of those included.
const SIZES = `
SELECT c.relname::text AS name, greatest(c.reltuples, 0)::int8 AS rows,
  pg_table_size(c.oid) - coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) AS heap,
  pg_indexes_size(c.oid) AS indexes,
  coalesce(pg_total_relation_size(nullif(c.reltoastrelid, 0)), 0) AS toast
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema AND c.relkind IN ('r', 'm')
ORDER BY pg_total_relation_size(c.oid) DESC, c.relname`;

/** Bytes of all tables that are not empty of the product's schema, the largest first; rows as of the last ANALYZE. */
export async function readSizes(sql: Sql): Promise<TableSize[]> {
  const rows = await sql.query<SizeRow>(SIZES);
  const sizes = rows.map((row) => ({
    table: row.name,
    rows: row.rows,
    heapBytes: row.heap,
    indexBytes: row.indexes,
    toastBytes: row.toast,
  }));
  return sizes.filter(({ rows }) => rows > 0);
}

export function totalBytes({ heapBytes, indexBytes, toastBytes }: TableSize): number {
  return heapBytes + indexBytes + toastBytes;
}

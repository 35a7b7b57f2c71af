import type { Row, Sql } from "../db/sql.ts";
import { columnOf, type IntegerColumn } from "./column.ts";
import { loadColumns } from "./column_loader.ts";
import type { SeldomColumn } from "./stored_segment.ts";
import { WeighedCache } from "./weighed_cache.ts";

/** Columns that were read before, by the segment's id and the column's name. */
export type SeldomCache = WeighedCache<string, IntegerColumn>;

export function createSeldomCache(bytesMax: number): SeldomCache {
  return new WeighedCache(bytesMax, ({ byteLength }) => byteLength);
}

interface StoredColumn extends Row {
  readonly ids: string;
}

/**
 * A column of these segments that few reads ask for, of each the ids of its events. `sql` must see
 * the moment that they were loaded at.
 * @returns null where it is too large
 */
export async function loadSeldomColumn(
  sql: Sql,
  cache: SeldomCache,
  projectId: number,
  segments: readonly { readonly segmentId: number }[],
  name: SeldomColumn,
): Promise<IntegerColumn[] | null> {
  const fetch = async (segmentId: number): Promise<IntegerColumn | null> => {
    const [row] = await sql.query<StoredColumn>(
      `SELECT encode(${name}, 'base64') AS ids FROM history_segments
      WHERE project_id = $1::int AND segment_id = $2::int8`,
      [projectId, segmentId],
    );
    return row === undefined ? null : columnOf(row.ids) as IntegerColumn;
  };
  return await loadColumns(cache, segments, name, fetch, ({ byteLength }) => byteLength);
}

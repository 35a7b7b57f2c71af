import type { Row } from "../../db/sql.ts";
import { afterCursor, cutPage, encodeRowCursor, type RowCursor } from "../../query/row_cursor.ts";
import { keyedRow } from "../../db/keyed_rows.ts";
import { SqlParams } from "../../query/sql_params.ts";
import type { Read } from "../../scans/read.ts";
import { rowCandidates } from "./row_candidates.ts";

/**
 * Returns at most `limit` paths after a cursor, in the list sorted by two counts, both descending, then by
 * text.
 * @param counts by id, both of one length
 * @param isListed whether the list has the path of an id
 */
export async function pathsAfter(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  [first, second]: readonly [Int32Array, Int32Array],
  isListed: (id: number) => boolean,
  cursor: RowCursor | null,
  limit: number,
) {
  // One row more than the page shows whether there is a next page.
  const ids = rowCandidates([first, second], isListed, cursor, limit + 1);
  const params = new SqlParams();
  const counted = [
    params.ints(ids),
    params.ints(ids.map((id) => first[id]!)),
    params.ints(ids.map((id) => second[id]!)),
  ];
  const found = await sql.query<Row & { readonly id: number; readonly path: string }>(
    `SELECT c.id, t.term AS path
    FROM unnest(${counted.join(", ")}) AS c (id, first, second)
    CROSS JOIN ${keyedRow("terms v", "v.term_id = c.id", params.int(scope.projectId))} AS t
    WHERE ${afterCursor(params, cursor, ["c.first", "c.second"], "t.term")}
    ORDER BY c.first DESC, c.second DESC, t.term COLLATE "C"
    LIMIT ${params.int(limit + 1)}`,
    params.values,
  );
  return cutPage(
    found,
    limit,
    ({ id, path }) => encodeRowCursor({ counts: [first[id]!, second[id]!], value: path }),
  );
}

import { cutPage, encodeRowCursor, type RowCursor, type RowPage } from "../../query/row_cursor.ts";
import { compareBytes } from "../../scans/value_texts.ts";

function inOrder(a: RowCursor, b: RowCursor): number {
  for (const [i, count] of a.counts.entries()) {
    if (count !== b.counts[i]) return b.counts[i]! - count;
  }
  return compareBytes(a.value, b.value);
}

/**
 * Sorts rows, and returns those after the cursor, at most `limit`.
 * @param keyOf returns a row's sort key: counts, each descending, then its value
 */
export function pageOfRows<R>(
  rows: readonly R[],
  keyOf: (row: R) => RowCursor,
  cursor: RowCursor | null,
  limit: number,
): RowPage<R> {
  const sorted = rows.map((row) => ({ row, key: keyOf(row) }))
    .sort((a, b) => inOrder(a.key, b.key));
  const after = cursor === null ? sorted : sorted.filter(({ key }) => inOrder(cursor, key) < 0);
  const page = cutPage(after, limit, ({ key }) => encodeRowCursor(key));
  return { ...page, rows: page.rows.map(({ row }) => row) };
}

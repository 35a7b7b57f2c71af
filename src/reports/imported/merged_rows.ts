/** Pages of a list that holds rows of own events and of imported days. */
import type { RowCursor } from "../../query/row_cursor.ts";
import { compareBytes } from "../../scans/value_texts.ts";

/** A row's sort key: counts, each descending, then its value. */
interface SortedRow {
  readonly value: string | null;
  readonly counts: readonly number[];
}

function inOrder(a: SortedRow, b: SortedRow): number {
  for (const [i, count] of a.counts.entries()) {
    if (count !== b.counts[i]) return b.counts[i]! - count;
  }
  return compareBytes(a.value, b.value);
}

/** Returns the rows after the cursor, at most `limit`, and the cursor of the next page; null: there is none. */
export function pageOfRows<R extends SortedRow>(
  rows: readonly R[],
  cursor: RowCursor | null,
  limit: number,
): { readonly rows: R[]; readonly next: RowCursor | null } {
  const sorted = rows.toSorted(inOrder);
  const after = cursor === null ? sorted : sorted.filter((row) => inOrder(cursor, row) < 0);
  const listed = after.slice(0, limit);
  const last = after.length > limit ? listed.at(-1)! : null;
  return { rows: listed, next: last === null ? null : { counts: last.counts, value: last.value } };
}

import { LISTED_ROWS_AT_ONCE } from "../../limits.ts";
import type { EventRow } from "../../store/event_row.ts";

/** Compares events for a list that is newest first, ties by id, the greatest first. */
export function newestFirst(a: EventRow, b: EventRow): number {
  if (a.occurred_at !== b.occurred_at) return a.occurred_at < b.occurred_at ? 1 : -1;
  return a.event_id < b.event_id ? 1 : -1;
}

/**
 * Returns the first `rows` events of a list, of those that were found for it: they are read in parts, so
 * that few more than are listed are in memory.
 * @param read reads those found from one place to another, and leaves out what is not of the list
 */
export async function firstInOrder<T>(
  found: number,
  rows: number,
  compare: (a: T, b: T) => number,
  read: (from: number, to: number) => Promise<readonly T[]>,
): Promise<T[]> {
  let listed: T[] = [];
  const rowsAtOnce = Math.max(rows, LISTED_ROWS_AT_ONCE);
  for (let from = 0; from < found; from += rowsAtOnce) {
    const some = await read(from, Math.min(found, from + rowsAtOnce));
    listed = [...listed, ...some].sort(compare).slice(0, rows);
  }
  return listed;
}

import { LISTED_ROWS_AT_ONCE } from "../../limits.ts";
import type { EventRow } from "../../store/event_row.ts";

/** Compares events for a list that is newest first, ties by id, the greatest first. */
export function newestFirst(a: EventRow, b: EventRow): number {
  if (a.occurred_at !== b.occurred_at) return a.occurred_at < b.occurred_at ? 1 : -1;
  return a.event_id < b.event_id ? 1 : -1;
}

/**
 * Returns the first `rows` of the events found for a list. They are read in batches, so that few more than
 * `rows` are in memory.
 * @param found how many were found
 * @param read reads the found events from one index to before another, without those not in the list
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

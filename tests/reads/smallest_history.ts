import type { EventRow } from "../../src/store/event_row.ts";

/**
 * The fewest of these events, taken away in ever smaller parts, of which `fails` still holds.
 * Differences are found in histories of eighty events, and understood in those of three.
 */
export async function smallestHistory(
  events: readonly EventRow[],
  fails: (events: readonly EventRow[]) => Promise<boolean>,
): Promise<readonly EventRow[]> {
  let left = events;
  let size = Math.ceil(left.length / 2);
  while (size >= 1) {
    let removed = false;
    for (let start = 0; start < left.length;) {
      const fewer = [...left.slice(0, start), ...left.slice(start + size)];
      if (await fails(fewer)) {
        left = fewer;
        removed = true;
      } else start += size;
    }
    if (size > 1) size = Math.ceil(size / 2);
    else if (!removed) break;
  }
  return left;
}

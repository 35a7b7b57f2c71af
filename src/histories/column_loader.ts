import { PROPERTY_READ_BYTES_MAX } from "../limits.ts";
import type { WeighedCache } from "./weighed_cache.ts";

/**
 * A column of each of these segments, as it was kept by segment and name, or is fetched now.
 * @param fetch null: there is no such segment
 * @param bytesOf null: the segment does not hold all of it
 * @returns null where segments do not hold all of it, or it is too large
 * @throws Error where a segment is gone
 */
export async function loadColumns<C extends object>(
  cache: WeighedCache<string, C>,
  segments: readonly { readonly segmentId: number }[],
  name: string,
  fetch: (segmentId: number) => Promise<C | null>,
  bytesOf: (column: C) => number | null,
): Promise<C[] | null> {
  const columns: C[] = [];
  let sum = 0;
  for (const { segmentId } of segments) {
    const key = `${segmentId} ${name}`;
    let column = cache.get(key);
    if (column === undefined) {
      const fetched = await fetch(segmentId);
      if (fetched === null) throw new Error(`Segment ${segmentId} of a history is gone`);
      cache.set(key, column = fetched);
    }
    const bytes = bytesOf(column);
    if (bytes === null || (sum += bytes) > PROPERTY_READ_BYTES_MAX) return null;
    columns.push(column);
  }
  return columns;
}

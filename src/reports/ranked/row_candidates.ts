import type { RowCursor } from "../../query/row_cursor.ts";
import { select } from "../../scans/medians.ts";

/**
 * Returns the ids that may be among the first `rows` after the cursor, in a list sorted by two counts,
 * both descending, then by text. Texts are not known here, so ids with equal counts are all candidates.
 * @param counts by id, both of one length; id 0 is in no list
 * @param isListed whether the list has an id
 */
export function rowCandidates(
  [first, second]: readonly [Int32Array, Int32Array],
  isListed: (id: number) => boolean,
  cursor: RowCursor | null,
  rows: number,
): number[] {
  const secondMax = second.reduce((max, count) => Math.max(max, count), 0);
  // Orders ids by both counts. A read has too few events for a product that is not a safe integer.
  const keyOf = (id: number) => first[id]! * (secondMax + 1) + second[id]!;
  const [firstBefore, secondBefore] = cursor?.counts ?? [Infinity, 0];
  const tied: number[] = [];
  const after: number[] = [];
  for (let id = 1; id < first.length; id++) {
    if (!isListed(id)) continue;
    const isEqual = first[id] === firstBefore;
    if (first[id]! < firstBefore! || isEqual && second[id]! < secondBefore!) after.push(id);
    else if (isEqual && second[id] === secondBefore) tied.push(id);
  }
  const keys = Float64Array.from(after, keyOf);
  if (keys.length <= rows) return [...tied, ...after];
  const edge = keys.length - rows;
  select(keys, 0, keys.length, edge);
  const least = keys[edge]!;
  return [...tied, ...after.filter((id) => keyOf(id) >= least)];
}

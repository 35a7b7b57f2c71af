import { yielding } from "../store/yielding.ts";

/** Items between two looks at the clock. */
const SLICE_ITEMS = 250;

/** Goes through items in order, so that others have their turn about every 10 ms. */
export async function inSlices<T>(
  items: Iterable<T>,
  visit: (item: T, place: number) => void,
): Promise<void> {
  const pause = yielding();
  let place = 0;
  for (const item of items) {
    visit(item, place++);
    if (place % SLICE_ITEMS === 0) await pause();
  }
}

/** What becomes of each item, in order, made as above. */
export async function mapInSlices<T, R>(
  items: readonly T[],
  made: (item: T, place: number) => R,
): Promise<R[]> {
  const results: R[] = [];
  await inSlices(items, (item, place) => results.push(made(item, place)));
  return results;
}

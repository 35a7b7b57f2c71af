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

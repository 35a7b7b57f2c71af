import { yielding } from "../store/yielding.ts";

/** Items between two checks of the clock. */
const SLICE_ITEMS = 250;

/** Visits items in order, one after the other, and yields to the event loop about every 10 ms. */
export async function inSlices<T>(
  items: Iterable<T>,
  visit: (item: T, place: number) => unknown,
): Promise<void> {
  const yieldIfDue = yielding();
  let place = 0;
  for (const item of items) {
    const visited = visit(item, place++);
    if (visited instanceof Promise) await visited;
    if (place % SLICE_ITEMS === 0) await yieldIfDue();
  }
}

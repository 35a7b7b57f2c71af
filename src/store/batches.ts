/** Groups items into batches of at most `sizeMax`; a single larger item is a batch of its own. */
export function* batchesOf<T>(
  items: Iterable<T>,
  sizeOf: (item: T) => number,
  sizeMax: number,
): Generator<T[]> {
  let batch: T[] = [];
  let left = sizeMax;
  for (const item of items) {
    const size = sizeOf(item);
    if (size > left && batch.length > 0) {
      yield batch;
      [batch, left] = [[], sizeMax];
    }
    batch.push(item);
    left -= size;
  }
  if (batch.length > 0) yield batch;
}

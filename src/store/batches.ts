/** Groups items into batches of a size of `sizeMax` together, of at least one item each. */
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

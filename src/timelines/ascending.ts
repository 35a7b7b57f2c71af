/**
 * Returns the place of the first of ascending numbers that is at least `value`; their count: none is.
 * @param first the place of the first that is looked at
 */
export function placeFrom(ascending: Int32Array | Uint32Array, value: number, first = 0): number {
  let [low, high] = [first, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle]! < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

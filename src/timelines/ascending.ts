/**
 * Returns the place of the first of ascending numbers that is at least `value`; their count if none is.
 * @param first where to begin
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

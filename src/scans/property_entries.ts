/** Returns the first entry from `low` on whose place is not before `start`; `places` ascend. */
export function entryFrom(places: Uint32Array, start: number, low: number): number {
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

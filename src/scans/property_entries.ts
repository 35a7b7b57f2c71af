/** Of ascending places of events that have a property, the first one from `low` on that is not before `start`. */
export function entryFrom(places: Uint32Array, start: number, low: number): number {
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

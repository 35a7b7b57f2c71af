import { select } from "./medians.ts";

/**
 * Returns the places of the `most` largest counts, and of all counts that tie with the least of these; in
 * the order of the places, without counts of 0.
 */
export function mostFrequent(counts: Int32Array | Float64Array, most: number): number[] {
  const places: number[] = [];
  for (let place = 0; place < counts.length; place++) if (counts[place]! > 0) places.push(place);
  if (places.length <= most) return places;
  const ranked = Float64Array.from(places, (place) => counts[place]!);
  const edge = ranked.length - most;
  select(ranked, 0, ranked.length, edge);
  return places.filter((place) => counts[place]! >= ranked[edge]!);
}

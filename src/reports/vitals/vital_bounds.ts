/** The event that `sdk-vitals.js` sends once per page view. Its name is technical, so it makes nobody a visitor. */
export const VITALS_EVENT = "$web_vitals";

/**
 * The measurements of a page view, by their property: milliseconds, except `cls`, which is a score. Up to
 * `good` a value is good, beyond `poor` it is poor. The bounds are those of
 * https://web.dev/articles/vitals, https://web.dev/articles/fcp and https://web.dev/articles/ttfb,
 * which look at the 75th percentile too.
 */
export const VITAL_BOUNDS = {
  lcp: { good: 2_500, poor: 4_000 },
  inp: { good: 200, poor: 500 },
  cls: { good: 0.1, poor: 0.25 },
  fcp: { good: 1_800, poor: 3_000 },
  ttfb: { good: 800, poor: 1_800 },
} as const;

export type VitalName = keyof typeof VITAL_BOUNDS;
export const VITAL_NAMES = Object.keys(VITAL_BOUNDS) as readonly VitalName[];
/** The percentile that is shown, as a fraction of the page views. */
export const VITAL_SHARE = 0.75;

/** Makes a record with one member for each vital. */
export function ofEachVital<T>(make: (name: VitalName, i: number) => T): Record<VitalName, T> {
  const members = VITAL_NAMES.map((name, i) => [name, make(name, i)]);
  return Object.fromEntries(members) as Record<VitalName, T>;
}

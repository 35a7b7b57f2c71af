/** The name of the event that `sdk-vitals.js` sends once per page view: technical, so that it counts for nobody. */
export const VITALS_EVENT = "$web_vitals";

/**
 * What is measured of a page view, by the property that holds it, and from where on it is no longer good
 * and is poor: the bounds of https://web.dev/articles/vitals, https://web.dev/articles/fcp and
 * https://web.dev/articles/ttfb, which look at the 75th percentile too. Up to `good` a value is good,
 * beyond `poor` it is poor; milliseconds, and of shifts a score.
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
/** The share of page views that were as good as this, or better. */
export const VITAL_SHARE = 0.75;

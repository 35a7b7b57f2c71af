import type { PageKind } from "../shop.ts";
import type { Device } from "./devices.ts";
import type { Random } from "./random.ts";

/** The share of page views that are measured: not every browser can. */
const MEASURED = 0.4;
/** How much slower a page is than the fastest kind, because of pictures and scripts. */
const WEIGHTS: Partial<Record<PageKind, number>> = {
  home: 1.3,
  category: 1.5,
  product: 1.15,
  article: 1.7,
};

/** Returns a random value around `middle`, skewed: a few are much larger, none is smaller than half. */
function skewed(random: Random, middle: number): number {
  return middle * (0.55 + random.exponential(0.5) + 0.1 * random.fraction());
}

/** Returns what a browser measures of a page view; null: it measures nothing. */
export function vitalsOn(
  kind: PageKind,
  device: Device,
  random: Random,
): Record<string, number | string> | null {
  if (!random.chance(MEASURED)) return null;
  const slow = (WEIGHTS[kind] ?? 1) * (device.class === "mobile" ? 1.8 : 1);
  const ttfb = Math.round(skewed(random, 260 * (device.class === "mobile" ? 1.5 : 1)));
  const fcp = ttfb + Math.round(skewed(random, 480 * slow));
  const lcp = fcp + Math.round(skewed(random, 520 * slow));
  const shifts = kind === "category" || kind === "article" ? 0.09 : 0.02;
  return {
    ttfb,
    fcp,
    lcp,
    cls: random.chance(0.35) ? 0 : Math.round(1e4 * random.exponential(shifts)) / 1e4,
    // Without an interaction there is no INP.
    ...random.chance(0.7) ? { inp: 8 * Math.round(skewed(random, 11 * slow)) } : {},
    navigation: random.chance(0.9) ? "navigate" : "back-forward",
  };
}

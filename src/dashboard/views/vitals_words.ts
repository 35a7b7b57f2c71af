import type * as vitals from "../../reports/vitals/vitals.ts";
import type { VitalName } from "../../reports/vitals/vital_bounds.ts";
import type { Interval } from "../location_query.ts";
import { decimal, integer } from "../number_format.ts";
import type { ReplyOf } from "../replies.ts";

export type { VitalName };
export type VitalsRow = vitals.VitalsRow;
export type Vital = vitals.VitalShown;
export type Rating = NonNullable<Vital["rating"]>;

/** `GET /v1/vitals`. */
export interface VitalsReply extends ReplyOf<typeof vitals.VITALS_REPLY> {
  readonly query: { readonly interval: Interval };
  readonly asOf: string;
}

interface Words {
  readonly name: VitalName;
  readonly short: string;
  readonly title: string;
  readonly definition: string;
}

const QUARTER = "Three of four page views were this fast or faster.";

/** In display order: first the three that search engines look at. */
export const VITALS: readonly Words[] = [
  {
    name: "lcp",
    short: "LCP",
    title: "Largest contentful paint",
    definition: `How long until the largest image or text of the page was painted. ${QUARTER}`,
  },
  {
    name: "inp",
    short: "INP",
    title: "Interaction to next paint",
    definition:
      `How long the slowest click, tap or key took until the page showed an answer. Pages that nobody touches have none. ${QUARTER}`,
  },
  {
    name: "cls",
    short: "CLS",
    title: "Layout shift",
    definition:
      "How far content jumped about by itself: 0 not at all, 1 by a whole window. Three of four page views had no more than this.",
  },
  {
    name: "fcp",
    short: "FCP",
    title: "First contentful paint",
    definition: `How long until anything of the page was painted. ${QUARTER}`,
  },
  {
    name: "ttfb",
    short: "TTFB",
    title: "Time to first byte",
    definition: `How long until the server's answer began to arrive. ${QUARTER}`,
  },
];

export const RATINGS: Readonly<Record<Rating, string>> = {
  good: "Good",
  "needs-improvement": "Needs improvement",
  poor: "Poor",
};

/** A value as people read it: 180 ms, 2.43 s, or a score without a unit. */
export function vitalText(name: VitalName, value: number | null): string {
  if (value === null) return decimal(null);
  if (name === "cls") return decimal(value, 3);
  return Math.abs(value) < 1_000 ? `${integer(value)} ms` : `${decimal(value / 1_000, 2)} s`;
}

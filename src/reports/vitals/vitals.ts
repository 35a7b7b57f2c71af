import { z } from "zod";
import { BUCKET_SHOWN, bucketsOf, shownBucket } from "../../query/buckets.ts";
import { oneOf } from "../../query/parameters.ts";
import type { Read } from "../../scans/read.ts";
import { percentileOf } from "../visitors/property_figures.ts";
import { type Answer, rate, RateShown, type Report } from "../answer/report.ts";
import { ofEachVital, VITAL_BOUNDS, VITAL_SHARE, type VitalName } from "./vital_bounds.ts";
import { type MeasuredVitals, scanVitals } from "./vitals_scan.ts";

const BYS = ["path", "device", "country", "browser", "os"] as const;
const RATINGS = ["good", "needs-improvement", "poor"] as const;

const Vital = z.object({
  p75: z.number().nullable().describe("Null: no page view has sent it"),
  rating: z.enum(RATINGS).nullable().describe("Of p75"),
  good: RateShown,
  needsImprovement: RateShown,
  poor: RateShown,
}).meta({ id: "Vital", description: "The denominator of the rates is the number of samples" });

export type VitalShown = z.output<typeof Vital>;

const PageViews = z.int().describe("Page views that sent any measurement");
const Vitals = z.object({ pageViews: PageViews, ...ofEachVital(() => Vital) }).meta({
  id: "Vitals",
});
const VitalRow = z.object({
  value: z.string().nullable().describe("$other: all beyond the 25 with most page views"),
  ...Vitals.shape,
}).meta({ id: "VitalRow" });
const VitalBucket = z.object({
  ...BUCKET_SHOWN,
  pageViews: PageViews,
  ...ofEachVital(() => z.number().nullable()),
}).meta({ id: "VitalBucket", description: "Each vital's p75 in the bucket" });
const Bounds = z.object({ good: z.number(), poor: z.number() });

export type VitalsRow = z.output<typeof VitalRow>;

function shownVital(name: VitalName, { counted }: MeasuredVitals): VitalShown {
  const { numbers, counts } = counted[name];
  const { good, poor } = VITAL_BOUNDS[name];
  const tally = { samples: 0, good: 0, poor: 0 };
  for (const [i, count] of counts.entries()) {
    tally.samples += count;
    if (numbers[i]! <= good) tally.good += count;
    if (numbers[i]! > poor) tally.poor += count;
  }
  const p75 = percentileOf(counted[name], VITAL_SHARE);
  return {
    p75,
    rating: p75 === null ? null : RATINGS[p75 <= good ? 0 : p75 <= poor ? 1 : 2],
    good: rate(tally.good, tally.samples),
    needsImprovement: rate(tally.samples - tally.good - tally.poor, tally.samples),
    poor: rate(tally.poor, tally.samples),
  };
}

function shownVitals(measured: MeasuredVitals): z.output<typeof Vitals> {
  return { pageViews: measured.pageViews, ...ofEachVital((name) => shownVital(name, measured)) };
}

async function answer(read: Read, by: typeof BYS[number]): Promise<Answer> {
  const { range, interval, asOfMs } = read;
  const buckets = bucketsOf(range, interval);
  const found = await scanVitals(read, buckets, by);
  return {
    query: { by },
    result: {
      bounds: VITAL_BOUNDS,
      totals: shownVitals(found.total),
      rows: found.rows.map(({ value, ...measured }) => ({ value, ...shownVitals(measured) })),
      series: buckets.map((bucket, i) => {
        const { pageViews, counted } = found.buckets[i]!;
        const p75 = ofEachVital((name) => percentileOf(counted[name], VITAL_SHARE));
        return { ...shownBucket(bucket, range, asOfMs), pageViews, ...p75 };
      }),
    },
  };
}

export const VITALS_REPLY = {
  bounds: z.object(ofEachVital(() => Bounds)).describe(
    "Up to `good` a value is good, beyond `poor` it is poor",
  ),
  totals: Vitals,
  rows: z.array(VitalRow).describe("Most page views first, $other last"),
  series: z.array(VitalBucket),
};

/** `GET /v1/vitals`: how fast pages were for their visitors. */
export const VITALS: Report = {
  path: "/v1/vitals",
  summary: "Web vitals: how fast pages load, answer and stand still, by page, device or country",
  parameters: { by: `What rows tell apart: ${BYS.join(", ")}. Default: path` },
  semantics:
    "Of the events `$web_vitals` in the range that the filters let through, sent by sdk-vitals.js once per page load as it first goes out of sight; path is that of the page as it was loaded. " +
    "lcp: largest contentful paint, inp: interaction to next paint, fcp: first contentful paint, ttfb: time to first byte, in milliseconds; cls: cumulative layout shift. Samples are the events whose property is a JSON number; a page without interaction has no inp, and not every browser measures all. " +
    "p75: the 75th percentile, interpolated. Bounds of web.dev: good up to 2500 / 200 / 0.1 / 1800 / 800 (lcp, inp, cls, fcp, ttfb), poor beyond 4000 / 500 / 0.25 / 3000 / 1800, in between needs improvement. " +
    "Rows: the 25 values with most page views, all others as $other. The events are of no session: of the filters on a session's fields is_not, not_contains and not_exists let all of them through, others none.",
  reply: VITALS_REPLY,
  ask: (query) => {
    const by = oneOf(query, "by", BYS, "path");
    return { answer: (read) => answer(read, by) };
  },
};

import { readablePath } from "../readable_path.ts";
import { fieldLabel, valueLabel } from "./filter_fields.ts";
import { dateIn, type Interval } from "./location_query.ts";
import type { EventMatch } from "./match_editor.tsx";
import { bucketLabel, integer, percent } from "./number_format.ts";

/** A number of a report for which the API lists visits or people: the parameter `of`. */
export type NumberOf =
  | FunnelNumber
  | RetentionNumber
  | JourneyNumber
  | AcquisitionNumber
  | FigureNumber
  | HeatmapNumber
  | LiveNumber;

interface FunnelNumber {
  readonly read: "funnels";
  readonly steps: readonly (EventMatch | string)[];
  readonly by?: string;
  readonly order?: string;
  readonly place:
    & { readonly value?: string | null }
    & (
      | { readonly step: number }
      | { readonly lost: number }
      | { readonly ended: "excluded" | "open" }
    );
}

interface RetentionNumber {
  readonly read: "retention";
  readonly start?: string | null;
  readonly return?: string | null;
  readonly cohort: "first" | "recurring";
  readonly criterion: "on" | "on_or_after";
  readonly periods: number;
  readonly interval: Exclude<Interval, "hour">;
  readonly place: { readonly cohort: string; readonly period?: number };
}

/** A step of a journey: a page or an event, all others, or the end. */
export interface WayPlace {
  readonly step: number;
  readonly kind: "path" | "name" | "other" | "end";
  readonly value?: string | null;
}

interface JourneyNumber {
  readonly read: "journeys";
  readonly place: { readonly way: readonly WayPlace[] };
}

interface AcquisitionNumber {
  readonly read: "acquisition";
  readonly by: string;
  readonly goal?: string;
  readonly place: {
    readonly value: string | null;
    readonly count: "visitors" | "newVisitors" | "sessions" | "conversions";
  };
}

interface FigureNumber {
  readonly read: "kpis";
  readonly place: { readonly count: "newVisitors" | "bounces" };
}

export interface HeatmapNumber {
  readonly read: "heatmaps";
  readonly path?: string;
  readonly pattern?: string;
  readonly device: string;
  readonly kind: string;
  readonly place:
    | { readonly point: { readonly x: number; readonly y: number; readonly fixed: boolean } }
    | { readonly element: string }
    | { readonly depthPx: number }
    | { readonly sample: "visitors" };
}

interface LiveNumber {
  readonly read: "live";
  readonly place: { readonly minutes: 5 | 30; readonly path?: string };
}

function stepText({ steps, order }: FunnelNumber, number: number): string {
  const step = steps[number - 1];
  const name = typeof step === "string" ? step : step?.label ?? step?.name ?? "Any event";
  return order === "unordered" && steps.length > 1
    ? `${number} of ${steps.length} steps`
    : `step ${number}, ${name}`;
}

function funnelText(number: FunnelNumber): string {
  const { place, by } = number;
  const group = place.value === undefined || by === undefined
    ? ""
    : `, ${fieldLabel(by).toLowerCase()} ${valueLabel(by, place.value)}`;
  if ("step" in place) return `Reached ${stepText(number, place.step)} of a funnel${group}`;
  if ("lost" in place) return `Lost before ${stepText(number, place.lost)} of a funnel${group}`;
  return place.ended === "excluded"
    ? `Excluded from a funnel${group}`
    : `Still within the time limit of a funnel${group}`;
}

function cohortText(
  { interval, place: { cohort, period } }: RetentionNumber,
  timezone: string | null,
) {
  const date = dateIn(timezone, Date.parse(cohort));
  const label = bucketLabel(interval === "month" ? date.slice(0, 7) : date, interval, "full");
  const began = `Began: ${label}`;
  return period === undefined ? began : `${began}, there in ${interval} ${period}`;
}

function wayText({ step, kind, value = null }: WayPlace): string {
  const words = { other: "others", end: "an end", path: "a page without a path", name: "" };
  const shown = kind === "path" && value !== null ? readablePath(value) : value ?? words[kind];
  return `${step}. ${kind === "other" || kind === "end" ? words[kind] : shown}`;
}

function rowText({ by, place: { value, count } }: AcquisitionNumber): string {
  const words = {
    visitors: "Visitors",
    newVisitors: "New visitors",
    sessions: "Visits",
    conversions: "Who converted",
  };
  return `${words[count]} with ${fieldLabel(by).toLowerCase()} ${valueLabel(by, value)}`;
}

const KIND_WORDS: Readonly<Record<string, string>> = { rage: " in rage", dead: " in vain" };

function clickText({ path, pattern, device, kind, place }: HeatmapNumber): string {
  const page = `${readablePath(path ?? pattern ?? "")}, ${device}`;
  if ("sample" in place) return `Clicked on ${page}`;
  if ("depthPx" in place) return `Saw ${integer(place.depthPx)} px down of ${page}`;
  const how = `Clicked${KIND_WORDS[kind] ?? ""}`;
  if ("element" in place) return `${how} on ${place.element} of ${page}`;
  const { x, y, fixed } = place.point;
  const where = `${percent(x, 0)} across, ${integer(y)} px down${fixed ? ", fixed on screen" : ""}`;
  return `${how} at ${where}, of ${page}`;
}

function liveText({ place: { minutes, path } }: LiveNumber): string {
  const page = path === undefined ? "" : `, on ${readablePath(path)}`;
  return `There in the last ${minutes} minutes${page}`;
}

/** Whom a number counts, in words; a general phrase if the text is not such a number. */
export function numberText(text: string, timezone: string | null): string {
  try {
    const number: NumberOf = JSON.parse(text);
    switch (number.read) {
      case "funnels":
        return funnelText(number);
      case "retention":
        return cohortText(number, timezone);
      case "journeys":
        return `On the way ${number.place.way.map(wayText).join(" → ")}`;
      case "acquisition":
        return rowText(number);
      case "kpis":
        return number.place.count === "bounces" ? "Bounced" : "New visitors";
      case "heatmaps":
        return clickText(number);
      case "live":
        return liveText(number);
    }
  } catch { /* not JSON of a number */ }
  return "Whom a number counts";
}

import { fieldLabel, valueLabel } from "./filter_fields.ts";
import { dateIn, type Interval } from "./location_query.ts";
import type { EventMatch } from "./match_editor.tsx";
import { bucketLabel } from "./number_format.ts";

/** Where a number stands that the lists of visits and people can be asked about, as `of` has it. */
export type NumberOf =
  | FunnelNumber
  | RetentionNumber
  | JourneyNumber
  | AcquisitionNumber;

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
  readonly interval: Exclude<Interval, "hour">;
  readonly place: { readonly cohort: string; readonly period?: number };
}

/** A step of a way that is told by itself, as others, or as its end. */
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
  return `${step}. ${kind === "other" || kind === "end" ? words[kind] : value ?? words[kind]}`;
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

/** Whom a number counts, in words; of what is no such number, that it is one. */
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
    }
  } catch { /* told below */ }
  return "Whom a number counts";
}

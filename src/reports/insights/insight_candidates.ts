import type { EventMatch } from "../../query/filters.ts";
import { type Calendar, segmentsAmid } from "./insight_calendar.ts";

/** The dimensions of changes, each a field of filters. Equal changes are shown in this order. */
export const DIMENSIONS = [
  "channel",
  "source",
  "campaign",
  "entryPath",
  "country",
  "device",
  "browser",
] as const;

export type Dimension = typeof DIMENSIONS[number];

/** The figures that are counted. */
export const FIGURES = ["visitors", "pageviews", "events", "sessions", "bounces"] as const;

/** The figures of a period or a day. */
export type Counts = Record<typeof FIGURES[number], number>;

/** Returns the figure of a metric; conversions are the visitors with matching events. */
export function figureOf(metric: keyof Counts | "conversions" | "bounceRate"): keyof Counts {
  return metric === "conversions" || metric === "bounceRate" ? "visitors" : metric;
}

/** The figures of the total, or of one value of a dimension: a change of them may become a finding. */
export interface Candidate {
  /** Null: the total. */
  readonly dimension: Dimension | null;
  /** Null with a dimension: the missing value. */
  readonly value: string | null;
  readonly current: Counts;
  readonly previous: Counts;
  /** The sum over the compared days of the range: a visitor counts on each of them. */
  readonly ofDays: Counts;
  /** Each of these days, in order; empty if there are more than a week of them. */
  readonly days: readonly Counts[];
  /** Each of the days of the weeks before. */
  readonly daysBefore: readonly Counts[];
}

/** Which events make candidates, and the dimensions whose values are candidates. */
export interface CandidateQuestion {
  /** Null: all selected events. */
  readonly match: EventMatch | null;
  /** In the order of `DIMENSIONS`. */
  readonly dimensions: readonly Dimension[];
}

/** Segments of the same period and day: their counts can be added. */
interface Group {
  readonly period: "current" | "previous" | null;
  /** The index of the day, as in a calendar's segments; the days of a range of more than a week share one. */
  readonly slot: number | null;
}

/** By segment of time: the numbers of its group, period (1 current, 2 previous) and day, from 1; 0: none. */
export interface PlacesOfSegments {
  readonly groupOf: readonly number[];
  readonly periodOf: readonly number[];
  readonly dayOf: readonly number[];
}

export interface Places {
  readonly groups: readonly Group[];
  /** By the set of ranges whose people an actor is among, see `segmentsAmid`; one for all if everybody counts. */
  readonly amid: readonly PlacesOfSegments[];
}

/** The segments of a calendar by such a set of ranges: see `Places`. */
export type SegmentsAmid = readonly Calendar["segments"][];

/**
 * Returns the segments by the set of ranges whose people an actor is among.
 * @param isOfRanges whether each range has its own people
 */
export function segmentsByPeople(calendar: Calendar, isOfRanges: boolean): SegmentsAmid {
  if (!isOfRanges) return [calendar.segments];
  return Array.from({ length: 1 << calendar.ranges.length }, (_, i) => segmentsAmid(calendar, i));
}

/** Returns the period of each segment: 1 current, 2 previous, 0 none. */
export function periodsOf(segments: Calendar["segments"]): number[] {
  return segments.map(({ period }) => period === "current" ? 1 : period === null ? 0 : 2);
}

/** Groups the segments: returns the places at which their events are counted. */
export function placesOf({ weekdays, rangeWeekdays }: Calendar, byPeople: SegmentsAmid): Places {
  const last = weekdays.length + Math.max(0, rangeWeekdays.length - 1);
  const groups = new Map<string, { group: Group; number: number }>();
  const groupOf = ({ period, day }: Calendar["segments"][number]) => {
    if (period === null && day === null) return 0;
    const slot = day === null ? null : Math.min(day, last);
    const known = groups.get(`${period} ${slot}`);
    if (known !== undefined) return known.number;
    const number = groups.size + 1;
    groups.set(`${period} ${slot}`, { group: { period, slot }, number });
    return number;
  };
  const amid = byPeople.map((segments): PlacesOfSegments => ({
    groupOf: segments.map(groupOf),
    periodOf: periodsOf(segments),
    dayOf: segments.map(({ day }) => day === null ? 0 : day + 1),
  }));
  return { groups: [...groups.values()].map(({ group }) => group), amid };
}

const nothing = (): Counts => ({ visitors: 0, pageviews: 0, events: 0, sessions: 0, bounces: 0 });

/** A candidate while it is counted. */
export class CandidateTally implements Candidate {
  readonly current = nothing();
  readonly previous = nothing();
  readonly ofDays = nothing();
  readonly days: readonly Counts[];
  readonly daysBefore: readonly Counts[];

  constructor(
    { weekdays, rangeWeekdays }: Calendar,
    readonly dimension: Dimension | null,
    readonly value: string | null,
  ) {
    this.daysBefore = weekdays.map(nothing);
    this.days = rangeWeekdays.map(nothing);
  }

  /** Adds counts to the day and to the period of a group, if it has one. */
  add({ period, slot }: Group, inDay: Partial<Counts>, inPeriod: Partial<Counts>): void {
    if (slot !== null) this.#addToDay(slot, inDay);
    if (period !== null) addTo(period === "current" ? this.current : this.previous, inPeriod);
  }

  #addToDay(slot: number, counts: Partial<Counts>): void {
    addTo(this.daysBefore[slot] ?? this.ofDays, counts);
    const day = this.days[slot - this.daysBefore.length];
    if (day !== undefined) addTo(day, counts);
  }
}

function addTo(counts: Counts, added: Partial<Counts>): void {
  for (const [figure, count] of Object.entries(added)) counts[figure as keyof Counts] += count;
}

import type { EventMatch } from "../../query/filters.ts";
import type { Calendar } from "./insight_calendar.ts";

/** What changes are told by, in the order in which equal ones are: each is a field of filters. */
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

/** What is counted. */
export const FIGURES = ["visitors", "pageviews", "events", "sessions", "bounces"] as const;

/** What one piece of time comes to. */
export type Counts = Record<typeof FIGURES[number], number>;

/** What everything together, or one value of a dimension, comes to. */
export interface Candidate {
  /** Null: everything together. */
  readonly dimension: Dimension | null;
  /** Null where it is missing. */
  readonly value: string | null;
  readonly current: Counts;
  readonly previous: Counts;
  /** The days of the range that are compared, each counted by itself, together. */
  readonly ofDays: Counts;
  /** Each of them, one after the other; none where there is more than a week of them. */
  readonly days: readonly Counts[];
  /** Each of the days of the weeks before. */
  readonly daysBefore: readonly Counts[];
}

/** What candidates are asked of: selected events, and the dimensions whose values are told apart. */
export interface Asked {
  /** Null: all selected events. */
  readonly match: EventMatch | null;
  /** In the order of `DIMENSIONS`. */
  readonly dimensions: readonly Dimension[];
}

/** Segments that belong to the same: what is counted of them can be added. */
export interface Group {
  readonly period: "current" | "previous" | null;
  /** The day of the weeks before; behind these the day of the range, of more than a week any. */
  readonly slot: number | null;
}

export interface Places {
  readonly groups: readonly Group[];
  /** Of each segment its group, its period (1 current, 2 previous) and its day, from 1; 0: none. */
  readonly groupOf: readonly number[];
  readonly periodOf: readonly number[];
  readonly dayOf: readonly number[];
}

/** Where what happens in each segment is counted. */
export function placesOf({ segments, weekdays, rangeWeekdays }: Calendar): Places {
  const last = weekdays.length + Math.max(0, rangeWeekdays.length - 1);
  const groups = new Map<string, { group: Group; number: number }>();
  const groupOf = segments.map(({ period, day }) => {
    if (period === null && day === null) return 0;
    const slot = day === null ? null : Math.min(day, last);
    const known = groups.get(`${period} ${slot}`);
    if (known !== undefined) return known.number;
    const number = groups.size + 1;
    groups.set(`${period} ${slot}`, { group: { period, slot }, number });
    return number;
  });
  return {
    groups: [...groups.values()].map(({ group }) => group),
    groupOf,
    periodOf: segments.map(({ period }) => period === "current" ? 1 : period === null ? 0 : 2),
    dayOf: segments.map(({ day }) => day === null ? 0 : day + 1),
  };
}

const nothing = (): Counts => ({ visitors: 0, pageviews: 0, events: 0, sessions: 0, bounces: 0 });

/** A candidate while it is counted. */
export class Tally implements Candidate {
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

  /** What a day comes to: those of the weeks before first, then any of the range. */
  ofSlot(slot: number): Counts {
    return this.daysBefore[slot] ?? this.ofDays;
  }

  /** Adds to the day and to the period of a group of segments, as far as it is in one. */
  add({ period, slot }: Group, inDay: Partial<Counts>, inPeriod: Partial<Counts>): void {
    if (slot !== null) this.#addToDay(slot, inDay);
    if (period !== null) addTo(period === "current" ? this.current : this.previous, inPeriod);
  }

  #addToDay(slot: number, counts: Partial<Counts>): void {
    addTo(this.ofSlot(slot), counts);
    const day = this.days[slot - this.daysBefore.length];
    if (day !== undefined) addTo(day, counts);
  }
}

function addTo(counts: Counts, added: Partial<Counts>): void {
  for (const [figure, count] of Object.entries(added)) counts[figure as keyof Counts] += count;
}

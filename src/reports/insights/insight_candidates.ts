import type { EventMatch } from "../../query/filters.ts";
import type { Calendar } from "./insight_calendar.ts";

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

/** One value of a dimension, or the total. */
export interface Slice {
  /** Null: the total. */
  readonly dimension: Dimension | null;
  /** Null with a dimension: the missing value. */
  readonly value: string | null;
}

/** Returns a key that is equal for equal slices. */
export function sliceKey({ dimension, value }: Slice): string {
  return JSON.stringify([dimension, value]);
}

/** The figures of a slice: a change of them may become a finding. */
export interface Candidate extends Slice {
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

/** Segments that are counted together. */
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
  /** By the set of ranges whose people an actor is among, see `segmentsByPeople`; one for all if everybody counts. */
  readonly amid: readonly PlacesOfSegments[];
}

/** Returns the group in which a segment is counted; null: in none. */
type GroupOf = (segment: Calendar["segments"][number]) => Group | null;

/** Groups segments by period and day. */
export function byPeriodAndDay({ weekdays, rangeWeekdays }: Calendar): GroupOf {
  const last = weekdays.length + Math.max(0, rangeWeekdays.length - 1);
  return ({ period, day }) =>
    period === null && day === null
      ? null
      : { period, slot: day === null ? null : Math.min(day, last) };
}

/** Returns the places at which the events of segments are counted: one for each group. */
export function placesOf(byPeople: readonly Calendar["segments"][], groupOf: GroupOf): Places {
  const groups: Group[] = [];
  const numbers = new Map<string, number>();
  const amid = byPeople.map((segments): PlacesOfSegments => ({
    groupOf: segments.map((segment) => {
      const group = groupOf(segment);
      if (group === null) return 0;
      const { period, slot } = group;
      return numbers.getOrInsertComputed(`${period} ${slot}`, () => groups.push(group));
    }),
    periodOf: segments.map(({ period }) => period === "current" ? 1 : period === null ? 0 : 2),
    dayOf: segments.map(({ day }) => day === null ? 0 : day + 1),
  }));
  return { groups, amid };
}

const nothing = (): Counts => ({ visitors: 0, pageviews: 0, events: 0, sessions: 0, bounces: 0 });

function addTo(counts: Counts | undefined, added: Counts): void {
  if (counts !== undefined) { for (const figure of FIGURES) counts[figure] += added[figure]; }
}

/**
 * Makes a candidate from its counts in each group.
 * @param countsIn those of a group, with the visitors of its day, and with those of its period
 */
export function candidateOf(
  { weekdays, rangeWeekdays }: Calendar,
  { dimension, value }: Slice,
  groups: Places["groups"],
  countsIn: (group: number) => { readonly ofDay: Counts; readonly ofPeriod: Counts },
): Candidate {
  const [current, previous, ofDays] = [nothing(), nothing(), nothing()];
  const [days, daysBefore] = [rangeWeekdays.map(nothing), weekdays.map(nothing)];
  for (const [group, { period, slot }] of groups.entries()) {
    const { ofDay, ofPeriod } = countsIn(group);
    if (period !== null) addTo(period === "current" ? current : previous, ofPeriod);
    if (slot === null) continue;
    addTo(daysBefore[slot] ?? ofDays, ofDay);
    addTo(days[slot - daysBefore.length], ofDay);
  }
  return { dimension, value, current, previous, ofDays, days, daysBefore };
}

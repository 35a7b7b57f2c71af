import { packInts, unpackInts } from "../../db/packed_ints.ts";
import type { Row } from "../../db/sql.ts";
import { dateAt, dayAt } from "../../query/local_dates.ts";
import { type Range, spanOf, startOfDay } from "../../query/range.ts";
import { isNarrowed, type Scope, type Span } from "../../query/selection.ts";
import type { TimelineSource } from "../../scans/read.ts";
import { readTail } from "./rolled_tail.ts";
import type { Project } from "../../auth/projects.ts";

/**
 * A span whose unfiltered events (without bots) the rollups count exactly: whole days in the project's time
 * zone, and perhaps a part of a day at the end, which is scanned.
 */
export type RolledSpan = NonNullable<ReturnType<typeof rolledSpan>>;

/** Returns the span of a range; null: the rollups cannot answer for it. */
export function rolledSpan(scope: Scope, project: Pick<Project, "timezone">, range: Range) {
  const { timezone } = range;
  if (isNarrowed(scope) || scope.bots !== "exclude") return null;
  if (timezone !== project.timezone) return null;
  const { fromMs, toMs } = spanOf(range);
  if (startOfDay(dateAt(fromMs, timezone), timezone).getTime() !== fromMs) return null;
  const midnightMs = startOfDay(dateAt(toMs, timezone), timezone).getTime();
  return {
    projectId: scope.projectId,
    timezone,
    /** Days since 1970-01-01, `[fromDay, toDay)`. */
    fromDay: dayAt(fromMs, timezone),
    toDay: dayAt(toMs, timezone),
    /** The part of the day `toDay` that belongs to the span; null: the span ends at midnight. */
    tail: midnightMs === toMs ? null : { fromMs: midnightMs, toMs },
    span: spanOf(range),
    daysAt: (instantsMs: readonly number[]) => instantsMs.map((ms) => dayAt(ms, timezone)),
    endOfDayMs: (ms: number) =>
      startOfDay(dateAt(ms, timezone).add({ days: 1 }), timezone).getTime(),
  };
}

/** Returns the first days of buckets; null: they are not whole days, but hours for example. */
export function startDays(buckets: readonly Span[], timezone: string): number[] | null {
  const days = buckets.map(({ fromMs }) => dayAt(fromMs, timezone));
  const distinct = new Set(days).size === days.length;
  const atMidnight = buckets.every(({ fromMs }) =>
    startOfDay(dateAt(fromMs, timezone), timezone).getTime() === fromMs
  );
  return distinct && atMidnight ? days : null;
}

/** The figures of a span or a bucket. */
export interface Visits {
  readonly visitors: number;
  readonly newVisitors: number;
  readonly pageviews: number;
  readonly events: number;
}

const PACKED_VISITORS = `
SELECT ${packInts(["day", "prev_day", "first_day", "actors"])} AS pack FROM visitor_days
WHERE project_id = $1::int AND day >= $2::int AND day < $3::int`;
const DAY_TOTALS = `
SELECT day, pageviews, events FROM day_totals
WHERE project_id = $1::int AND day >= $2::int AND day < $3::int`;

/** Returns the index of the bucket of each day, from `fromDay` on. */
export function bucketsOfDays(starts: readonly number[], { fromDay, toDay }: RolledSpan): number[] {
  let bucket = 0;
  return Array.from({ length: Math.max(0, toDay - fromDay) }, (_, i) => {
    while (bucket + 1 < starts.length && starts[bucket + 1]! <= fromDay + i) bucket++;
    return bucket;
  });
}

/** Adds up the figures of a bucket, or of the whole span. */
class VisitSums implements Visits {
  visitors = 0;
  newVisitors = 0;
  pageviews = 0;
  events = 0;
  readonly #startDay: number;

  constructor(startDay: number) {
    this.#startDay = startDay;
  }

  /** Adds actors of a day whose previous day with events was `prevDay`, and whose first ever was `firstDay`. */
  addActors(actors: number, prevDay: number, firstDay: number): void {
    if (prevDay >= this.#startDay) return;
    this.visitors += actors;
    if (firstDay >= this.#startDay) this.newVisitors += actors;
  }

  addTotals({ pageviews, events }: Pick<Visits, "pageviews" | "events">): void {
    this.pageviews += pageviews;
    this.events += events;
  }
}

/**
 * Reads the visitors, new visitors, page views and events of each bucket, then of the whole span. In the
 * database, adding them up takes twice as long.
 * @param starts the buckets' first days
 */
export async function readRolledVisits(
  source: TimelineSource,
  rolled: RolledSpan,
  starts: readonly number[],
): Promise<Visits[]> {
  const { projectId, fromDay, toDay, tail } = rolled;
  const params = [projectId, fromDay, toDay];
  const [visitors] = await source.sql.query<{ pack: string | null }>(PACKED_VISITORS, params);
  type DayTotals = Pick<Visits, "pageviews" | "events"> & { readonly day: number };
  const totals = await source.sql.query<DayTotals & Row>(DAY_TOTALS, params);
  const bucketOf = bucketsOfDays(starts, rolled);
  const sums = starts.map((startDay) => new VisitSums(startDay));
  const whole = new VisitSums(fromDay);
  const packed = unpackInts(visitors!.pack);
  for (let i = 0; i < packed.length; i += 4) {
    const [prevDay, firstDay, actors] = [packed[i + 1]!, packed[i + 2]!, packed[i + 3]!];
    sums[bucketOf[packed[i]! - fromDay]!]!.addActors(actors, prevDay, firstDay);
    whole.addActors(actors, prevDay, firstDay);
  }
  for (const total of totals) {
    sums[bucketOf[total.day - fromDay]!]!.addTotals(total);
    whole.addTotals(total);
  }
  if (tail !== null) {
    const last = sums.at(-1)!;
    const added = await readTail(source, rolled, tail, starts.at(-1)!);
    last.visitors += added.visitorsInBucket;
    last.newVisitors += added.newInBucket;
    last.addTotals(added);
    whole.visitors += added.visitors;
    whole.newVisitors += added.newVisitors;
    whole.addTotals(added);
  }
  return [...sums, whole];
}

/** Reads the number of distinct visitors of the whole span. */
export async function readRolledVisitors(
  source: TimelineSource,
  rolled: RolledSpan,
): Promise<number> {
  const rows = await readRolledVisits(source, rolled, [rolled.fromDay]);
  return rows.at(-1)!.visitors;
}

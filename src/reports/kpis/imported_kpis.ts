import { type ImportedSums, sumsByDay } from "../../imported/imported_reading.ts";
import type { Span } from "../../query/selection.ts";
import type { Read } from "../../scans/read.ts";
import { type ImportedSpan, importedSpan, reachesOwn } from "../imported/imported_span.ts";

/** What imported days come to beside own events: of all buckets together, and of each. */
export interface ImportedBuckets {
  readonly span: ImportedSpan;
  /** Null where no imported day lies. */
  readonly whole: ImportedSums | null;
  readonly buckets: readonly (ImportedSums | null)[];
  /** Whether own days reach into a bucket, or into the whole: what imported days do not tell is null without. */
  readonly wholeHasOwn: boolean;
  readonly hasOwn: readonly boolean[];
}

const added = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : a + b;

function sumOf(sums: readonly ImportedSums[]): ImportedSums | null {
  if (sums.length === 0) return null;
  return sums.reduce((total, day) => ({
    visitors: added(total.visitors, day.visitors),
    visits: added(total.visits, day.visits),
    pageviews: added(total.pageviews, day.pageviews),
    bounces: added(total.bounces, day.bounces),
    seconds: added(total.seconds, day.seconds),
    events: added(total.events, day.events),
    visitsWithBounces: total.visitsWithBounces + day.visitsWithBounces,
    visitsWithSeconds: total.visitsWithSeconds + day.visitsWithSeconds,
    visitsWithPageviews: total.visitsWithPageviews + day.visitsWithPageviews,
    pageviewsOfVisits: total.pageviewsOfVisits + day.pageviewsOfVisits,
  }));
}

/** What imported days come to in the buckets of a read; null: there is nothing imported at all. */
export async function importedBuckets(
  read: Read,
  buckets: readonly Span[],
  isComparison: boolean,
): Promise<ImportedBuckets | null> {
  if ((read.importedTimezone ?? null) === null) return null;
  const { range } = read;
  const span = await importedSpan(read, range, {
    dimensions: ["all"],
    parameter: isComparison ? "compare" : "project",
    refusal: read.interval === "hour"
      ? { parameter: "interval", why: "sums of days cannot be divided into hours" }
      : null,
    isComparison,
  });
  const sums = new Map(
    (await sumsByDay(read.sql, read.scope.projectId, span.days)).map((day) => [day.day, day]),
  );
  const told = span.days.flatMap(({ day, fromMs }) => {
    const own = sums.get(day);
    return own === undefined ? [] : [{ fromMs, own }];
  });
  const within = ({ fromMs, toMs }: Span) =>
    told.filter((day) => day.fromMs >= fromMs && day.fromMs < toMs).map(({ own }) => own);
  return {
    span,
    whole: sumOf(told.map(({ own }) => own)),
    buckets: buckets.map((bucket) => sumOf(within(bucket))),
    wholeHasOwn: reachesOwn(span, range.to.getTime()),
    hasOwn: buckets.map(({ toMs }) => reachesOwn(span, toMs)),
  };
}

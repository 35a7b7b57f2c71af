import { type ImportedSums, sumsByDay } from "../../imported/imported_reading.ts";
import { FIGURES } from "../../imported/imported_sums.ts";
import type { Span } from "../../query/selection.ts";
import type { Read } from "../../scans/read.ts";
import { type ImportedRead, type ImportedSpan, importedSpan, reachesOwn } from "./imported_span.ts";

/** Sums of imported days: over all buckets together, and in each bucket. */
export interface ImportedBuckets {
  readonly span: ImportedSpan;
  /** Null, here and in `buckets`: there is no imported day. */
  readonly whole: ImportedSums | null;
  readonly buckets: readonly (ImportedSums | null)[];
  /**
   * Whether the whole, and each bucket, includes days of own events. Without these, a figure that imported days
   * do not have is null.
   */
  readonly wholeHasOwn: boolean;
  readonly hasOwn: readonly boolean[];
}

const FIGURES_OF_VISITS = [
  "visitsWithBounces",
  "visitsWithSeconds",
  "visitsWithPageviews",
  "pageviewsOfVisits",
] as const;

/** Adds up sums, of which a figure is null if all have none of it; null: there are no sums. */
function sumOf(sums: readonly ImportedSums[]): ImportedSums | null {
  const added = (a: number | null, b: number | null) => a === null ? b : a + (b ?? 0);
  return sums.length === 0 ? null : sums.reduce((total, day) => {
    const figures = [...FIGURES, ...FIGURES_OF_VISITS]
      .map((name) => [name, added(total[name], day[name])]);
    return Object.fromEntries(figures) as ImportedSums;
  });
}

/** Reads the imported days in the buckets of a read; null: the project has none at all. */
export async function importedBuckets(
  read: ImportedRead & Pick<Read, "interval">,
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
  const days = span.days.flatMap(({ day, fromMs }) => {
    const ofDay = sums.get(day);
    return ofDay === undefined ? [] : [{ fromMs, sums: ofDay }];
  });
  const sumWithin = ({ fromMs, toMs }: Span) =>
    sumOf(days.filter((day) => day.fromMs >= fromMs && day.fromMs < toMs).map(({ sums }) => sums));
  return {
    span,
    whole: sumOf(days.map(({ sums }) => sums)),
    buckets: buckets.map(sumWithin),
    wholeHasOwn: reachesOwn(span, range.to.getTime()),
    hasOwn: buckets.map(({ toMs }) => reachesOwn(span, toMs)),
  };
}

import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";
import type { ImportedSums } from "../../imported/imported_reading.ts";
import { ANY_EVENT } from "../../query/filters.ts";
import { type Range, spanOf } from "../../query/range.ts";
import type { Scope, Span } from "../../query/selection.ts";
import type { Read } from "../../scans/read.ts";
import { changeOf } from "../answer/changes.ts";
import { type ImportedBuckets, importedBuckets } from "../imported/imported_buckets.ts";
import { countTail, readTail } from "../rollups/rolled_tail.ts";
import { distinctActors } from "../visitors/distinct_actors.ts";
import type { OverviewDays } from "./overview_days.ts";
import { NOW_MS } from "./overview_sessions.ts";
import type { OwnVisitors, RolledDays } from "./overview_sums.ts";

/** A project of the list, its days, and how to read it. */
export interface ListedProject {
  readonly project: Project;
  readonly days: OverviewDays;
  /** Null: the rollups cannot answer for these days. */
  readonly rolled: RolledDays | null;
  /** Whether any event was ever counted. */
  readonly isBegun: boolean;
  readonly hasImported: boolean;
  readonly asOfMs: number;
  readonly source: {
    readonly sql: Sql;
    readonly scope: Scope;
    /** Loaded timelines are kept until the work ends. */
    readonly withTimelines: <T>(work: (timelines: Read["timelines"]) => Promise<T>) => Promise<T>;
  };
}

/** Counts own visitors, and those of each bucket, by a scan, if the rollups cannot answer for the days. */
export async function scanVisitors(
  { days, source: { sql, scope, withTimelines } }: ListedProject,
) {
  return await withTimelines(async (timelines) => {
    const source = { sql, scope, timelines };
    const { actors: [range], actorsOf } = await distinctActors(source, days.buckets, [ANY_EVENT]);
    const { actors: [before] } = await distinctActors(source, [spanOf(days.before)], [ANY_EVENT]);
    return { own: { range: range!, before: before! }, series: [...actorsOf] };
  });
}

/** Counts by a scan what the part of a day that is compared adds to the whole days before it. */
export async function scanTail(
  { source: { sql, withTimelines } }: ListedProject,
  before: RolledDays["before"],
): Promise<number> {
  const { visitors } = await withTimelines((timelines) =>
    readTail({ sql, timelines }, before, before.tail!, before.fromDay)
  );
  return visitors;
}

/** Counts the visitors of the last minutes by their events, both ends included. */
export async function scanNow({ project, asOfMs, source }: ListedProject): Promise<number> {
  const span = { fromMs: asOfMs - NOW_MS, toMs: asOfMs + 1 };
  const { sql, withTimelines } = source;
  const { actors } = await withTimelines((timelines) =>
    countTail({ sql, timelines }, project.projectId, span)
  );
  return actors.size;
}

/** Reads the imported days of a range, and of its buckets, as the key figures do; null: there are none at all. */
function importedOf(
  { project, hasImported, days: { interval }, source: { sql, scope } }: ListedProject,
  range: Range,
  buckets: readonly Span[],
) {
  const importedTimezone = hasImported ? project.timezone : null;
  return importedBuckets({ sql, scope, range, interval, importedTimezone }, buckets, false);
}

/** Adds the visitors of imported days to own ones; null: they are not known. */
function withImported(own: number, sums: ImportedSums | null, hasOwn: boolean): number | null {
  const isKnown = sums === null || hasOwn || sums.visitors !== null;
  return isKnown ? own + (sums?.visitors ?? 0) : null;
}

const wholeOf = (own: number, imported: ImportedBuckets | null): number | null =>
  withImported(own, imported?.whole ?? null, imported?.wholeHasOwn ?? true);

/**
 * Returns a project's visitors in the range, with its imported days, and how they changed against those before.
 * `isImported`: whether the range has such days; `seriesOf` adds those of each bucket to own visitors.
 */
export async function figuresOf(listed: ListedProject, own: OwnVisitors) {
  const { range, before, buckets } = listed.days;
  const imported = await importedOf(listed, range, buckets);
  const visitors = wholeOf(own.range, imported);
  const compared = own.before === null
    ? null
    : wholeOf(own.before, await importedOf(listed, before, []));
  return {
    visitors,
    change: changeOf(visitors, compared),
    isImported: (imported?.whole ?? null) !== null,
    seriesOf: (ownSeries: readonly number[]) =>
      ownSeries.map((count, i) =>
        withImported(count, imported?.buckets[i] ?? null, imported?.hasOwn[i] ?? true)
      ),
  };
}

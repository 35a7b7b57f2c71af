import { type ImportedSums, sumsByValue } from "../../imported/imported_reading.ts";
import type { ImportedDimension } from "../../imported/imported_sums.ts";
import type { Read } from "../../scans/read.ts";
import { type ImportedSpan, importedSpan } from "../imported/imported_span.ts";
import { rate } from "../answer/report.ts";
import type { PageRow } from "./page_row.ts";

/** Returns the imported days of a read that have sums of pages. */
export async function importedPages(read: Read): Promise<ImportedSpan> {
  return await importedSpan(read, read.range, {
    dimensions: ["path"],
    parameter: "project",
    refusal: read.visitorsMin > 1
      ? { parameter: "project", why: "a share does not tell how few visitors stand behind a sum" }
      : null,
  });
}

/** The imported sums of a page: its views, and the visits that began and ended there. */
interface PageSums {
  readonly views?: ImportedSums;
  readonly entries?: ImportedSums;
  readonly exits?: ImportedSums;
}

/** The dimension that has each of these sums. */
const SUMS = [["views", "path"], ["entries", "entryPath"], ["exits", "exitPath"]] as const;

/** Returns the sums of a page that no day has: zeros if days have the dimension, else nulls. */
function noSums(hasDimension: boolean) {
  const count = hasDimension ? 0 : null;
  return { visitors: count, visits: count, pageviews: count, bounces: null, visitsWithBounces: 0 };
}

/** Returns whether any imported day has sums of a dimension. */
type HasDimension = (dimension: ImportedDimension) => boolean;

/** Adds imported sums to a page's own row; null: the page has no own row. */
function withImported(
  own: PageRow | null,
  path: string,
  sums: PageSums,
  has: HasDimension,
): PageRow {
  const sum = (count: number | null | undefined, imported: number | null) =>
    own === null ? imported : (count ?? 0) + (imported ?? 0);
  const { views = noSums(has("path")), entries = noSums(has("entryPath")) } = sums;
  const { exits = noSums(has("exitPath")) } = sums;
  return {
    path,
    visitors: sum(own?.visitors, views.visitors),
    pageviews: sum(own?.pageviews, views.pageviews),
    entries: sum(own?.entries, entries.visits),
    exits: sum(own?.exits, exits.visits),
    bounceRate: rate(
      (own?.bounceRate.numerator ?? 0) + (entries.bounces ?? 0),
      (own?.bounceRate.denominator ?? 0) + entries.visitsWithBounces,
    ),
    medianSecondsOnPage: own?.medianSecondsOnPage ?? null,
    medianScrollDepth: own?.medianScrollDepth ?? null,
    imported: true,
  };
}

/** Merges own rows and imported days, each page once. */
export async function mergedPages(
  { sql, scope: { projectId } }: Read,
  { days }: ImportedSpan,
  own: readonly PageRow[],
): Promise<PageRow[]> {
  const sumsOf = new Map<string, PageSums>();
  for (const [name, dimension] of SUMS) {
    for (const row of await sumsByValue(sql, projectId, days, dimension)) {
      // Sums without a path belong to no page.
      if (row.value === null) continue;
      sumsOf.set(row.value, { ...sumsOf.get(row.value), [name]: row });
    }
  }
  const has: HasDimension = (one) => days.some(({ dimensions }) => dimensions.includes(one));
  const rows = new Map(own.map((row) => [row.path, row]));
  for (const [path, sums] of sumsOf) {
    rows.set(path, withImported(rows.get(path) ?? null, path, sums, has));
  }
  return [...rows.values()];
}

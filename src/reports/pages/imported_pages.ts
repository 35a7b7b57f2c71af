import { type ImportedSums, sumsByValue } from "../../imported/imported_reading.ts";
import type { ImportedDimension } from "../../imported/imported_sums.ts";
import type { Read } from "../../scans/read.ts";
import { type ImportedSpan, importedSpan } from "../imported/imported_span.ts";
import { rate } from "../answer/report.ts";
import type { PageRow } from "./page_row.ts";

/** The imported days of a read that tell of pages. */
export async function importedPages(read: Read): Promise<ImportedSpan> {
  return await importedSpan(read, read.range, {
    dimensions: ["path"],
    parameter: "project",
    refusal: read.visitorsMin > 1
      ? { parameter: "project", why: "a share does not tell how few visitors stand behind a sum" }
      : null,
  });
}

/** What imported days tell of a page: who saw it, began and ended there. */
interface PageSums {
  views?: ImportedSums;
  entries?: ImportedSums;
  exits?: ImportedSums;
}

/** Of a page that days do not name: nothing, or nothing that is known. */
function noSums(isTold: boolean) {
  const count = isTold ? 0 : null;
  return { visitors: count, visits: count, pageviews: count, bounces: null, visitsWithBounces: 0 };
}

type Tells = (dimension: ImportedDimension) => boolean;

/** `tells`: whether any day tells of a dimension; then what it has no sum of has none. */
function withImported(own: PageRow | null, path: string, sums: PageSums, tells: Tells): PageRow {
  const sum = (count: number | null | undefined, imported: number | null) =>
    own === null ? imported : (count ?? 0) + (imported ?? 0);
  const { views = noSums(tells("path")), entries = noSums(tells("entryPath")) } = sums;
  const { exits = noSums(tells("exitPath")) } = sums;
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

/** All rows of own events and of imported days, each page once. */
export async function mergedPages(
  { sql, scope: { projectId } }: Read,
  { days }: ImportedSpan,
  own: readonly PageRow[],
): Promise<PageRow[]> {
  const found = new Map<string, PageSums>();
  const of = (path: string | null): PageSums => {
    // A sum without a path is of none.
    const known = path === null ? undefined : found.get(path);
    const sums = known ?? {};
    if (path !== null && known === undefined) found.set(path, sums);
    return sums;
  };
  for (const row of await sumsByValue(sql, projectId, days, "path")) of(row.value).views = row;
  for (const row of await sumsByValue(sql, projectId, days, "entryPath")) {
    of(row.value).entries = row;
  }
  for (const row of await sumsByValue(sql, projectId, days, "exitPath")) of(row.value).exits = row;
  const tells: Tells = (one) => days.some(({ dimensions }) => dimensions.includes(one));
  const merged = own.map((row) => {
    const sums = found.get(row.path);
    found.delete(row.path);
    return sums === undefined ? row : withImported(row, row.path, sums, tells);
  });
  return [...merged, ...[...found].map(([path, sums]) => withImported(null, path, sums, tells))];
}

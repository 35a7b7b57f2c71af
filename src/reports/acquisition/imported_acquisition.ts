import type { AcquisitionDimension } from "../../attribution/dimensions.ts";
import { type ImportedSums, sumsByValue, sumsOfAll } from "../../imported/imported_reading.ts";
import type { Read } from "../../scans/read.ts";
import {
  type ImportedSpan,
  importedSpan,
  reachesOwn,
  refusalOfShare,
} from "../imported/imported_span.ts";
import type { RowFigures } from "./acquisition_rows.ts";

/** Returns the imported days of a read; no days if it asks for what they do not have. */
export async function importedAcquisition(
  read: Read,
  by: AcquisitionDimension,
  withGoal: boolean,
): Promise<ImportedSpan> {
  return await importedSpan(read, read.range, {
    dimensions: [by],
    parameter: "by",
    refusal: withGoal
      ? { parameter: "goal", why: "they do not tell who reached a goal" }
      : refusalOfShare(read),
  });
}

/** Adds imported sums to a value's own figures; null: the value has no own figures. */
function withImported(
  own: RowFigures | null,
  { value = null, ...sums }: ImportedSums & { readonly value?: string | null },
): RowFigures {
  const { visitors, visits, pageviews, bounces, visitsWithBounces } = sums;
  const sum = (count: number | null | undefined, imported: number | null) =>
    own === null ? imported : (count ?? 0) + (imported ?? 0);
  return {
    value,
    visitors: sum(own?.visitors, visitors),
    newVisitors: own?.newVisitors ?? null,
    sessions: sum(own?.sessions, visits),
    bounces: (own?.bounces ?? 0) + (bounces ?? 0),
    bounceSessions: (own?.bounceSessions ?? 0) + visitsWithBounces,
    pageviews: sum(own?.pageviews, pageviews),
    conversions: 0,
    totalConversions: 0,
    amount: 0,
    isWorthShown: true,
    rule: own?.rule ?? null,
    isImported: true,
  };
}

/** Merges own rows and imported days: each value once, and the total. */
export async function mergedAcquisition(
  read: Read,
  by: AcquisitionDimension,
  span: ImportedSpan,
  own: { readonly rows: readonly RowFigures[]; readonly total: RowFigures },
) {
  const { sql, scope: { projectId } } = read;
  const rows = new Map(own.rows.map((row) => [row.value, row]));
  for (const sums of await sumsByValue(sql, projectId, span.days, by)) {
    rows.set(sums.value, withImported(rows.get(sums.value) ?? null, sums));
  }
  const whole = await sumsOfAll(sql, projectId, span.days, by);
  const hasOwn = reachesOwn(span, read.range.to.getTime());
  return { rows: [...rows.values()], total: withImported(hasOwn ? own.total : null, whole) };
}

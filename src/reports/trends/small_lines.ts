import type { Read } from "../../scans/read.ts";
import { spanOf } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";
import { isSmall } from "../answer/small_groups.ts";
import { type FoundTrends, scanTrends, type TrendQuestion } from "./trend_scan.ts";

const VISITORS = { kind: "visitors", key: null } as const;

/**
 * Returns which of the values that may have a line have one of their own in a share: values of enough visitors.
 * All others are the line `$other`. Null: any value may have a line.
 */
export async function shownValues(
  read: Read,
  { events, by, only }: Pick<TrendQuestion, "events" | "by" | "only">,
): Promise<TrendQuestion["only"]> {
  const { visitorsMin } = read;
  if (visitorsMin === 1 || by === null) return only;
  const question = { events, measure: VISITORS, by, only };
  const { top, values } = await scanTrends(read, [spanOf(read.range)], question);
  // The visitors of the event with the fewest visitors for the value; events without visitors do not count.
  const fewestAt = (line: number) => Math.min(...values.map((of) => of[line]?.[0] || Infinity));
  return new Set((top ?? []).filter((_, i) => !isSmall(fewestAt(i + 1), visitorsMin)));
}

/** Returns the trends, for a share with null at points of too few visitors, or of none. */
export async function shownTrends(
  read: Read,
  buckets: readonly Span[],
  question: TrendQuestion,
): Promise<FoundTrends> {
  const found = await scanTrends(read, buckets, question);
  if (read.visitorsMin === 1) return found;
  const { values: visitors } = question.measure.kind === "visitors"
    ? found
    : await scanTrends(read, buckets, { ...question, measure: VISITORS });
  const values = found.values.map((lines, event) =>
    lines.map((line, i) =>
      line?.map((value, bucket) =>
        isSmall(visitors[event]![i]![bucket] ?? 0, read.visitorsMin) ? null : value
      ) ?? null
    )
  );
  return { top: found.top, values };
}

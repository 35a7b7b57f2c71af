import type { Read } from "../../scans/read.ts";
import { spanOf } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";
import { isSmall, smallPlaces } from "../answer/small_groups.ts";
import { type FoundTrends, scanTrends, type TrendQuestion } from "./trend_scan.ts";

type Values = ReadonlySet<string | null>;
const VISITORS = { kind: "visitors", key: null } as const;

/**
 * The values that a share tells by a line of their own: those of enough visitors. All others are the
 * line `$other`. Null: any may be told.
 */
export async function toldValues(
  read: Read,
  { events, by }: Pick<TrendQuestion, "events" | "by">,
): Promise<Values | null> {
  const { visitorsMin } = read;
  if (visitorsMin === 1 || by === null) return null;
  const asked = { events, measure: VISITORS, by, only: null };
  const { top, values } = await scanTrends(read, [spanOf(read.range)], asked);
  // Of the event that fewest visitors did with the value, those who did it not at all apart.
  const fewestAt = (line: number) => Math.min(...values.map((of) => of[line]?.[0] || Infinity));
  return new Set((top ?? []).filter((_, i) => !isSmall(fewestAt(i + 1), visitorsMin)));
}

/** The trends as a share tells them: null where too few visitors, or none, are behind a point. */
export async function toldTrends(
  read: Read,
  buckets: readonly Span[],
  asked: TrendQuestion,
): Promise<FoundTrends> {
  const found = await scanTrends(read, buckets, asked);
  if (read.visitorsMin === 1) return found;
  const { values: visitors } = asked.measure.kind === "visitors"
    ? found
    : await scanTrends(read, buckets, { ...asked, measure: VISITORS });
  const values = found.values.map((lines, event) =>
    lines.map((line, i) => {
      if (line === null) return null;
      const behind = visitors[event]![i]!.map((n) => n ?? 0);
      const silent = new Set(smallPlaces(behind.entries(), read.visitorsMin));
      return line.map((value, bucket) => silent.has(bucket) ? null : value);
    })
  );
  return { top: found.top, values };
}

import type { Read } from "../../scans/read.ts";
import { spanOf } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";
import { isSmall, smallPlaces } from "../small_groups.ts";
import { type FoundTrends, scanTrends, type TrendQuestion } from "./trend_scan.ts";

type Values = ReadonlySet<string | null>;
const VISITORS = { kind: "visitors", key: null } as const;

interface Line {
  readonly value: string | null;
  /** Of the event that fewest visitors did with this value, those who did it not at all apart. */
  readonly fewest: number;
}

/** How many visitors the lines of a range have that may stand by themselves, that of all others last. */
async function visitorsOf(
  read: Read,
  { events, by }: Pick<TrendQuestion, "events" | "by">,
  only: Values | null,
): Promise<{ readonly lines: readonly Line[]; readonly others: number }> {
  const range = [spanOf(read.range)];
  const measure = VISITORS;
  const { top, values } = await scanTrends(read, range, { events, measure, by, only });
  const fewestAt = (line: number) => Math.min(...values.map((of) => of[line]?.[0] || Infinity));
  return {
    lines: (top ?? []).map((value, i) => ({ value, fewest: fewestAt(i + 1) })),
    others: fewestAt(0),
  };
}

/**
 * The values that a share tells by a line of their own: those of enough visitors. Where all others
 * together are too few, the one of fewest visitors joins them. Null: any may be told.
 */
export async function toldValues(
  read: Read,
  asked: Pick<TrendQuestion, "events" | "by">,
): Promise<Values | null> {
  const { visitorsMin } = read;
  if (visitorsMin === 1 || asked.by === null) return null;
  const { lines } = await visitorsOf(read, asked, null);
  const large = lines.filter(({ fewest }) => !isSmall(fewest, visitorsMin))
    .toSorted((a, b) => b.fewest - a.fewest);
  const told = new Set(large.map(({ value }) => value));
  const { others } = await visitorsOf(read, asked, told);
  if (isSmall(others, visitorsMin) && large.length > 0) told.delete(large.at(-1)!.value);
  return told;
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

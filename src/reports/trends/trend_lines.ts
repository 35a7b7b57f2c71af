import { bucketsOf } from "../../query/buckets.ts";
import { spanOf } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";
import type { Read } from "../../scans/read.ts";
import { changeOf } from "../answer/changes.ts";
import { isSmall } from "../answer/small_groups.ts";
import type { Measure } from "../visitors/trend_measures.ts";
import { scanTrends, type TrendLine, type TrendLines, type TrendQuestion } from "./trend_scan.ts";

const VISITORS = { kind: "visitors", key: null } as const;

/**
 * Returns the values that may have a line of their own: in a share, only those of enough visitors. All others
 * are the line `$other`. Null: any value may have a line.
 */
async function shownValues(
  read: Read,
  { events, by, only }: Pick<TrendQuestion, "events" | "by" | "only">,
): Promise<TrendQuestion["only"]> {
  const { visitorsMin } = read;
  if (visitorsMin === 1 || by === null) return only;
  const question = { events, measure: VISITORS, by, only };
  const { top, lines } = await scanTrends(read, [spanOf(read.range)], question);
  // Of a value, the visitors of the event with the fewest; events without visitors do not count.
  const small = lines.filter(({ isOther, values: [visitors] }) =>
    !isOther && isSmall(visitors || Infinity, visitorsMin)
  );
  return new Set(top).difference(new Set(small.map(({ value }) => value)));
}

export type TrendParameters = Omit<TrendQuestion, "only">;

/** Returns the lines; for a share with null at points of too few visitors, or of none. */
async function linesIn(
  read: Read,
  buckets: readonly Span[],
  question: TrendQuestion,
): Promise<TrendLines> {
  const { top, lines } = await scanTrends(read, buckets, question);
  if (read.visitorsMin === 1) return { top, lines };
  const { lines: visitors } = question.measure.kind === "visitors"
    ? { lines }
    : await scanTrends(read, buckets, { ...question, measure: VISITORS });
  const shown = lines.map((line, i) => ({
    ...line,
    values: line.values.map((value, bucket) =>
      isSmall(visitors[i]!.values[bucket] ?? 0, read.visitorsMin) ? null : value
    ),
  }));
  return { top, lines: shown };
}

/** Reads the lines in the buckets of a read. `only`: the values that may have lines; null: any may. */
export async function readLines(
  read: Read,
  parameters: TrendParameters,
  only: TrendQuestion["only"],
): Promise<TrendLines> {
  const shown = await shownValues(read, { ...parameters, only });
  return await linesIn(read, bucketsOf(read.range, read.interval), { ...parameters, only: shown });
}

const keyOf = ({ place, value, isOther }: TrendLine): string =>
  JSON.stringify([place, value, isOther]);

function ofNothing({ kind }: Measure): number | null {
  return kind === "total" || kind === "visitors" || kind === "sum" ? 0 : null;
}

/** Returns a function for the measure of a line over the whole range. */
async function wholes(read: Read, parameters: TrendParameters, { top }: TrendLines) {
  const whole = [spanOf(read.range)];
  const { lines } = await linesIn(read, whole, { ...parameters, only: top && new Set(top) });
  const found = new Map(lines.map((line) => [keyOf(line), line.values[0]!]));
  // In a share, a value of too few visitors has no line, and must look like one of none.
  const unknown = read.visitorsMin > 1 && top !== null ? null : ofNothing(parameters.measure);
  return (line: TrendLine): number | null =>
    found.has(keyOf(line)) ? found.get(keyOf(line))! : unknown;
}

/** Returns the lines of the same values in another read, and how the measure of each changed. */
export async function compareLines(
  read: Read,
  compared: Read,
  parameters: TrendParameters,
  current: TrendLines,
) {
  const only = current.top && new Set(current.top);
  const previous = await readLines(compared, parameters, only);
  const now = await wholes(read, parameters, current);
  const before = await wholes(compared, parameters, previous);
  const known = new Set(current.lines.map(keyOf));
  const others = previous.lines.filter((line) => !known.has(keyOf(line)));
  const change = [...current.lines, ...others].map((line) => {
    const { event, value } = line;
    const [own, other] = [now(line), before(line)];
    return { event, value, current: own, previous: other, change: changeOf(own, other) };
  });
  return { previous, change };
}

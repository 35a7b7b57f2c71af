import { bucketsOf } from "../../query/buckets.ts";
import { spanOf } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";
import type { Read } from "../../scans/read.ts";
import { changeOf } from "../answer/changes.ts";
import { isSmall, OTHER } from "../answer/small_groups.ts";
import type { Measure } from "../visitors/trend_measures.ts";
import { type FoundTrends, scanTrends, type TrendQuestion } from "./trend_scan.ts";

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
  const { top, values } = await scanTrends(read, [spanOf(read.range)], question);
  // Of a line, the visitors of the event with the fewest; events without visitors do not count.
  const fewestAt = (line: number) => Math.min(...values.map((of) => of[line]?.[0] || Infinity));
  return new Set((top ?? []).filter((_, i) => !isSmall(fewestAt(i + 1), visitorsMin)));
}

/** Returns the trends; for a share with null at points of too few visitors, or of none. */
async function shownTrends(
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

export type TrendParameters = Omit<TrendQuestion, "only">;

/** The measure of one event and value, in every bucket. */
interface TrendLine {
  /** The index of the event in the question: several events may have the same name. */
  readonly place: number;
  readonly event: string | null;
  readonly value: string | null;
  /** Whether it is the line of all other values; a value of its own may have the same name. */
  readonly isOther: boolean;
  readonly values: readonly (number | null)[];
}

export interface TrendLines {
  /** Values with lines of their own; null without `by`. */
  readonly top: readonly (string | null)[] | null;
  /** The lines that have events. */
  readonly lines: readonly TrendLine[];
}

async function linesIn(
  read: Read,
  parameters: TrendParameters,
  buckets: readonly Span[],
  only: TrendQuestion["only"],
): Promise<TrendLines> {
  const { top, values } = await shownTrends(read, buckets, { ...parameters, only });
  // Line 0 is that of all other values, and shown last.
  const shown = top === null
    ? [{ line: 0, value: null }]
    : [...top.map((value, i) => ({ line: i + 1, value })), { line: 0, value: OTHER }];
  const lines = parameters.events.flatMap(({ label, name }, place) =>
    shown.flatMap(({ line, value }): TrendLine[] => {
      const points = values[place]![line]!;
      if (points === null) return [];
      const isOther = top !== null && line === 0;
      return [{ place, event: label ?? name, value, isOther, values: points }];
    })
  );
  return { top, lines };
}

/** Reads the lines in the buckets of a read. `only`: the values that may have lines; null: any may. */
export async function readLines(
  read: Read,
  parameters: TrendParameters,
  only: TrendQuestion["only"],
): Promise<TrendLines> {
  const shown = await shownValues(read, { ...parameters, only });
  return await linesIn(read, parameters, bucketsOf(read.range, read.interval), shown);
}

const keyOf = ({ place, value, isOther }: TrendLine): string =>
  JSON.stringify([place, value, isOther]);

function ofNothing({ kind }: Measure): number | null {
  return kind === "total" || kind === "visitors" || kind === "sum" ? 0 : null;
}

/** Returns a function for the measure of a line over the whole range. */
async function wholes(read: Read, parameters: TrendParameters, { top }: TrendLines) {
  const whole = [spanOf(read.range)];
  const { lines } = await linesIn(read, parameters, whole, top === null ? null : new Set(top));
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
  const only = current.top === null ? null : new Set(current.top);
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

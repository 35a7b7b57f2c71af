import { bucketsOf } from "../../query/buckets.ts";
import { spanOf } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";
import type { Read } from "../../scans/read.ts";
import { changeOf } from "../answer/changes.ts";
import { OTHER } from "../answer/small_groups.ts";
import type { Measure } from "../visitors/trend_measures.ts";
import { toldTrends, toldValues } from "./small_lines.ts";
import type { TrendQuestion } from "./trend_scan.ts";

/** What is asked, by whomever. */
export type Asked = Omit<TrendQuestion, "only">;

/** The measure of one event and value, in every bucket. */
export interface TrendLine {
  /** The event's number among those that are asked for: several may be called the same. */
  readonly place: number;
  readonly event: string | null;
  readonly value: string | null;
  readonly values: readonly (number | null)[];
}

export interface TrendLines {
  /** Values with lines of their own; null where nothing is told apart. */
  readonly top: readonly (string | null)[] | null;
  /** Those that have any of the events. */
  readonly lines: readonly TrendLine[];
}

type Values = ReadonlySet<string | null>;

async function linesIn(
  read: Read,
  asked: Asked,
  buckets: readonly Span[],
  only: Values | null,
): Promise<TrendLines> {
  const { top, values } = await toldTrends(read, buckets, { ...asked, only });
  // The line of all other values is the first one, and shown last.
  const shown = top === null
    ? [{ line: 0, value: null }]
    : [...top.map((value, i) => ({ line: i + 1, value })), { line: 0, value: OTHER }];
  const lines = asked.events.flatMap((event, place) =>
    shown.flatMap(({ line, value }): TrendLine[] => {
      const own = values[place]![line]!;
      return own === null ? [] : [{ place, event: event.label ?? event.name, value, values: own }];
    })
  );
  return { top, lines };
}

/** The lines of a read, in its buckets. `only`: the values that may have one of their own; null: any may. */
export async function readLines(
  read: Read,
  asked: Asked,
  only: Values | null,
): Promise<TrendLines> {
  const told = await toldValues(read, asked);
  const both = told === null || only === null ? told ?? only : told.intersection(only);
  return await linesIn(read, asked, bucketsOf(read.range, read.interval), both);
}

const keyOf = ({ place, value }: TrendLine): string => JSON.stringify([place, value]);

/** What a measure says of no events. */
function ofNothing({ kind }: Measure): number | null {
  return kind === "total" || kind === "visitors" || kind === "sum" ? 0 : null;
}

/** The measure of each line over the whole range. */
async function wholes(read: Read, asked: Asked, { top }: TrendLines) {
  const whole = [spanOf(read.range)];
  const { lines } = await linesIn(read, asked, whole, top === null ? null : new Set(top));
  const found = new Map(lines.map((line) => [keyOf(line), line.values[0]!]));
  return (line: TrendLine): number | null =>
    found.has(keyOf(line)) ? found.get(keyOf(line))! : ofNothing(asked.measure);
}

/** How lines changed against those of the same values in another read. */
export async function compareLines(
  read: Read,
  compared: Read,
  asked: Asked,
  current: TrendLines,
) {
  const only = current.top === null ? null : new Set(current.top);
  const previous = await readLines(compared, asked, only);
  const now = await wholes(read, asked, current);
  const before = await wholes(compared, asked, previous);
  const known = new Set(current.lines.map(keyOf));
  const others = previous.lines.filter((line) => !known.has(keyOf(line)));
  const change = [...current.lines, ...others].map((line) => {
    const { event, value } = line;
    const [own, other] = [now(line), before(line)];
    return { event, value, current: own, previous: other, change: changeOf(own, other) };
  });
  return { previous, change };
}

import type {
  TrendLine as LineReply,
  TrendPoint,
  TRENDS_REPLY,
} from "../../reports/trends/trends.ts";
import { type ChartPoint, pointsOf } from "../chart_lines.ts";
import { OTHER, valueLabel } from "../filter_fields.ts";
import type { Interval } from "../location_query.ts";
import { type EventMatch, matchText } from "../match_editor.tsx";
import type { ReplyOf } from "../replies.ts";

/** `GET /v1/trends`. */
export interface TrendsReply extends ReplyOf<typeof TRENDS_REPLY> {
  readonly asOf: string;
  /** The question of this reply; what is chosen may be newer. */
  readonly query: {
    readonly interval: Interval;
    readonly event: readonly EventMatch[];
    readonly measure: string;
    readonly by: string | null;
  };
}

/** One line of the chart, and one row of the table below it. */
export interface TrendLine {
  /** The same for the same line of another range. */
  readonly key: string;
  readonly name: string;
  /** Which of the question's events it is of. */
  readonly event: number;
  readonly points: readonly ChartPoint[];
}

/** The number of distinct colours, and so of lines that can be drawn. */
export const LINES_DRAWN_MAX = 8;
/** Lines that are drawn before any is chosen. */
const LINES_DRAWN_FIRST = 5;

const isLine = (entry: TrendPoint | LineReply): entry is LineReply => "points" in entry;

/** Numbers repeated names: the same name twice would be one column of a table. */
function withUniqueNames(lines: readonly TrendLine[]): readonly TrendLine[] {
  const seen = new Map<string, number>();
  return lines.map((line) => {
    const count = (seen.get(line.name) ?? 0) + 1;
    seen.set(line.name, count);
    return count === 1 ? line : { ...line, name: `${line.name} (${count})` };
  });
}

/** The reply's lines by name: that of the event, that of the value, or both. */
export function linesOf(
  { series, asOf, query: { event: events, by } }: TrendsReply,
): readonly TrendLine[] {
  const nameOf = (index: number) => {
    const { name, filters } = events[index] ?? events[0]!;
    return matchText({ name, filters });
  };
  const begun = (points: readonly TrendPoint[]) => pointsOf(points, ({ value }) => value, asOf);
  const isSplit = by !== null;
  const lines = series.filter(isLine);
  if (lines.length === 0) {
    const points = begun(series.filter((entry): entry is TrendPoint => !isLine(entry)));
    const name = nameOf(0);
    return points.length === 0 ? [] : [{ key: "0", name, event: 0, points }];
  }
  return withUniqueNames(lines.map(({ event, value, points }) => {
    const index = events.length === 1 ? 0 : Number(event);
    const eventName = nameOf(index);
    const valueName = isSplit ? valueLabel(by, value) : "";
    const parts = events.length === 1 && isSplit ? [valueName] : [eventName, valueName];
    return {
      key: isSplit ? JSON.stringify([index, value]) : String(index),
      name: parts.filter((part) => part !== "").join(" · "),
      event: index,
      points: begun(points),
    };
  }));
}

/** The lines that are drawn while none is chosen: the first ones of each event. */
export function firstLines(lines: readonly TrendLine[]): readonly string[] {
  if (lines.length <= LINES_DRAWN_MAX) return lines.map(({ key }) => key);
  const ofEvent = [...Map.groupBy(lines, ({ event }) => event).values()];
  const each = Math.max(1, Math.floor(LINES_DRAWN_FIRST / ofEvent.length));
  return ofEvent.flatMap((own) =>
    own.filter(({ key }) => !key.endsWith(`"${OTHER}"]`)).slice(0, each).map(({ key }) => key)
  ).slice(0, LINES_DRAWN_MAX);
}

/** The keys that the address names; null: it names none. */
export function readShown(text: string | null): readonly string[] | null {
  try {
    const keys: unknown = JSON.parse(text ?? "null");
    return Array.isArray(keys) ? keys.filter((key) => typeof key === "string") : null;
  } catch {
    return null;
  }
}

/**
 * The colour of each line that is drawn. A line keeps the colour of its rank while that is free;
 * the first one drawn always has the first.
 */
export function coloursOf(
  lines: readonly TrendLine[],
  shown: ReadonlySet<string>,
): ReadonlyMap<string, number> {
  const colours = new Map<string, number>();
  const isFree = (colour: number) => ![...colours.values()].includes(colour);
  const ranks = lines.map(({ key }, rank) => ({ key, rank })).filter(({ key }) => shown.has(key));
  // First the lines whose own colour is free; the others take what is left.
  for (const { key, rank } of ranks) {
    const own = colours.size === 0 ? 0 : rank;
    if (own < LINES_DRAWN_MAX && isFree(own)) colours.set(key, own);
  }
  for (const { key } of ranks.filter((each) => !colours.has(each.key))) {
    const free = Array.from({ length: LINES_DRAWN_MAX }, (_, i) => i).find(isFree);
    if (free !== undefined) colours.set(key, free);
  }
  return colours;
}

/** The summary of one line. */
export interface Summary {
  /** Null: it does not follow from the buckets. */
  readonly total: number | null;
  readonly mean: number | null;
  readonly lowest: ChartPoint | null;
  readonly highest: ChartPoint | null;
}

function totalOf(kind: string, values: readonly number[]): number | null {
  switch (kind) {
    case "total":
    case "sum":
      return values.reduce((sum, value) => sum + value, 0);
    case "min":
      return values.length === 0 ? null : Math.min(...values);
    case "max":
      return values.length === 0 ? null : Math.max(...values);
    default:
      return null;
  }
}

type ValuedPoint = ChartPoint & { readonly value: number };

/** The range as a whole, and its complete buckets: one that is not over would be the lowest. */
export function summaryOf(kind: string, { points }: TrendLine): Summary {
  const valued = points.filter((point): point is ValuedPoint => point.value !== null);
  const whole = valued.filter(({ complete }) => complete);
  const sum = whole.reduce((total, { value }) => total + value, 0);
  const extreme = (isBetter: (a: number, b: number) => boolean) =>
    whole.reduce<ValuedPoint | null>(
      (best, point) => best === null || isBetter(point.value, best.value) ? point : best,
      null,
    );
  return {
    total: totalOf(kind, valued.map(({ value }) => value)),
    mean: whole.length === 0 ? null : sum / whole.length,
    lowest: extreme((a, b) => a < b),
    highest: extreme((a, b) => a > b),
  };
}

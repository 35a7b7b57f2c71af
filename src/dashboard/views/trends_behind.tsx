/// <reference lib="dom" />
import type { ComponentChildren } from "preact";
import { Behind } from "../behind.tsx";
import type { ChartPoint } from "../chart_lines.ts";
import { OTHER } from "../filter_fields.ts";
import { addDays, type Dates, hasValue, type Interval } from "../location_query.ts";
import { currentDates } from "../location_state.ts";
import type { TrendLine, TrendsReply } from "./trends_lines.ts";

/** Measures that count people, or what they did. */
export const COUNTS = ["total", "visitors"];

/** The days of a bucket that lie in the range; null: it is less than a day. */
export function datesOfBucket(label: string, interval: Interval, range: Dates): Dates | null {
  if (interval === "hour") return null;
  const first = label.length === 7 ? `${label}-01` : label;
  const last = interval === "day"
    ? first
    : interval === "week"
    ? addDays(first, 6)
    : addDays(`${addDays(first, 31).slice(0, 7)}-01`, -1);
  return {
    from: first < range.from ? range.from : first,
    to: last > range.to ? range.to : last,
  };
}

interface PointCountProps {
  readonly reply: TrendsReply;
  readonly line: TrendLine;
  readonly point: ChartPoint | undefined;
  readonly children: ComponentChildren;
}

/** A number of a line, linked to the people behind it: those who did the event in that time. */
export function PointCount({ reply: { query }, line, point, children }: PointCountProps) {
  const { event, by, measure, interval } = query;
  const match = event[line.event]!;
  const value = by === null ? null : (JSON.parse(line.key) as [number, string | null])[1];
  const range = point === undefined ? null : datesOfBucket(point.label, interval, currentDates());
  const isLinked = range !== null && (point?.value ?? 0) > 0 && COUNTS.includes(measure) &&
    value !== OTHER;
  return (
    <Behind
      view="people"
      filters={[
        ...match.name === null ? [] : [hasValue("name", match.name)],
        ...match.filters,
        ...by === null ? [] : [hasValue(by, value)],
      ]}
      {...range === null ? {} : { range }}
      of={`People who did it: ${line.name}`}
      isLinked={isLinked}
      isTheirs={measure === "visitors"}
    >
      {children}
    </Behind>
  );
}

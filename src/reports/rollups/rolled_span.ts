import type { Project } from "../../auth/projects.ts";
import { dateAt, dayAt } from "../../query/local_dates.ts";
import { type Range, startOfDay } from "../../query/range.ts";
import { isNarrowed, type Scope, type Span } from "../../query/selection.ts";

/**
 * A span whose unfiltered events (without bots) the rollups count exactly: whole days in the project's time
 * zone, and perhaps a part of a day at the end, which is scanned.
 */
export interface RolledSpan {
  readonly projectId: number;
  readonly timezone: string;
  /** Days since 1970-01-01, `[fromDay, toDay)`. */
  readonly fromDay: number;
  readonly toDay: number;
  /** The part of the day `toDay` that belongs to the span; null: the span ends at midnight. */
  readonly tail: Span | null;
  readonly span: Span;
  readonly daysAt: (instantsMs: readonly number[]) => number[];
  readonly endOfDayMs: (ms: number) => number;
}

/** Returns the span of a range; null: the rollups cannot answer for it. */
export function rolledSpan(
  scope: Scope,
  project: Pick<Project, "timezone">,
  range: Range,
): RolledSpan | null {
  const { timezone } = range;
  if (isNarrowed(scope) || scope.bots !== "exclude") return null;
  if (timezone !== project.timezone) return null;
  const [fromMs, toMs] = [range.from.getTime(), range.to.getTime()];
  if (startOfDay(dateAt(fromMs, timezone), timezone).getTime() !== fromMs) return null;
  const midnightMs = startOfDay(dateAt(toMs, timezone), timezone).getTime();
  return {
    projectId: scope.projectId,
    timezone,
    fromDay: dayAt(fromMs, timezone),
    toDay: dayAt(toMs, timezone),
    tail: midnightMs === toMs ? null : { fromMs: midnightMs, toMs },
    span: { fromMs, toMs },
    daysAt: (instantsMs) => instantsMs.map((ms) => dayAt(ms, timezone)),
    endOfDayMs: (ms) => startOfDay(dateAt(ms, timezone).add({ days: 1 }), timezone).getTime(),
  };
}

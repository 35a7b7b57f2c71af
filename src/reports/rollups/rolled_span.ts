import type { Project } from "../../auth/projects.ts";
import { dateAt, dayAt } from "../../query/local_dates.ts";
import { type Range, spanOf, startOfDay } from "../../query/range.ts";
import { isNarrowed, type Scope } from "../../query/selection.ts";

/**
 * A span whose unfiltered events (without bots) the rollups count exactly: whole days in the project's time
 * zone, and perhaps a part of a day at the end, which is scanned.
 */
export type RolledSpan = NonNullable<ReturnType<typeof rolledSpan>>;

/** Returns the span of a range; null: the rollups cannot answer for it. */
export function rolledSpan(scope: Scope, project: Pick<Project, "timezone">, range: Range) {
  const { timezone } = range;
  if (isNarrowed(scope) || scope.bots !== "exclude") return null;
  if (timezone !== project.timezone) return null;
  const { fromMs, toMs } = spanOf(range);
  if (startOfDay(dateAt(fromMs, timezone), timezone).getTime() !== fromMs) return null;
  const midnightMs = startOfDay(dateAt(toMs, timezone), timezone).getTime();
  return {
    projectId: scope.projectId,
    timezone,
    /** Days since 1970-01-01, `[fromDay, toDay)`. */
    fromDay: dayAt(fromMs, timezone),
    toDay: dayAt(toMs, timezone),
    /** The part of the day `toDay` that belongs to the span; null: the span ends at midnight. */
    tail: midnightMs === toMs ? null : { fromMs: midnightMs, toMs },
    span: spanOf(range),
    daysAt: (instantsMs: readonly number[]) => instantsMs.map((ms) => dayAt(ms, timezone)),
    endOfDayMs: (ms: number) =>
      startOfDay(dateAt(ms, timezone).add({ days: 1 }), timezone).getTime(),
  };
}

/** A span of days, by their numbers; the last one is included. */
export interface DaySpan {
  readonly first: number;
  readonly last: number;
}

/** Returns the spans in order; those that overlap or are adjacent become one. */
export function joinedSpans(spans: readonly DaySpan[]): DaySpan[] {
  const joined: DaySpan[] = [];
  for (const { first, last } of spans.toSorted((a, b) => a.first - b.first)) {
    const before = joined.at(-1);
    if (before === undefined || first > before.last + 1) joined.push({ first, last });
    else joined[joined.length - 1] = { ...before, last: Math.max(before.last, last) };
  }
  return joined;
}

/** Yields the days of joined spans. */
export function* daysIn(spans: readonly DaySpan[]): Generator<number> {
  for (const { first, last } of spans) for (let day = first; day <= last; day++) yield day;
}

/** Counts the days of joined spans; with `before`, only those before that day. */
export function dayCountOf(spans: readonly DaySpan[], before = Infinity): number {
  return spans.reduce(
    (sum, { first, last }) => sum + Math.max(0, Math.min(last + 1, before) - first),
    0,
  );
}

/** Whether one of the spans contains the day. */
export function containsDay(spans: readonly DaySpan[], day: number): boolean {
  return spans.some(({ first, last }) => first <= day && day <= last);
}

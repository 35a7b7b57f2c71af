import { type ActorCondition, daysOf, type NamedSpan, type Within } from "./actor_condition.ts";
import type { EventMatch } from "./filters.ts";
import { localTime } from "./local_dates.ts";
import { boundOf, type Range, spanOf, startOfDay } from "./range.ts";
import type { Span } from "./selection.ts";

/** How often an actor did something in a span. */
export interface Done {
  readonly did: EventMatch;
  readonly atLeast: number;
  /** Null: no bound. */
  readonly atMost: number | null;
  readonly span: Span;
}

/** When the first event ever of an actor was. */
export interface FirstSeen {
  readonly firstSeen: Span;
}

/** A condition on actors in one read: goals are replaced by their events, spans by instants. */
export type ResolvedCondition =
  | { readonly all: readonly ResolvedCondition[] }
  | { readonly any: readonly ResolvedCondition[] }
  | { readonly not: ResolvedCondition }
  | Done
  | FirstSeen;

/** Resolves a named span; it is empty where the zone skipped its only day. */
function namedSpan({ from, to }: NamedSpan, timezone: string): Span {
  const [first, last] = [boundOf(from)!, boundOf(to)!];
  return spanOf({
    from: first instanceof Date ? first : startOfDay(first, timezone),
    to: last instanceof Date ? last : startOfDay(last.add({ days: 1 }), timezone),
  });
}

/** Returns the last `days` local days up to the end of a range. */
function lastDays({ to, toDate, timezone }: Range, days: number): Span {
  if (toDate !== null) {
    return spanOf({ from: startOfDay(toDate.subtract({ days: days - 1 }), timezone), to });
  }
  const from = localTime(to.getTime(), timezone).subtract({ days });
  return { fromMs: from.epochMilliseconds, toMs: to.getTime() };
}

function spanWithin(within: Within, range: Range): Span {
  const days = daysOf(within);
  if (days !== null) return lastDays(range, days);
  return typeof within === "string" ? spanOf(range) : namedSpan(within, range.timezone);
}

/**
 * Resolves a condition for a read of this range.
 * @param matchOf returns the events of a goal by its slug; throws if there is none
 */
export function resolveCondition(
  condition: ActorCondition,
  range: Range,
  matchOf: (goal: string) => EventMatch,
): ResolvedCondition {
  const resolved = (one: ActorCondition) => resolveCondition(one, range, matchOf);
  if ("all" in condition) return { all: condition.all.map(resolved) };
  if ("any" in condition) return { any: condition.any.map(resolved) };
  if ("not" in condition) return { not: resolved(condition.not) };
  if ("firstSeen" in condition) {
    return { firstSeen: namedSpan(condition.firstSeen, range.timezone) };
  }
  const span = spanWithin(condition.within ?? "range", range);
  if ("goal" in condition) return { did: matchOf(condition.goal), atLeast: 1, atMost: null, span };
  const { did, atLeast, atMost } = condition;
  // `atMost` alone also holds for actors who never did it.
  return { did, atLeast: atLeast ?? (atMost === undefined ? 1 : 0), atMost: atMost ?? null, span };
}

import { instantText, type Range, rangeOf } from "./calendar.ts";
import {
  type EventMatch,
  type Filter,
  passesBots,
  type ReadParams,
  takes,
  within,
} from "./filters.ts";
import type { GoalDefinition } from "./goals.ts";
import { actorsOf, type Fact, groupBy, historyOf, type World } from "./world.ts";

/** Local dates, both inclusive, or instants. */
export interface NamedSpan {
  readonly from: string;
  readonly to: string;
}

/** A match whose name null is any. */
type Match = Omit<EventMatch, "name"> & { readonly name: string | null };

type Within = "range" | `${number}d` | NamedSpan;

export type Condition =
  | { readonly all: readonly Condition[] }
  | { readonly any: readonly Condition[] }
  | { readonly not: Condition }
  | {
    readonly did: string | Match;
    readonly atLeast?: number;
    readonly atMost?: number;
    readonly within?: Within;
  }
  | { readonly firstSeen: NamedSpan }
  | { readonly goal: string; readonly within?: Within };

export interface SegmentDefinition {
  readonly slug: string;
  readonly title: string;
  readonly filters?: readonly Filter[];
  readonly actors?: Condition | null;
}

/** Of one actor, what a condition is asked of. */
interface Asked {
  readonly world: World;
  readonly params: ReadParams;
  readonly range: Range;
  readonly goals: readonly GoalDefinition[];
  readonly facts: readonly Fact[];
  readonly firstSeenMs: number | undefined;
}

function spanOf({ world, range }: Asked, asked: Within = "range"): Pick<Range, "fromMs" | "toMs"> {
  const { timezone, dates } = range;
  if (typeof asked === "object") return rangeOf(world, { ...asked, timezone });
  if (asked === "range") return range;
  const days = Number.parseInt(asked);
  const whole = dates === null ? null : rangeOf(world, {
    from: dates.last.subtract({ days: days - 1 }).toString(),
    to: dates.last.toString(),
    timezone,
  });
  if (whole !== null && whole.toMs === range.toMs) return whole;
  const to = Temporal.Instant.fromEpochMilliseconds(range.toMs).toZonedDateTimeISO(timezone);
  return { fromMs: to.subtract({ days }).epochMilliseconds, toMs: range.toMs };
}

function matchOf(did: string | Match): EventMatch {
  if (typeof did === "string") return { name: did };
  const { name, ...rest } = did;
  return name === null ? rest : { ...rest, name };
}

/** How many events of the actor match in the span: by `bots`, and under no filter. */
function timesDone(asked: Asked, match: EventMatch, when?: Within): number {
  const { world, params, facts } = asked;
  return facts.filter((fact) => passesBots(fact, params.bots)).filter(within(spanOf(asked, when)))
    .filter(takes(world, {}, match)).length;
}

function holdsOf(condition: Condition, asked: Asked): boolean {
  if ("all" in condition) return condition.all.every((part) => holdsOf(part, asked));
  if ("any" in condition) return condition.any.some((part) => holdsOf(part, asked));
  if ("not" in condition) return !holdsOf(condition.not, asked);
  if ("firstSeen" in condition) {
    const { fromMs, toMs } = spanOf(asked, condition.firstSeen);
    const { firstSeenMs } = asked;
    return firstSeenMs !== undefined && firstSeenMs >= fromMs && firstSeenMs < toMs;
  }
  if ("goal" in condition) {
    const { match } = asked.goals.find(({ slug }) => slug === condition.goal)!;
    return timesDone(asked, match, condition.within) > 0;
  }
  const times = timesDone(asked, matchOf(condition.did), condition.within);
  const { atLeast, atMost } = condition;
  return times >= (atLeast ?? (atMost === undefined ? 1 : 0)) && times <= (atMost ?? Infinity);
}

/** Those for whom a condition holds in a range. */
export function actorsFor(
  world: World,
  params: ReadParams,
  range: Range,
  condition: Condition,
  goals: readonly GoalDefinition[],
): Set<string> {
  const { facts, firstSeenMs } = historyOf(world);
  const ofActors = groupBy(facts, ({ actor }) => actor);
  return new Set([...actorsOf(facts)].filter((actor) => {
    const own = { facts: ofActors.get(actor)!, firstSeenMs: firstSeenMs.get(actor) };
    return holdsOf(condition, { world, params, range, goals, ...own });
  }));
}

/**
 * The same question of a world without anybody else: what is said of an actor depends on no other
 * one's events. The segment's filters hold beside the read's; daily sums tell nobody apart.
 * @param range of the read
 */
export function segmented<P extends ReadParams>(
  world: World,
  params: P,
  slug: string | undefined,
  range: Range,
  goals: readonly GoalDefinition[],
): { readonly world: World; readonly params: P } {
  if (slug === undefined) return { world, params };
  const { filters = [], actors = null } = world.segments!.find((one) => one.slug === slug)!;
  const asked = { ...params, filters: [...filters, ...params.filters ?? []] };
  if (actors === null) return { world, params: asked };
  const chosen = actorsFor(world, params, range, actors, goals);
  const events = historyOf(world).facts.filter(({ actor }) => chosen.has(actor))
    .map(({ row }) => row);
  return { world: { ...world, events, imported: [], whole: world }, params: asked };
}

/** Parameters that name a range by its instants. */
export function inRange<P extends ReadParams>(
  params: P,
  { fromMs, toMs, timezone }: Range,
): P {
  return { ...params, from: instantText(fromMs), to: instantText(toMs), timezone };
}

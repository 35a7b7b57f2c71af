import { rangeOf, windowMs } from "./calendar.ts";
import {
  countingSessions,
  type EventMatch,
  lookedAt,
  passesBots,
  type ReadParams,
  takes,
  within,
} from "./filters.ts";
import { byValue, type Fact, groupBy, isPageView, type World } from "./world.ts";

type Place = string | { readonly path: string } | (EventMatch & { readonly path?: never });

export interface JourneyParams extends ReadParams {
  readonly start?: Place;
  readonly end?: Place;
  readonly by?: "path" | "name" | "both";
  readonly steps?: number;
  readonly top?: number;
  readonly scope?: "session" | "actor";
  readonly window?: string;
}

interface Value {
  readonly kind: "path" | "name" | "other" | "end";
  readonly value: string | null;
}

/** One session's or actor's way: its steps, as they are followed. */
type Way = readonly Value[];

interface Rules {
  readonly isStart: ((fact: Fact) => boolean) | null;
  readonly isEnd: ((fact: Fact) => boolean) | null;
  readonly valueOf: (fact: Fact) => Value | null;
  /** Whether the way may begin, or end, with this event: of actors, only in the range. */
  readonly isInRange: (fact: Fact) => boolean;
  readonly windowMs: number;
}

const OTHER: Value = { kind: "other", value: "$other" };
const END: Value = { kind: "end", value: "$end" };

/** `GET /v1/journeys`. */
export function readJourneys(world: World, params: JourneyParams) {
  const { steps = 5, top = 8 } = params;
  const ways = waysOf(world, params).map((way) => way.slice(0, steps));
  const nodes = Array.from({ length: steps }, (_, i) => nodesOf(ways, i, top));
  const shown = (way: Way, i: number): Value | null => {
    if (i > way.length) return null;
    if (i === way.length) return END;
    return nodes[i]!.find((node) => isSame(node, way[i]!)) ?? OTHER;
  };
  const links = nodes.slice(1).flatMap((to, i) =>
    nodes[i]!.flatMap((from) =>
      to.map((next) => ({
        step: i + 1,
        from: from.value,
        fromKind: from.kind,
        to: next.value,
        toKind: next.kind,
        count: ways.filter((way) => isSame(shown(way, i), from) && isSame(shown(way, i + 1), next))
          .length,
      }))
    )
  );
  return {
    total: ways.length,
    nodes: nodes.flatMap((some, i) => some.map((node) => ({ step: i + 1, ...node }))),
    links: links.filter(({ count }) => count > 0),
  };
}

function isSame(a: Value | null, b: Value | null): boolean {
  return a?.kind === b?.kind && a?.value === b?.value;
}

function nodesOf(ways: readonly Way[], step: number, top: number) {
  const found = ways.flatMap((way) => way.length > step ? [way[step]!] : []);
  const told = [...groupBy(found, ({ kind, value }) => JSON.stringify([kind, value])).values()]
    .map((some) => ({ ...some[0]!, count: some.length }))
    .sort((a, b) =>
      b.count - a.count || byValue(a.value, b.value) ||
      Number(a.kind === "name") - Number(b.kind === "name")
    ).slice(0, top);
  const others = found.length - told.reduce((sum, { count }) => sum + count, 0);
  const ended = ways.filter((way) => way.length === step).length;
  return [...told, { ...OTHER, count: others }, { ...END, count: ended }]
    .filter(({ count }) => count > 0);
}

function waysOf(world: World, params: JourneyParams): Way[] {
  const { scope = "session", window = "1d" } = params;
  const range = rangeOf(world, params);
  // Technical events are the start or the end where these name them, and nothing else.
  const isCounted = takes(world, params, {});
  const rules: Rules = {
    isStart: testOf(world, params, params.start),
    isEnd: testOf(world, params, params.end),
    valueOf: (fact) => isCounted(fact) ? valueOf(params, fact) : null,
    isInRange: scope === "session" ? () => true : within(range),
    windowMs: scope === "session" ? Infinity : windowMs(window),
  };
  const ways = scope === "session"
    ? countingSessions(world, params, range).map(({ facts }) => wayOf(facts, rules))
    // Filters and bots narrow each event of an actor.
    : [...groupBy(lookedAt(world, params), ({ actor }) => actor).values()]
      .map((facts) => wayOf(facts, rules));
  return ways.filter((way) => way.length > 0);
}

function matchOf(place: Place): EventMatch {
  if (typeof place === "string") return { name: place };
  if (place.path === undefined) return place;
  const filters = [{ field: "path", op: "is" as const, values: [place.path] }];
  return { name: "page_view", filters };
}

function testOf(world: World, params: JourneyParams, place: Place | undefined) {
  if (place === undefined) return null;
  const isTaken = takes(world, params, matchOf(place));
  return (fact: Fact) => passesBots(fact, params.bots) && isTaken(fact);
}

function valueOf({ by = "path", start, end }: JourneyParams, fact: Fact): Value | null {
  const { name, path } = fact.row;
  if (isPageView(fact) && by !== "name") return { kind: "path", value: path };
  if (by === "path") return null;
  const named = [start, end].map((place) => place === undefined ? null : matchOf(place).name);
  if ((name === "click" || name === "scroll") && !named.includes(name)) return null;
  return { kind: "name", value: name };
}

/** The start and the end are steps whatever they are. */
function anchorOf(fact: Fact, { valueOf }: Rules): Value {
  return valueOf(fact) ?? { kind: "name", value: fact.row.name };
}

/** The steps in the order in which they are followed; none where there is no such way. */
function wayOf(facts: readonly Fact[], rules: Rules): Value[] {
  const { isStart, isEnd } = rules;
  return isStart === null && isEnd !== null ? wayBack(facts, rules, isEnd) : wayForth(facts, rules);
}

function wayForth(facts: readonly Fact[], rules: Rules): Value[] {
  const { isStart, isEnd, isInRange } = rules;
  const begins = (fact: Fact) =>
    isInRange(fact) && (isStart === null ? rules.valueOf(fact) !== null : isStart(fact));
  const first = facts.findIndex(begins);
  if (first === -1) return [];
  const later = facts.slice(first + 1)
    .filter(({ atMs }) => atMs - facts[first]!.atMs <= rules.windowMs);
  const start = anchorOf(facts[first]!, rules);
  if (isEnd === null) return merged([start, ...later.map(rules.valueOf)]);
  const last = later.findIndex(isEnd);
  if (last === -1) return [];
  return merged([
    start,
    ...later.slice(0, last).map(rules.valueOf),
    anchorOf(later[last]!, rules),
  ]);
}

function wayBack(
  facts: readonly Fact[],
  rules: Rules,
  isEnd: (fact: Fact) => boolean,
): Value[] {
  const last = facts.findIndex((fact) => rules.isInRange(fact) && isEnd(fact));
  if (last === -1) return [];
  const before = facts.slice(0, last)
    .filter(({ atMs }) => facts[last]!.atMs - atMs <= rules.windowMs);
  return merged([...before.map(rules.valueOf), anchorOf(facts[last]!, rules)]).reverse();
}

/** Equal values in a row are one step. */
function merged(values: readonly (Value | null)[]): Value[] {
  const known = values.filter((value) => value !== null);
  return known.filter((value, i) => i === 0 || !isSame(value, known[i - 1]!));
}

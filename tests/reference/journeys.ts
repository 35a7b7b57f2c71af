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
import { byValue, type Fact, groupBy, isPageView, type Session, type World } from "./world.ts";

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

export interface Value {
  readonly kind: "path" | "name" | "other" | "end";
  readonly value: string | null;
}

/** One session's or actor's way: its steps, as they are followed. */
type Way = readonly Value[];

/** Whose a way is: with its session, and when the event was from which it is followed. */
export interface FoundWay {
  readonly steps: Way;
  readonly actor: string;
  readonly session: Session | null;
  readonly atMs: number;
}

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

/** The ways, as far as they are told. */
export function foundWays(world: World, params: JourneyParams): FoundWay[] {
  const { steps = 5 } = params;
  return waysOf(world, params).map((way) => ({ ...way, steps: way.steps.slice(0, steps) }));
}

/** What a way has at each step, counted from 0, as the answer tells it; null: it ended before. */
export function shownAt(ways: readonly Way[], { steps = 5, top = 8 }: JourneyParams) {
  const nodes = Array.from({ length: steps }, (_, i) => nodesOf(ways, i, top));
  const shown = (way: Way, i: number): Value | null => {
    if (i > way.length) return null;
    if (i === way.length) return END;
    return nodes[i]!.find((node) => isSame(node, way[i]!)) ?? OTHER;
  };
  return { nodes, shown };
}

/** `GET /v1/journeys`. */
export function readJourneys(world: World, params: JourneyParams) {
  const ways = foundWays(world, params).map(({ steps }) => steps);
  const { nodes, shown } = shownAt(ways, params);
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

export function isSame(a: Value | null, b: Value | null): boolean {
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

function waysOf(world: World, params: JourneyParams): FoundWay[] {
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
  if (scope === "session") {
    return countingSessions(world, params, range).flatMap((session) => {
      const { steps } = wayOf(session.facts, rules);
      const { actor, startMs } = session;
      return steps.length === 0 ? [] : [{ steps, actor, session, atMs: startMs }];
    });
  }
  // Filters and bots narrow each event of an actor.
  const ofActors = groupBy(lookedAt(world, params), ({ actor }) => actor);
  return [...ofActors].flatMap(([actor, facts]) => {
    const { steps, from } = wayOf(facts, rules);
    return from === null ? [] : [{ steps, actor, session: null, atMs: from.atMs }];
  });
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

/** The steps in the order in which they are followed, and the event from which; none where there is no such way. */
interface OwnWay {
  readonly steps: readonly Value[];
  readonly from: Fact | null;
}

const NO_WAY: OwnWay = { steps: [], from: null };

function wayOf(facts: readonly Fact[], rules: Rules): OwnWay {
  const { isStart, isEnd } = rules;
  return isStart === null && isEnd !== null ? wayBack(facts, rules, isEnd) : wayForth(facts, rules);
}

function wayForth(facts: readonly Fact[], rules: Rules): OwnWay {
  const { isStart, isEnd, isInRange } = rules;
  const begins = (fact: Fact) =>
    isInRange(fact) && (isStart === null ? rules.valueOf(fact) !== null : isStart(fact));
  const first = facts.findIndex(begins);
  if (first === -1) return NO_WAY;
  const from = facts[first]!;
  const later = facts.slice(first + 1)
    .filter(({ atMs }) => atMs - from.atMs <= rules.windowMs);
  const start = anchorOf(from, rules);
  if (isEnd === null) return { from, steps: merged([start, ...later.map(rules.valueOf)]) };
  const last = later.findIndex(isEnd);
  if (last === -1) return NO_WAY;
  const steps = merged([
    start,
    ...later.slice(0, last).map(rules.valueOf),
    anchorOf(later[last]!, rules),
  ]);
  return { from, steps };
}

function wayBack(
  facts: readonly Fact[],
  rules: Rules,
  isEnd: (fact: Fact) => boolean,
): OwnWay {
  const last = facts.findIndex((fact) => rules.isInRange(fact) && isEnd(fact));
  if (last === -1) return NO_WAY;
  const from = facts[last]!;
  const before = facts.slice(0, last)
    .filter(({ atMs }) => from.atMs - atMs <= rules.windowMs);
  return { from, steps: merged([...before.map(rules.valueOf), anchorOf(from, rules)]).reverse() };
}

/** Equal values in a row are one step. */
function merged(values: readonly (Value | null)[]): Value[] {
  const known = values.filter((value) => value !== null);
  return known.filter((value, i) => i === 0 || !isSame(value, known[i - 1]!));
}

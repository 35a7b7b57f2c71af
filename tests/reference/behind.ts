import type { AcquisitionField } from "./acquisition.ts";
import { periodAt, rangeOf } from "./calendar.ts";
import {
  countingSessions,
  fieldText,
  lookedAt,
  matches,
  passesBots,
  type ReadParams,
  selectedInRange,
  sessionValue,
  takes,
} from "./filters.ts";
import { type FunnelParams, type Outcome, outcomesOf } from "./funnel.ts";
import type { GoalDefinition } from "./goals.ts";
import { factsAt, type HeatmapPlace, type OwnOfHeatmap } from "./heatmap.ts";
import { type FoundWay, foundWays, isSame, type JourneyParams, shownAt } from "./journeys.ts";
import { livePeople } from "./live.ts";
import { matchOf, type RetentionParams } from "./retention.ts";
import { type Fact, historyOf, type Session, type World } from "./world.ts";

type Own<P> = Omit<P, keyof ReadParams>;

export interface OfFunnel extends Own<FunnelParams> {
  readonly read: "funnels";
  readonly place:
    & { readonly value?: string | null }
    & (
      | { readonly step: number }
      | { readonly lost: number }
      | { readonly ended: "excluded" | "open" }
    );
}

export interface OfRetention extends Own<RetentionParams> {
  readonly read: "retention";
  readonly interval: "day" | "week" | "month";
  readonly place: { readonly cohort: string; readonly period?: number };
}

export interface OfJourney extends Own<JourneyParams> {
  readonly read: "journeys";
  readonly place: {
    readonly way: readonly {
      readonly step: number;
      readonly kind: "path" | "name" | "other" | "end";
      readonly value?: string | null;
    }[];
  };
}

export interface OfAcquisition {
  readonly read: "acquisition";
  readonly by: AcquisitionField;
  readonly goal?: string;
  readonly place: {
    readonly value: string | null;
    readonly count: "visitors" | "newVisitors" | "sessions" | "conversions";
  };
}

export interface OfKpis {
  readonly read: "kpis";
  readonly place: { readonly count: "newVisitors" | "bounces" };
}

export interface OfHeatmap extends OwnOfHeatmap {
  readonly read: "heatmaps";
  readonly place: HeatmapPlace;
}

export interface OfLive {
  readonly read: "live";
  readonly place: { readonly minutes: 5 | 30; readonly path?: string };
}

/** Numbers that count people, and those that count visits. */
export type OfPeople =
  | OfFunnel
  | OfRetention
  | OfJourney
  | OfAcquisition
  | OfKpis
  | OfHeatmap
  | OfLive;
export type OfVisits = OfJourney | OfAcquisition | OfKpis;

/** The shared parameters alone. */
function sharedOf({ from, to, timezone, filters, bots }: ReadParams): ReadParams {
  const shared = { from, to, timezone, filters, bots };
  return Object.fromEntries(
    Object.entries(shared).filter(([, value]) => value !== undefined),
  ) as ReadParams;
}

/** Whom a number counts, each with the moment by which the person came to count. */
export function countedPeople(
  world: World,
  params: ReadParams,
  of: OfPeople,
  goals: readonly GoalDefinition[],
): Map<string, number> {
  const shared = sharedOf(params);
  switch (of.read) {
    case "funnels":
      return ofFunnel(world, shared, of);
    case "retention":
      return ofCohort(world, shared, of);
    case "journeys":
      return new Map(waysOf(world, shared, of).map(({ actor, atMs }) => [actor, atMs]));
    case "acquisition":
      return ofRow(world, shared, of, goals);
    case "kpis":
      return ofNew(world, shared);
    case "heatmaps":
      return ofHeatmap(world, shared, of);
    case "live":
      return livePeople(world, shared, of.place);
  }
}

/** The visits that a number counts. */
export function countedVisits(world: World, params: ReadParams, of: OfVisits): Session[] {
  const shared = sharedOf(params);
  switch (of.read) {
    case "journeys":
      return waysOf(world, shared, of).map(({ session }) => session!);
    case "acquisition":
      return sessionsOf(world, shared, of);
    case "kpis":
      return countingSessions(world, shared).filter(({ bounce }) => bounce);
  }
}

/** New visitors, each by the first event ever. */
function ofNew(world: World, shared: ReadParams): Map<string, number> {
  const { firstSeenMs } = historyOf(world);
  const { fromMs, toMs } = rangeOf(world, shared);
  const people = new Map<string, number>();
  for (const { actor } of selectedInRange(world, shared)) {
    const firstMs = firstSeenMs.get(actor);
    if (firstMs !== undefined && firstMs >= fromMs && firstMs < toMs) people.set(actor, firstMs);
  }
  return people;
}

function ofHeatmap(
  world: World,
  shared: ReadParams,
  { place, ...own }: OfHeatmap,
): Map<string, number> {
  const people = new Map<string, number>();
  for (const { actor, atMs } of factsAt(world, { ...shared, ...own }, place)) {
    if (!people.has(actor)) people.set(actor, atMs);
  }
  return people;
}

function ofFunnel(
  world: World,
  shared: ReadParams,
  { place, ...own }: OfFunnel,
): Map<string, number> {
  const isAt = ({ attempt: { timesMs, died }, open }: Outcome) => {
    if ("step" in place) return timesMs.length >= place.step;
    if ("lost" in place) return timesMs.length === place.lost - 1;
    if (timesMs.length === own.steps.length) return false;
    return place.ended === "excluded" ? died : open && !died;
  };
  const isOfValue = ({ attempt: { entry } }: Outcome) =>
    place.value === undefined || fieldText(entry, own.by!, world) === place.value;
  return new Map(
    outcomesOf(world, { ...shared, ...own }).filter(isAt).filter(isOfValue)
      .map(({ attempt: { entry, timesMs } }) => [
        entry.actor,
        "step" in place ? timesMs[place.step - 1]! : timesMs.at(-1)!,
      ]),
  );
}

function ofCohort(
  world: World,
  shared: ReadParams,
  { place, interval, cohort = "first", criterion = "on", ...own }: OfRetention,
): Map<string, number> {
  const { timezone } = rangeOf(world, shared);
  const past = lookedAt(world, shared).filter(({ atMs }) => atMs <= world.asOfMs);
  let starts: Fact[] = past.filter(takes(world, shared, matchOf(own.start)));
  if (cohort === "first") {
    starts = starts.filter((fact) => starts.find(({ actor }) => actor === fact.actor) === fact);
  }
  const period = periodAt(Date.parse(place.cohort), interval, timezone);
  const members = new Map<string, number>();
  for (const { actor, atMs } of starts) {
    const isIn = atMs >= period.startMs && atMs < period.endMs;
    if (isIn && !members.has(actor)) members.set(actor, atMs);
  }
  if (place.period === undefined) return members;
  let later = period;
  for (let k = 0; k < place.period; k++) later = periodAt(later.endMs, interval, timezone);
  const came = new Set(
    past.filter(takes(world, shared, matchOf(own.return)))
      .filter(({ atMs }) =>
        atMs >= later.startMs && (criterion === "on_or_after" || atMs < later.endMs)
      ).map(({ actor }) => actor),
  );
  return new Map([...members].filter(([actor]) => came.has(actor)));
}

function waysOf(world: World, shared: ReadParams, { place, ...own }: OfJourney): FoundWay[] {
  const params: JourneyParams = { ...shared, ...own };
  const ways = foundWays(world, params);
  const { shown } = shownAt(ways.map(({ steps }) => steps), params);
  return ways.filter(({ steps }) =>
    place.way.every(({ step, kind, value = null }) => {
      if (kind === "end") return steps.length === step - 1;
      if (kind === "other") return shown(steps, step - 1)?.kind === "other";
      return isSame(steps[step - 1] ?? null, { kind, value });
    })
  );
}

function sessionsOf(
  world: World,
  shared: ReadParams,
  { by, place }: OfAcquisition,
): Session[] {
  return countingSessions(world, shared)
    .filter((session) => sessionValue(session, by) === place.value);
}

function ofRow(
  world: World,
  shared: ReadParams,
  of: OfAcquisition,
  goals: readonly GoalDefinition[],
): Map<string, number> {
  const { place: { count }, goal: slug } = of;
  const goal = goals.find((one) => one.slug === slug);
  const converts = (fact: Fact) =>
    passesBots(fact, shared.bots) && matches(fact, goal!.match, world);
  const { firstSeenMs } = historyOf(world);
  const { fromMs, toMs } = rangeOf(world, shared);
  const isNew = (actor: string) =>
    firstSeenMs.get(actor)! >= fromMs && firstSeenMs.get(actor)! < toMs;
  const people = new Map<string, number>();
  const sessions = sessionsOf(world, shared, of).toSorted((a, b) => a.startMs - b.startMs);
  for (const { actor, startMs, facts } of sessions) {
    if (people.has(actor)) continue;
    if (count === "newVisitors" && !isNew(actor)) continue;
    if (count === "conversions" && !facts.some(converts)) continue;
    people.set(actor, startMs);
  }
  return people;
}

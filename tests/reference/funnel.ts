import { rangeOf, windowMs } from "./calendar.ts";
import { type EventMatch, fieldText, lookedAt, type ReadParams, takes, within } from "./filters.ts";
import { median, percentile, type Rate, rate } from "./statistics.ts";
import { byValue, type Fact, groupBy, type World } from "./world.ts";

export interface FunnelStep extends EventMatch {
  readonly name: string;
  readonly label?: string;
}

export interface FunnelParams extends ReadParams {
  readonly steps: readonly FunnelStep[];
  readonly window?: string;
  readonly order?: "ordered" | "strict" | "unordered";
  readonly entry?: "any" | "first";
  readonly exclude?: readonly EventMatch[];
  readonly by?: string;
}

export interface StepResult {
  readonly label: string;
  readonly actors: number;
  readonly conversionFromStart: Rate;
  readonly conversionFromPrevious: Rate;
  readonly dropoff: number;
  readonly secondsFromPrevious: { readonly median: number | null; readonly p90: number | null };
}

export interface FunnelGroup {
  readonly value: string | null;
  readonly entered: number;
  readonly converted: number;
  readonly steps: readonly StepResult[];
}

export interface FunnelResult {
  readonly steps: readonly StepResult[];
  readonly entered: number;
  readonly converted: number;
  readonly excluded: number;
  readonly open: number;
  readonly groups?: readonly FunnelGroup[];
}

/** One actor's way from one entry. */
interface Attempt {
  readonly entry: Fact;
  /** When each step was reached: as many as were. */
  readonly timesMs: readonly number[];
  /** Ended by an excluded event while it waited for a step. */
  readonly died: boolean;
  readonly endMs: number;
}

/** What an actor's attempts come to: the one that counts, and whether any may still go on. */
export interface Outcome {
  readonly attempt: Attempt;
  readonly open: boolean;
}

interface Definition {
  readonly steps: readonly ((fact: Fact) => boolean)[];
  readonly isExcluded: (fact: Fact) => boolean;
  readonly windowMs: number;
  readonly order: "ordered" | "strict" | "unordered";
  /** In strict order, events that do not come between two steps. */
  readonly isPassedOver: (fact: Fact) => boolean;
}

const GROUPS_MAX = 25;

/** What the attempts of each actor who enters come to. */
export function outcomesOf(world: World, params: FunnelParams): Outcome[] {
  const definition = definitionOf(world, params);
  const inRange = within(rangeOf(world, params));
  const enters = (fact: Fact) =>
    inRange(fact) &&
    (definition.order === "unordered"
      ? definition.steps.some((isStep) => isStep(fact))
      : definition.steps[0]!(fact));

  const outcomes: Outcome[] = [];
  for (const events of groupBy(lookedAt(world, params), ({ actor }) => actor).values()) {
    let entries = events.filter(enters);
    if (params.entry === "first") entries = entries.slice(0, 1);
    if (entries.length === 0) continue;
    outcomes.push(outcomeOf(entries.map((entry) => walk(definition, events, entry)), world));
  }
  return outcomes;
}

/** `GET /v1/funnels` with `steps`. */
export function readFunnel(world: World, params: FunnelParams): FunnelResult {
  const outcomes = outcomesOf(world, params);
  const labels = params.steps.map(({ name, label }) => label ?? name);
  const isConverted = ({ attempt }: Outcome) => attempt.timesMs.length === labels.length;
  const count = (test: (outcome: Outcome) => boolean) => outcomes.filter(test).length;
  return {
    steps: stepResults(labels, outcomes),
    entered: outcomes.length,
    converted: count(isConverted),
    excluded: count(({ attempt }) => attempt.died),
    open: count((outcome) => outcome.open && !isConverted(outcome) && !outcome.attempt.died),
    ...params.by === undefined
      ? {}
      : { groups: groupsOf(labels, outcomes, isConverted, params.by, world) },
  };
}

function definitionOf(world: World, params: FunnelParams): Definition {
  const named: readonly string[] = params.steps.map(({ name }) => name);
  const isCounted = takes(world, params, {});
  const { exclude = [] } = params;
  return {
    steps: params.steps.map((step) => remembered(takes(world, params, step))),
    isExcluded: remembered((fact) => exclude.some((match) => takes(world, params, match)(fact))),
    windowMs: windowMs(params.window ?? "7d"),
    order: params.order ?? "ordered",
    isPassedOver: (fact) =>
      !named.includes(fact.row.name) &&
      (["scroll", "click"].includes(fact.row.name) || !isCounted(fact)),
  };
}

/** Every attempt asks anew what is the same for all. */
function remembered(test: (fact: Fact) => boolean): (fact: Fact) => boolean {
  const answers = new Map<Fact, boolean>();
  return (fact) => {
    let answer = answers.get(fact);
    if (answer === undefined) answers.set(fact, answer = test(fact));
    return answer;
  };
}

/** The deepest attempt counts, among equally deep ones the earliest. */
function outcomeOf(attempts: readonly Attempt[], world: World): Outcome {
  let best = attempts[0]!;
  for (const attempt of attempts) {
    if (attempt.timesMs.length > best.timesMs.length) best = attempt;
  }
  return { attempt: best, open: attempts.some(({ endMs }) => endMs > world.asOfMs) };
}

/**
 * Follows an actor from one entry. `events` are all the actor's events that are looked at, in
 * order; the window is inclusive, and may end past the range.
 */
function walk(definition: Definition, events: readonly Fact[], entry: Fact): Attempt {
  const endMs = entry.atMs + definition.windowMs;
  const later = events.slice(events.indexOf(entry) + 1).filter(({ atMs }) => atMs <= endMs);
  const path = definition.order === "unordered"
    ? collect(definition, entry, later)
    : follow(definition, entry, later);
  return { entry, endMs, ...path };
}

type Path = Pick<Attempt, "timesMs" | "died">;

/** Step by step: each at the first event that is it. */
function follow(definition: Definition, entry: Fact, later: readonly Fact[]): Path {
  const timesMs = [entry.atMs];
  for (const fact of later) {
    const isNext = definition.steps[timesMs.length];
    if (isNext === undefined) break;
    if (definition.isExcluded(fact)) return { timesMs, died: true };
    if (isNext(fact)) timesMs.push(fact.atMs);
    else if (definition.order === "strict" && !definition.isPassedOver(fact)) break;
  }
  return { timesMs, died: false };
}

/** In any order: step k is reached when k different steps can be given an event each. */
function collect(definition: Definition, entry: Fact, later: readonly Fact[]): Path {
  const seen = [entry];
  const timesMs = [entry.atMs];
  for (const fact of later) {
    if (timesMs.length === definition.steps.length) break;
    if (definition.isExcluded(fact)) return { timesMs, died: true };
    if (!definition.steps.some((isStep) => isStep(fact))) continue;
    seen.push(fact);
    if (assignable(definition.steps, seen) > timesMs.length) timesMs.push(fact.atMs);
  }
  return { timesMs, died: false };
}

/** The most steps that can be given an event each, no event being given twice. */
function assignable(
  steps: readonly ((fact: Fact) => boolean)[],
  facts: readonly Fact[],
): number {
  const stepOf = new Map<Fact, number>();
  const assign = (step: number, tried: Set<Fact>): boolean => {
    for (const fact of facts) {
      if (tried.has(fact) || !steps[step]!(fact)) continue;
      tried.add(fact);
      const holder = stepOf.get(fact);
      // An event that is taken is free again if its step finds another.
      if (holder === undefined || assign(holder, tried)) {
        stepOf.set(fact, step);
        return true;
      }
    }
    return false;
  };
  return steps.filter((_, step) => assign(step, new Set())).length;
}

function stepResults(labels: readonly string[], outcomes: readonly Outcome[]): StepResult[] {
  const times = outcomes.map(({ attempt }) => attempt.timesMs);
  const reached = labels.map((_, step) => times.filter(({ length }) => length > step));
  const entered = outcomes.length;
  return labels.map((label, step): StepResult => {
    const actors = reached[step]!.length;
    const before = reached[step - 1]?.length ?? entered;
    const seconds = step === 0
      ? []
      : reached[step]!.map((timesMs) => (timesMs[step]! - timesMs[step - 1]!) / 1000);
    return {
      label,
      actors,
      conversionFromStart: rate(actors, entered),
      conversionFromPrevious: rate(actors, before),
      dropoff: before - actors,
      secondsFromPrevious: { median: median(seconds), p90: percentile(seconds, 0.9) },
    };
  });
}

function groupsOf(
  labels: readonly string[],
  outcomes: readonly Outcome[],
  isConverted: (outcome: Outcome) => boolean,
  by: string,
  world: World,
): FunnelGroup[] {
  const group = (value: string | null, own: readonly Outcome[]): FunnelGroup => ({
    value,
    entered: own.length,
    converted: own.filter(isConverted).length,
    steps: stepResults(labels, own),
  });
  const byEntry = groupBy(outcomes, ({ attempt }) => fieldText(attempt.entry, by, world));
  const groups = [...byEntry].map(([value, own]) => group(value, own)).sort((a, b) =>
    b.entered - a.entered || b.converted - a.converted || byValue(a.value, b.value)
  );
  const top = groups.slice(0, GROUPS_MAX);
  const rest = groups.slice(GROUPS_MAX).flatMap(({ value }) => byEntry.get(value)!);
  return rest.length === 0 ? top : [...top, group("$other", rest)];
}

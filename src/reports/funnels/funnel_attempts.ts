import type { FunnelDefinition } from "./funnel_definition.ts";

/** Bits of an event's mask above those of the steps; step 1 has bit 0. */
export const EXCLUDED = 1 << 10;
/** With strict order: the event breaks the sequence of two steps. */
export const BETWEEN = 1 << 11;

/** The events of one actor in order of time: when each was, and the mask of the steps that it is. */
export interface ActorEvents {
  readonly length: number;
  readonly ms: Float64Array;
  readonly masks: Uint16Array;
}

export interface AttemptRules extends Pick<FunnelDefinition, "order" | "entry"> {
  readonly stepCount: number;
  readonly windowMs: number;
  /** Entries lie in `[fromMs, toMs)`. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** The attempt of an actor that counts. Its numbers are indexes of the actor's events. */
interface Attempt {
  readonly entry: number;
  /** The event of each step that was reached, the entry first. */
  readonly events: readonly number[];
  /** Whether an excluded event ended it while it waited for a step. */
  readonly died: boolean;
  /** The actor's last entry, of whichever attempt. */
  readonly lastEntry: number;
}

type Walk = Pick<Attempt, "events" | "died">;

/** Returns the indexes of the events by which the actor enters, in order. */
function entriesOf(events: ActorEvents, rules: AttemptRules): number[] {
  const entering = rules.order === "unordered" ? (1 << rules.stepCount) - 1 : 1;
  const entries: number[] = [];
  for (let i = 0; i < events.length; i++) {
    const at = events.ms[i]!;
    if ((events.masks[i]! & entering) === 0 || at < rules.fromMs || at >= rules.toMs) continue;
    entries.push(i);
    if (rules.entry === "first") break;
  }
  return entries;
}

/** Memory reused from actor to actor: allocating it takes longer than following most actors. */
const KEPT_PLACES = new Int32Array(65_536);

/**
 * Returns for each step and event the next event that decides an attempt waiting for that step: the
 * step itself, an excluded event, or in strict order one that comes between. -1: there is none.
 */
function noticedNext(
  { length, masks }: ActorEvents,
  { stepCount, order }: AttemptRules,
): Int32Array {
  const room = length * stepCount;
  const next = room <= KEPT_PLACES.length ? KEPT_PLACES : new Int32Array(room);
  const ending = order === "strict" ? EXCLUDED | BETWEEN : EXCLUDED;
  for (let step = 1; step < stepCount; step++) {
    const noticed = ending | 1 << step;
    let ahead = -1;
    for (let i = length - 1; i >= 0; i--) {
      next[step * length + i] = ahead;
      if ((masks[i]! & noticed) !== 0) ahead = i;
    }
  }
  return next;
}

/** Finds the deepest attempt of steps in order: from each entry one hop per step. */
function bestInOrder(events: ActorEvents, rules: AttemptRules, entries: readonly number[]): Walk {
  const { stepCount, windowMs } = rules;
  const { length, ms, masks } = events;
  const next = noticedNext(events, rules);
  /** Returns the event that continues an attempt waiting at `place` for a step; -1: none, -2: it dies. */
  const hop = (place: number, step: number, endMs: number): number => {
    const noticed = next[step * length + place]!;
    if (noticed < 0 || ms[noticed]! > endMs) return -1;
    if ((masks[noticed]! & EXCLUDED) !== 0) return -2;
    return (masks[noticed]! & 1 << step) === 0 ? -1 : noticed;
  };
  let [best, bestDepth] = [entries[0]!, 0];
  for (let i = 0; i < entries.length && bestDepth < stepCount; i++) {
    const endMs = ms[entries[i]!]! + windowMs;
    let depth = 1;
    for (let at = entries[i]!; depth < stepCount; depth++) {
      at = hop(at, depth, endMs);
      if (at < 0) break;
    }
    if (depth > bestDepth) [best, bestDepth] = [entries[i]!, depth];
  }
  const places = [best];
  let at = best;
  while (places.length < stepCount) {
    at = hop(at, places.length, ms[best]! + windowMs);
    if (at < 0) break;
    places.push(at);
  }
  return { events: places, died: at === -2 };
}

/**
 * Returns those of the events, taken in order, that raise how many steps can have an event of their
 * own: a bipartite matching, by augmenting paths. Up to any moment as many are taken as is possible
 * at all: events that can each have a step of their own form a transversal matroid (Edmonds and
 * Fulkerson 1965), in which taking greedily is optimal.
 */
function raising(places: readonly number[], masks: Uint16Array, stepCount: number): number[] {
  const owners = new Int32Array(stepCount).fill(-1);
  let tried = 0;
  const give = (place: number): boolean => {
    for (let step = 0; step < stepCount; step++) {
      const bit = 1 << step;
      if ((masks[place]! & bit) === 0 || (tried & bit) !== 0) continue;
      tried |= bit;
      const owner = owners[step]!;
      if (owner >= 0 && !give(owner)) continue;
      owners[step] = place;
      return true;
    }
    return false;
  };
  return places.filter((place) => {
    tried = 0;
    return give(place);
  });
}

/**
 * Returns what `raising` returns for `raised` with one event put before it. Where that event can be
 * one step only, at most one other drops out: the one that can be only the same step.
 */
function raisingBefore(
  place: number,
  raised: number[],
  masks: Uint16Array,
  stepCount: number,
): number[] {
  const steps = (1 << stepCount) - 1;
  const mask = masks[place]! & steps;
  let [same, sharing] = [raised.length, 0];
  for (let i = 0; i < raised.length; i++) {
    const other = masks[raised[i]!]! & steps;
    if (other === mask) same = i;
    else sharing |= other & mask;
  }
  const isOneStep = (mask & mask - 1) === 0;
  if (!isOneStep || same === raised.length && sharing !== 0) {
    return raising([place, ...raised], masks, stepCount);
  }
  for (let i = same; i > 0; i--) raised[i] = raised[i - 1]!;
  raised[0] = place;
  return raised;
}

/**
 * Finds the deepest attempt of steps in any order. It goes back in time and keeps the events that
 * raise the number of steps from there on: never more than there are steps, since an event that has
 * dropped out does not come back when earlier ones are put before it.
 */
function bestInAnyOrder(
  events: ActorEvents,
  rules: AttemptRules,
  entries: readonly number[],
): Walk {
  const { stepCount, windowMs } = rules;
  const { length, ms, masks } = events;
  const steps = (1 << stepCount) - 1;
  const best: number[] = [];
  let died = false;
  let raised: number[] = [];
  let block = length;
  let left = entries.length;
  for (let i = length - 1; left > 0; i--) {
    if ((masks[i]! & steps) !== 0) raised = raisingBefore(i, raised, masks, stepCount);
    if (entries[left - 1] === i) {
      left--;
      const endMs = ms[i]! + windowMs;
      let depth = 0;
      while (depth < raised.length && raised[depth]! < block && ms[raised[depth]!]! <= endMs) {
        depth++;
      }
      if (depth >= best.length) {
        died = depth < stepCount && block < length && ms[block]! <= endMs;
        for (let step = 0; step < depth; step++) best[step] = raised[step]!;
      }
    }
    if ((masks[i]! & EXCLUDED) !== 0) block = i;
  }
  return { events: best, died };
}

/**
 * Returns the attempt of an actor that counts: the deepest, among equally deep ones the earliest.
 * Null where the actor does not enter. Linear in the number of events.
 */
export function bestAttempt(events: ActorEvents, rules: AttemptRules): Attempt | null {
  const entries = entriesOf(events, rules);
  if (entries.length === 0) return null;
  const walk = rules.order === "unordered"
    ? bestInAnyOrder(events, rules, entries)
    : bestInOrder(events, rules, entries);
  return { ...walk, entry: walk.events[0]!, lastEntry: entries.at(-1)! };
}

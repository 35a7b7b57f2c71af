import type { FunnelDefinition } from "./funnel_definition.ts";

/** Bits of an event's mask beside those of the steps, of which the first has bit 0. */
export const EXCLUDED = 1 << 10;
/** An event that comes between two steps where the order is strict. */
export const BETWEEN = 1 << 11;

/** Events of one actor, in order: when each was, and which steps it is. */
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

/** The attempt of an actor that counts. Events are told by their place among the actor's. */
export interface Attempt {
  readonly entry: number;
  /** The event of each step that was reached, the entry first. */
  readonly events: readonly number[];
  /** Ended by an excluded event while it waited for a step. */
  readonly died: boolean;
  /** The last entry of all attempts. */
  readonly lastEntry: number;
}

type Walk = Pick<Attempt, "events" | "died">;

/** The places of the events by which the actor enters, in order. */
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

/**
 * For each event and each step, the next event that an attempt which waits there for that step takes
 * notice of: the step, an excluded event, or in strict order one that comes between. -1: none.
 */
function noticedNext(
  { length, masks }: ActorEvents,
  { stepCount, order }: AttemptRules,
): Int32Array {
  const next = new Int32Array(length * stepCount);
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

/** Steps in order: from each entry one hop a step. */
function bestInOrder(events: ActorEvents, rules: AttemptRules, entries: readonly number[]): Walk {
  const { stepCount, windowMs } = rules;
  const { length, ms, masks } = events;
  const next = noticedNext(events, rules);
  const follow = (entry: number): Walk => {
    const places = [entry];
    const endMs = ms[entry]! + windowMs;
    while (places.length < stepCount) {
      const step = places.length;
      const place = next[step * length + places[step - 1]!]!;
      if (place < 0 || ms[place]! > endMs) break;
      if ((masks[place]! & EXCLUDED) !== 0) return { events: places, died: true };
      if ((masks[place]! & 1 << step) === 0) break;
      places.push(place);
    }
    return { events: places, died: false };
  };
  let best = follow(entries[0]!);
  for (let i = 1; i < entries.length && best.events.length < stepCount; i++) {
    const walk = follow(entries[i]!);
    if (walk.events.length > best.events.length) best = walk;
  }
  return best;
}

/**
 * Of events in order, those that raise the number of steps which can be given an event each, no
 * event being given twice: augmenting paths of a bipartite matching. Up to any moment their number
 * is the greatest possible among all events up to it, as events that can be given a step each form
 * a transversal matroid (Edmonds and Fulkerson 1965), in which taking greedily is optimal.
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
 * Steps in any order. Going back in time, an event put before those that raise the number from it
 * on leaves at most as many as there are steps: what raised nothing before raises nothing now.
 */
function bestInAnyOrder(
  events: ActorEvents,
  rules: AttemptRules,
  entries: readonly number[],
): Walk {
  const { stepCount, windowMs } = rules;
  const { length, ms, masks } = events;
  const steps = (1 << stepCount) - 1;
  let best: Walk = { events: [], died: false };
  let raised: number[] = [];
  let block = length;
  let left = entries.length;
  for (let i = length - 1; left > 0; i--) {
    if ((masks[i]! & steps) !== 0) raised = raising([i, ...raised], masks, stepCount);
    if (entries[left - 1] === i) {
      left--;
      const endMs = ms[i]! + windowMs;
      const walked = raised.filter((place) => place < block && ms[place]! <= endMs);
      const died = walked.length < stepCount && block < length && ms[block]! <= endMs;
      if (walked.length >= best.events.length) best = { events: walked, died };
    }
    if ((masks[i]! & EXCLUDED) !== 0) block = i;
  }
  return best;
}

/**
 * The attempt of an actor that counts: the deepest, among equally deep ones the earliest. Null where
 * the actor does not enter. Linear in the number of events.
 */
export function bestAttempt(events: ActorEvents, rules: AttemptRules): Attempt | null {
  const entries = entriesOf(events, rules);
  if (entries.length === 0) return null;
  const walk = rules.order === "unordered"
    ? bestInAnyOrder(events, rules, entries)
    : bestInOrder(events, rules, entries);
  return { ...walk, entry: walk.events[0]!, lastEntry: entries.at(-1)! };
}

import type { FunnelDefinition } from "./funnel_definition.ts";

/** Bits of an event's mask above those of the steps; step 1 has bit 0. */
export const EXCLUDED = 1 << 10;
/** With strict order: the event breaks the sequence of two steps. */
export const BETWEEN = 1 << 11;

export interface AttemptRules extends Pick<FunnelDefinition, "order" | "entry"> {
  readonly stepCount: number;
  readonly windowMs: number;
  /** Entries are in `[fromMs, toMs)`. */
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the bits of the steps by which an actor enters. */
export function enteringBits(
  { order, stepCount }: Pick<AttemptRules, "order" | "stepCount">,
): number {
  return order === "unordered" ? (1 << stepCount) - 1 : 1;
}

/** Returns the bits that matter next to an ordered attempt that has reached `depth` steps. */
export function wantedAfter(depth: number): number {
  return 1 << depth | EXCLUDED | BETWEEN;
}

/** Finds the attempt of an actor that counts, as the actor's events are added one by one. */
export abstract class AttemptSearch {
  /** How many steps it reached; 0: the actor does not enter. */
  depth = 0;
  /** When each of these steps was reached, the entry first; may be longer. */
  readonly ms: Float64Array;
  /** Whether an excluded event ended it while it waited for a step. */
  died = false;
  /** Where the entry is: its slice of the timeline, and its place in the slice's segment. */
  slice = 0;
  at = 0;
  /** When the actor's last entry was that was tried, whether or not its attempt counts. */
  lastEntryMs = 0;
  /** The bits of a mask that matter next: only events with one of them need be added. */
  wanted = -1;

  constructor(protected readonly rules: AttemptRules) {
    this.ms = new Float64Array(rules.stepCount);
  }

  /** Prepares for the next actor. */
  clear(): void {
    this.depth = 0;
  }

  /**
   * @param mask the bits of the steps that the event matches, and `EXCLUDED` or `BETWEEN`
   * @param slice where the event is, see `slice` and `at`
   */
  abstract add(mask: number, ms: number, slice: number, at: number): void;

  protected isEntry(mask: number, ms: number, entering: number): boolean {
    return (mask & entering) !== 0 && ms >= this.rules.fromMs && ms < this.rules.toMs;
  }
}

/**
 * Finds the attempt of the first entry, with steps in order. Events are added from the first on until it is
 * over, which is usually soon.
 */
export class FirstAttempt extends AttemptSearch {
  /** Whether no other event matters. */
  isOver = false;
  readonly #entering: number;
  #stepsMax = 0;
  #endMs = 0;

  constructor(rules: AttemptRules) {
    super(rules);
    this.#entering = enteringBits(rules);
  }

  /** @param stepsMax how many steps it reaches before it is over */
  override clear(stepsMax = this.rules.stepCount): void {
    super.clear();
    this.#stepsMax = stepsMax;
    this.died = false;
    this.wanted = this.#entering;
    this.isOver = false;
  }

  override add(mask: number, ms: number, slice: number, at: number): void {
    if (this.depth === 0) this.#enter(mask, ms, slice, at);
    else if (ms > this.#endMs) this.isOver = true;
    else if ((mask & EXCLUDED) !== 0) {
      this.died = true;
      this.isOver = true;
    } else if ((mask & 1 << this.depth) === 0) this.isOver = true;
    else this.#reach(ms);
  }

  #enter(mask: number, ms: number, slice: number, at: number): void {
    if (!this.isEntry(mask, ms, this.#entering)) return;
    this.#endMs = ms + this.rules.windowMs;
    this.lastEntryMs = ms;
    this.slice = slice;
    this.at = at;
    this.#reach(ms);
  }

  #reach(ms: number): void {
    this.ms[this.depth++] = ms;
    this.wanted = wantedAfter(this.depth);
    this.isOver = this.depth >= this.#stepsMax;
  }
}

/**
 * Finds the deepest attempt, among equally deep ones the earliest, or with `entry=first` that of the
 * first entry. Events are added from the last to the first: what follows an entry is then known, so that
 * each event is visited once.
 */
abstract class BestAttempt extends AttemptSearch {
  /**
   * Keeps the attempt that begins with an entry, if it counts rather than later ones.
   * @param times when the steps after the entry are reached, regardless of the window: `count` times, from
   * index `first` on
   * @param blockMs when the excluded event after them happens; Infinity: there is none
   */
  protected enter(
    ms: number,
    slice: number,
    at: number,
    times: Float64Array,
    first: number,
    count: number,
    blockMs: number,
  ): void {
    const { windowMs, stepCount, entry } = this.rules;
    const endMs = ms + windowMs;
    let reached = 0;
    while (reached < count && times[first + reached]! <= endMs) reached++;
    if (this.depth === 0 || entry === "first") this.lastEntryMs = ms;
    else if (reached + 1 < this.depth) return;
    this.depth = reached + 1;
    this.ms[0] = ms;
    for (let i = 0; i < reached; i++) this.ms[i + 1] = times[first + i]!;
    this.died = this.depth < stepCount && blockMs <= endMs;
    this.slice = slice;
    this.at = at;
  }
}

const NO_STEPS = new Float64Array(0);

/** Steps in order. For each step it keeps what an attempt that waits for that step reaches from here on. */
class InOrder extends BestAttempt {
  /** By step: when it and the steps after it are reached. */
  readonly #reached: readonly Float64Array[];
  /** By step: how many of these times there are. */
  readonly #counts: Int32Array;
  /** By step: when the excluded event after them happens; Infinity: there is none. */
  readonly #blocksMs: Float64Array;
  /** The bits of steps that a waiting attempt may reach, and of excluded events. */
  readonly #deciding: number;
  /** The same, and `BETWEEN`, which only ends a waiting attempt. */
  readonly #noticed: number;
  /** Whether a waiting attempt reaches nothing from here on, and is not excluded. */
  #isBlank = true;

  constructor(rules: AttemptRules) {
    super(rules);
    const { stepCount } = rules;
    this.#reached = Array.from(
      { length: stepCount + 1 },
      (_, step) => step === stepCount ? NO_STEPS : new Float64Array(stepCount - step),
    );
    this.#counts = new Int32Array(stepCount + 1);
    this.#blocksMs = new Float64Array(stepCount + 1).fill(Infinity);
    this.#deciding = (1 << stepCount) - 1 & ~1 | EXCLUDED;
    this.#noticed = this.#deciding | BETWEEN;
  }

  override clear(): void {
    super.clear();
    this.#clearSteps();
    this.wanted = this.#deciding | 1;
  }

  override add(mask: number, ms: number, slice: number, at: number): void {
    if (this.isEntry(mask, ms, 1)) {
      this.enter(ms, slice, at, this.#reached[1]!, 0, this.#counts[1]!, this.#blocksMs[1]!);
    }
    if ((mask & this.#noticed) === 0) return;
    if ((mask & this.#deciding) === 0) {
      this.#clearSteps();
      // With `entry=any`, an entry that nothing follows counts only if none is followed by anything.
      const isLate = this.depth > 1 && this.rules.entry === "any";
      this.wanted = isLate ? this.#deciding : this.#deciding | 1;
      return;
    }
    const { stepCount } = this.rules;
    this.#isBlank = false;
    this.wanted = this.#noticed | 1;
    // Ascending, so that each step reads the next step's row before that row changes.
    for (let step = 1; step < stepCount; step++) this.#notice(step, mask, ms);
  }

  /** Records that nothing is reached from here on. Strict order calls this for most events, hence `#isBlank`. */
  #clearSteps(): void {
    if (this.#isBlank) return;
    this.#isBlank = true;
    this.#counts.fill(0);
    this.#blocksMs.fill(Infinity);
  }

  /** Puts an event in front of what an attempt that waits for a step reaches. */
  #notice(step: number, mask: number, ms: number): void {
    const counts = this.#counts;
    if ((mask & EXCLUDED) !== 0) {
      counts[step] = 0;
      this.#blocksMs[step] = ms;
    } else if ((mask & 1 << step) !== 0) {
      const reached = this.#reached[step]!;
      const after = this.#reached[step + 1]!;
      const count = counts[step + 1]!;
      reached[0] = ms;
      for (let i = 0; i < count; i++) reached[i + 1] = after[i]!;
      counts[step] = count + 1;
      this.#blocksMs[step] = this.#blocksMs[step + 1]!;
    } else if ((mask & BETWEEN) !== 0) {
      counts[step] = 0;
      this.#blocksMs[step] = Infinity;
    }
  }
}

/**
 * Returns the places of those masks that, taken in order, raise how many steps can have an event of
 * their own: a bipartite matching, by augmenting paths. At every moment as many are taken as possible:
 * the sets of events that can each have a step of their own form a transversal matroid (Edmonds and
 * Fulkerson 1965), in which the greedy choice is optimal.
 */
function raising(masks: readonly number[], stepCount: number): number[] {
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
  return [...masks.keys()].filter((place) => {
    tried = 0;
    return give(place);
  });
}

/**
 * Steps in any order. It keeps the events that raise the number of steps reached from here on. These are
 * never more than there are steps: an event that was dropped stays dropped, as it cannot raise the number
 * again with further events in front of it.
 */
class InAnyOrder extends BestAttempt {
  readonly #masks: number[] = [];
  readonly #times: Float64Array;
  /** How many events had been added with each of them: the earlier an event, the higher. */
  readonly #ranks: Int32Array;
  readonly #steps: number;
  #added = 0;
  /** The rank and the time of the next excluded event. */
  #blockRank = 0;
  #blockMs = Infinity;

  constructor(rules: AttemptRules) {
    super(rules);
    this.#times = new Float64Array(rules.stepCount + 1);
    this.#ranks = new Int32Array(rules.stepCount + 1);
    this.#steps = enteringBits(rules);
  }

  override clear(): void {
    super.clear();
    this.#masks.length = 0;
    this.#added = 0;
    this.#blockRank = 0;
    this.#blockMs = Infinity;
  }

  override add(mask: number, ms: number, slice: number, at: number): void {
    this.#added++;
    const steps = mask & this.#steps;
    if (steps !== 0) this.#put(steps, ms);
    if (this.isEntry(mask, ms, this.#steps)) {
      let count = 1;
      while (count < this.#masks.length && this.#ranks[count]! > this.#blockRank) count++;
      this.enter(ms, slice, at, this.#times, 1, count - 1, this.#blockMs);
    }
    if ((mask & EXCLUDED) === 0) return;
    this.#blockRank = this.#added;
    this.#blockMs = ms;
  }

  /**
   * Puts an event in front of the others. If it matches a single step, at most one other is dropped: the one
   * that matches only the same step.
   */
  #put(mask: number, ms: number): void {
    const masks = this.#masks;
    const isOneStep = (mask & mask - 1) === 0;
    let [same, sharing] = [masks.length, 0];
    for (let i = 0; i < masks.length; i++) {
      if (isOneStep && masks[i] === mask) same = i;
      else sharing |= masks[i]! & mask;
    }
    const isSure = isOneStep && (same < masks.length || sharing === 0);
    for (let i = same; i > 0; i--) this.#move(i - 1, i);
    masks[0] = mask;
    this.#times[0] = ms;
    this.#ranks[0] = this.#added;
    if (!isSure) this.#keepRaising();
  }

  #move(from: number, to: number): void {
    this.#masks[to] = this.#masks[from]!;
    this.#times[to] = this.#times[from]!;
    this.#ranks[to] = this.#ranks[from]!;
  }

  #keepRaising(): void {
    const kept = raising(this.#masks, this.rules.stepCount);
    for (const [to, from] of kept.entries()) this.#move(from, to);
    this.#masks.length = kept.length;
  }
}

/** Makes the search that goes through an actor's events backwards. */
export function bestAttempt(rules: AttemptRules): AttemptSearch {
  return rules.order === "unordered" ? new InAnyOrder(rules) : new InOrder(rules);
}

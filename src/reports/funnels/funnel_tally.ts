import { FUNNEL_GROUPS_MAX } from "../../limits.ts";
import { quantilesOfTimes } from "../../scans/medians.ts";
import { compareBytes, type ValueTexts } from "../../scans/value_texts.ts";
import { TextMap } from "../../store/text_map.ts";
import { GrowingList } from "../../store/growing_list.ts";
import { OTHER } from "../answer/small_groups.ts";
import { type AttemptColumns, DEPTH, DIED, LATE } from "./counted_attempts.ts";

/** Attempts of a group that there is room for at first. */
const GROUP_ROOM = 64;

/** How many actors reached a step, and how long they took from the step before. */
export interface StepTally {
  readonly actors: number;
  readonly medianMs: number | null;
  readonly p90Ms: number | null;
}

export interface FunnelGroupTally {
  readonly value: string | null;
  readonly steps: readonly StepTally[];
}

/** Counts the attempts of a group, or of all actors. */
class AttemptTally {
  /** For each step after the first: how long each attempt that reached it took from the one before. */
  readonly #times: readonly GrowingList<Float64Array>[];
  #entered = 0;
  /** How many an excluded event ended. */
  excluded = 0;
  /** How many neither converted nor were excluded, with a window not over yet. */
  open = 0;

  /** @param rooms for each step after the first, of how many attempts there is room at first */
  constructor(rooms: readonly number[]) {
    this.#times = rooms.map((room) => new GrowingList(new Float64Array(room)));
  }

  /** Adds an attempt whose times of later steps are in `stepsMs` from `at` on. */
  add(outcome: number, stepsMs: Float64Array, at: number): void {
    const depth = outcome & DEPTH;
    for (let i = 0; i < depth - 1; i++) this.#times[i]!.add(stepsMs[at + i]!);
    this.#entered++;
    if (depth > this.#times.length) return;
    if ((outcome & DIED) !== 0) this.excluded++;
    else if ((outcome & LATE) !== 0) this.open++;
  }

  steps(): StepTally[] {
    const later = this.#times.map((times) => {
      if (times.length === 0) return { actors: 0, medianMs: null, p90Ms: null };
      const [medianMs, p90Ms] = quantilesOfTimes(times.taken(), [0.5, 0.9]);
      return { actors: times.length, medianMs: medianMs!, p90Ms: p90Ms! };
    });
    return [{ actors: this.#entered, medianMs: null, p90Ms: null }, ...later];
  }
}

/** Returns for each step after the first how many attempts reached it. */
function reachedCounts(outcomes: Int32Array, stepCount: number): number[] {
  const counts = new Array<number>(stepCount).fill(0);
  for (let i = 0; i < outcomes.length; i++) counts[(outcomes[i]! & DEPTH) - 1]!++;
  for (let step = stepCount - 1; step > 0; step--) counts[step - 1]! += counts[step]!;
  return counts.slice(1);
}

/** The attempts of one value; null: the value is missing. */
interface Group {
  value: string | null;
  entered: number;
  converted: number;
  tally: AttemptTally | null;
}

const noAttempts = (): Group => ({ value: null, entered: 0, converted: 0, tally: null });

type TextsOf = (ids: readonly number[]) => Promise<ValueTexts>;

/**
 * Groups attempts by value: `byId` by the ids of values, of which several may stand for the same one; `ranked`
 * each group once, the largest first, ties by conversions, then by value.
 */
async function groupsOf(
  { outcomes, values }: AttemptColumns,
  stepCount: number,
  textsOf: TextsOf,
) {
  const byId = new Map<number, Group>();
  for (let i = 0; i < outcomes.length; i++) {
    const group = byId.getOrInsertComputed(values[i]!, noAttempts);
    group.entered++;
    if ((outcomes[i]! & DEPTH) === stepCount) group.converted++;
  }
  const texts = await textsOf([...byId.keys()]);
  const byValue = new TextMap<Group>();
  let withoutValue: Group | undefined;
  const ranked: Group[] = [];
  for (const [id, own] of byId) {
    own.value = texts.get(id) ?? null;
    const group = own.value === null ? withoutValue : byValue.get(own.value);
    if (group === undefined) {
      if (own.value === null) withoutValue = own;
      else byValue.set(own.value, own);
      ranked.push(own);
      continue;
    }
    group.entered += own.entered;
    group.converted += own.converted;
    byId.set(id, group);
  }
  ranked.sort((a, b) =>
    b.entered - a.entered || b.converted - a.converted || compareBytes(a.value, b.value)
  );
  return { byId, ranked };
}

/** Returns the ids of the values that `$other` sums up; none if every group is shown. */
export async function idsOfOthers(
  attempts: AttemptColumns,
  stepCount: number,
  textsOf: TextsOf,
): Promise<ReadonlySet<number>> {
  const { byId, ranked } = await groupsOf(attempts, stepCount, textsOf);
  const others = new Set(ranked.slice(FUNNEL_GROUPS_MAX));
  return new Set([...byId.keys()].filter((id) => others.has(byId.get(id)!)));
}

/**
 * Counts all attempts; with `textsOf`, which looks up the values of ids, also those of the largest groups by
 * value, then of all others together.
 */
export async function tallyAttempts(
  attempts: AttemptColumns,
  stepCount: number,
  textsOf: TextsOf | null,
) {
  const { outcomes, values, stepsMs } = attempts;
  const groups = textsOf && await groupsOf(attempts, stepCount, textsOf);
  const ranked = groups?.ranked ?? [];
  // Lists that grow would take three times the memory, which is garbage once the read ends.
  const all = new AttemptTally(reachedCounts(outcomes, stepCount));
  const few = new Array<number>(stepCount - 1).fill(GROUP_ROOM);
  const others = new AttemptTally(few);
  for (const [i, group] of ranked.entries()) {
    group.tally = i < FUNNEL_GROUPS_MAX ? new AttemptTally(few) : others;
  }
  let at = 0;
  for (let i = 0; i < outcomes.length; i++) {
    const outcome = outcomes[i]!;
    all.add(outcome, stepsMs, at);
    if (groups !== null) groups.byId.get(values[i]!)!.tally!.add(outcome, stepsMs, at);
    at += (outcome & DEPTH) - 1;
  }
  const shown = ranked.slice(0, FUNNEL_GROUPS_MAX)
    .map(({ value, tally }): FunnelGroupTally => ({ value, steps: tally!.steps() }));
  if (ranked.length > FUNNEL_GROUPS_MAX) shown.push({ value: OTHER, steps: others.steps() });
  const { excluded, open } = all;
  return { steps: all.steps(), excluded, open, groups: groups && shown };
}

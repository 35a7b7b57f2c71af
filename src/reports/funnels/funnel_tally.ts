import { FUNNEL_GROUPS_MAX } from "../../limits.ts";
import { quantilesOfTimes } from "../../scans/medians.ts";
import { compareBytes, type ValueTexts } from "../../scans/value_texts.ts";
import { TextMap } from "../../store/text_map.ts";
import { GrowingList } from "../../store/growing_list.ts";
import { OTHER } from "../answer/small_groups.ts";
import { type AttemptColumns, DEPTH, DIED, forEachAttempt, LATE } from "./counted_attempts.ts";

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

/** Returns the steps of a number of attempts. @param stepsMs see `AttemptColumns` */
function stepsOf(entered: number, stepsMs: readonly Float64Array[]): StepTally[] {
  const later = stepsMs.map((times) => {
    if (times.length === 0) return { actors: 0, medianMs: null, p90Ms: null };
    const [medianMs, p90Ms] = quantilesOfTimes(times, [0.5, 0.9]);
    return { actors: times.length, medianMs: medianMs!, p90Ms: p90Ms! };
  });
  return [{ actors: entered, medianMs: null, p90Ms: null }, ...later];
}

/** Returns how many attempts an excluded event ended, and how many others did not convert and have an open window. */
function endsOf(outcomes: Uint8Array, stepCount: number) {
  const counts = new Uint32Array(256);
  for (let i = 0; i < outcomes.length; i++) counts[outcomes[i]!]!++;
  let [excluded, open] = [0, 0];
  for (let outcome = 0; outcome < counts.length; outcome++) {
    if ((outcome & DEPTH) === stepCount) continue;
    if ((outcome & DIED) !== 0) excluded += counts[outcome]!;
    else if ((outcome & LATE) !== 0) open += counts[outcome]!;
  }
  return { excluded, open };
}

/** The times of the attempts of a group. */
class GroupTimes {
  readonly #stepsMs: readonly GrowingList<Float64Array>[];
  #entered = 0;

  constructor(stepCount: number) {
    this.#stepsMs = Array.from(
      { length: stepCount - 1 },
      () => new GrowingList(new Float64Array(GROUP_ROOM)),
    );
  }

  /** Adds an attempt: see `forEachAttempt`. */
  add(depth: number, stepsMs: readonly Float64Array[], places: Int32Array): void {
    for (let i = 0; i < depth - 1; i++) this.#stepsMs[i]!.add(stepsMs[i]![places[i]!]!);
    this.#entered++;
  }

  steps(): StepTally[] {
    return stepsOf(this.#entered, this.#stepsMs.map((times) => times.taken()));
  }
}

/** The attempts of one value; null: the value is missing. */
interface Group {
  value: string | null;
  entered: number;
  converted: number;
  times: GroupTimes | null;
}

const noAttempts = (): Group => ({ value: null, entered: 0, converted: 0, times: null });

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

/** Counts the attempts of the largest groups, then of all others together. */
async function shownGroups(
  attempts: AttemptColumns,
  stepCount: number,
  textsOf: TextsOf,
): Promise<FunnelGroupTally[]> {
  const { byId, ranked } = await groupsOf(attempts, stepCount, textsOf);
  const others = new GroupTimes(stepCount);
  for (const [i, group] of ranked.entries()) {
    group.times = i < FUNNEL_GROUPS_MAX ? new GroupTimes(stepCount) : others;
  }
  const { outcomes, values, stepsMs } = attempts;
  forEachAttempt(attempts, (i, places) => {
    byId.get(values[i]!)!.times!.add(outcomes[i]! & DEPTH, stepsMs, places);
  });
  const shown = ranked.slice(0, FUNNEL_GROUPS_MAX)
    .map(({ value, times }): FunnelGroupTally => ({ value, steps: times!.steps() }));
  if (ranked.length > FUNNEL_GROUPS_MAX) shown.push({ value: OTHER, steps: others.steps() });
  return shown;
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
  const { outcomes, stepsMs } = attempts;
  const groups = textsOf && await shownGroups(attempts, stepCount, textsOf);
  return { steps: stepsOf(outcomes.length, stepsMs), ...endsOf(outcomes, stepCount), groups };
}

import { isSmall, OTHER } from "../answer/small_groups.ts";
import type { FunnelGroupTally, FunnelTally, StepTally } from "./funnel_tally.ts";

/** Hides the times of steps that too few people reached: they could be those of a single person. */
function withoutTimes(steps: readonly StepTally[], visitorsMin: number): StepTally[] {
  return steps.map((step) =>
    isSmall(step.actors, visitorsMin) ? { ...step, medianMs: null, p90Ms: null } : step
  );
}

/** Adds up groups: each actor is in exactly one. Their times cannot be added, and are null. */
function sumOf(groups: readonly FunnelGroupTally[]): FunnelGroupTally {
  const steps = groups[0]!.steps.map((_, i): StepTally => ({
    actors: groups.reduce((sum, group) => sum + group.steps[i]!.actors, 0),
    medianMs: null,
    p90Ms: null,
  }));
  return { value: OTHER, steps };
}

/** Merges groups of too few people, and `$other` with them, into one. */
function united(
  groups: readonly FunnelGroupTally[],
  visitorsMin: number,
): readonly FunnelGroupTally[] {
  const isTooSmall = ({ steps }: FunnelGroupTally) => isSmall(steps[0]!.actors, visitorsMin);
  if (!groups.some(isTooSmall)) return groups;
  const isKept = (group: FunnelGroupTally) => group.value !== OTHER && !isTooSmall(group);
  return [...groups.filter(isKept), sumOf(groups.filter((group) => !isKept(group)))];
}

/** Returns what a share shows of a funnel: all steps, and no group of too few people. */
export function withoutSmallGroups(tally: FunnelTally, visitorsMin: number): FunnelTally {
  if (visitorsMin === 1) return tally;
  const groups = tally.groups === null ? null : united(tally.groups, visitorsMin);
  return {
    ...tally,
    steps: withoutTimes(tally.steps, visitorsMin),
    groups: groups?.map(({ value, steps }) => ({
      value,
      steps: withoutTimes(steps, visitorsMin),
    })) ?? null,
  };
}

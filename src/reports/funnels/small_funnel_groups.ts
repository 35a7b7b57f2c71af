import { isSmall, OTHER, smallPlaces } from "../answer/small_groups.ts";
import type { FunnelGroupTally, FunnelTally, StepTally } from "./funnel_tally.ts";

/** Of fewer people than a share tells, how long they took is somebody's own time. */
function withoutTimes(steps: readonly StepTally[], visitorsMin: number): StepTally[] {
  return steps.map((step) =>
    isSmall(step.actors, visitorsMin) ? { ...step, medianMs: null, p90Ms: null } : step
  );
}

/** An actor is in one group alone, so that groups add up; how long people took does not. */
function united(groups: readonly FunnelGroupTally[]): FunnelGroupTally {
  const steps = groups[0]!.steps.map((_, i): StepTally => ({
    actors: groups.reduce((sum, group) => sum + group.steps[i]!.actors, 0),
    medianMs: null,
    p90Ms: null,
  }));
  return { value: OTHER, steps };
}

function withoutSmall(
  groups: readonly FunnelGroupTally[],
  visitorsMin: number,
): readonly FunnelGroupTally[] {
  const entered = (place: number) => groups[place]!.steps[0]!.actors;
  const named = groups.flatMap(({ value }, place) => value === OTHER ? [] : [place]);
  const rest = groups.flatMap(({ value }, place) => value === OTHER ? [place] : []);
  const folded = smallPlaces(groups.map((_, place) => [place, entered(place)]), visitorsMin);
  if (folded.length === 0) return groups;
  const kept = named.filter((place) => !folded.includes(place));
  return [
    ...kept.map((place) => groups[place]!),
    united([...new Set([...folded, ...rest])].map((i) => groups[i]!)),
  ];
}

/** What a share tells of a funnel: everybody, as they are, and no group that is too small. */
export function toldFunnel(tally: FunnelTally, visitorsMin: number): FunnelTally {
  if (visitorsMin === 1) return tally;
  const groups = tally.groups === null ? null : withoutSmall(tally.groups, visitorsMin);
  return {
    ...tally,
    steps: withoutTimes(tally.steps, visitorsMin),
    groups: groups?.map(({ value, steps }) => ({
      value,
      steps: withoutTimes(steps, visitorsMin),
    })) ?? null,
  };
}

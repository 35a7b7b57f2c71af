import { z } from "zod";
import { FUNNEL_STEPS_MAX } from "../../limits.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import { behindWhere } from "../behind/behind_tally.ts";
import { OTHER } from "../answer/small_groups.ts";
import { type CountedAttempts, DEPTH, DIED, forEachAttempt, LATE } from "./counted_attempts.ts";
import { FUNNEL_QUERY, type FunnelDefinition, readDefinition } from "./funnel_definition.ts";
import { findAttempts, type FoundAttempts } from "./funnel_scan.ts";
import { idsOfOthers } from "./funnel_tally.ts";
import { counted } from "../../number_words.ts";

const step = z.int().min(1).max(FUNNEL_STEPS_MAX);
const value = z.string().nullable().optional();
const FunnelNumber = z.union([
  z.strictObject({ step, value }),
  z.strictObject({ lost: step.min(2), value }),
  z.strictObject({ ended: z.enum(["excluded", "open"]), value }),
], 'Use {"step":2}, {"lost":2} or {"ended":"excluded"}, each with "value" of a group or without.');

/**
 * The number of a funnel that `of` names: the actors who reached a step, who were lost before it, or whose
 * attempt was excluded or is open.
 */
type FunnelNumber = z.output<typeof FunnelNumber>;

function isCounted(outcome: number, number: FunnelNumber, stepCount: number): boolean {
  const depth = outcome & DEPTH;
  if ("step" in number) return depth >= number.step;
  if ("lost" in number) return depth === number.lost - 1;
  if (depth === stepCount) return false;
  const died = (outcome & DIED) !== 0;
  return number.ended === "excluded" ? died : !died && (outcome & LATE) !== 0;
}

/**
 * Returns a test of attempts: whether the value at the entry is the wanted one, or, of `$other`, one of those
 * that it sums up. Undefined: every value passes.
 */
async function ofValue(
  { attempts, textsOf }: FoundAttempts,
  wanted: string | null | undefined,
  stepCount: number,
): Promise<(attempt: number) => boolean> {
  if (wanted === undefined) return () => true;
  const { values } = attempts;
  if (wanted === OTHER) {
    const others = await idsOfOthers(attempts, stepCount, textsOf!);
    if (others.size > 0) return (attempt) => others.has(values[attempt]!);
  }
  const texts = await textsOf!([...new Set(values)]);
  return (attempt) => (texts.get(values[attempt]!) ?? null) === wanted;
}

/** Returns when each attempt reached the step of the number; without one, its deepest step. */
function reachedMs(attempts: CountedAttempts, number: FunnelNumber): Float64Array {
  const { outcomes, stepsMs } = attempts;
  const ms = attempts.ms.slice();
  forEachAttempt(attempts, (i, places) => {
    const later = (outcomes[i]! & DEPTH) - 1;
    const wanted = "step" in number ? Math.min(number.step - 1, later) : later;
    for (let step = 0; step < wanted; step++) ms[i]! += stepsMs[step]![places[step]!]!;
  });
  return ms;
}

function refuseWrongNumber(number: FunnelNumber, { steps, by }: FunnelDefinition): void {
  const named = "step" in number ? number.step : "lost" in number ? number.lost : 1;
  if (named > steps.length) {
    throw invalidParameter("place", `The funnel has ${counted(steps.length, "step")}.`);
  }
  if (number.value !== undefined && by === null) throw invalidParameter("place", "Give `by` too.");
}

/** Lists the actors behind a number of a funnel. */
export const FUNNEL_PEOPLE: NumberedRead = {
  name: "funnels",
  parameters: Object.keys(FUNNEL_QUERY),
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const definition = readDefinition(query);
    if (definition === null) throw invalidParameter("steps", "Give the steps of the funnel.");
    const number = readJson(query, "place", FunnelNumber)!;
    refuseWrongNumber(number, definition);
    const stepCount = definition.steps.length;
    return {
      find: async (read) => {
        const found = await findAttempts(read, definition, { withEntries: true });
        const isOfValue = await ofValue(found, number.value, stepCount);
        const { outcomes, actors } = found.attempts;
        return behindWhere(
          { actors, ms: reachedMs(found.attempts, number) },
          (i) => isCounted(outcomes[i]!, number, stepCount) && isOfValue(i),
        );
      },
      matches: [...definition.steps, ...definition.exclude],
    };
  },
};

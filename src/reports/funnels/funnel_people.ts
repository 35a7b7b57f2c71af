import { z } from "zod";
import { FUNNEL_STEPS_MAX } from "../../limits.ts";
import { readJson } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import type { Read } from "../../scans/read.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import { type Behind, behindWhere } from "../behind/behind_tally.ts";
import { askingOf } from "../answer/report.ts";
import { type CountedAttempts, DEPTH, DIED, LATE } from "./counted_attempts.ts";
import { FUNNEL_QUERY, type FunnelDefinition, readDefinition } from "./funnel_definition.ts";
import { findAttempts, type FoundAttempts } from "./funnel_scan.ts";

const step = z.int().min(1).max(FUNNEL_STEPS_MAX);
const value = z.string().nullable().optional();
const Place = z.union([
  z.strictObject({ step, value }),
  z.strictObject({ lost: step.min(2), value }),
  z.strictObject({ ended: z.enum(["excluded", "open"]), value }),
], 'Use {"step":2}, {"lost":2} or {"ended":"excluded"}, each with "value" of a group or without.');

/** A number of a funnel: who reached a step, who got to the one before and not there, whose attempt ended so. */
type Place = z.output<typeof Place>;

/** Whether an attempt of this outcome is counted. */
function isCounted(outcome: number, place: Place, stepCount: number): boolean {
  const depth = outcome & DEPTH;
  if ("step" in place) return depth >= place.step;
  if ("lost" in place) return depth === place.lost - 1;
  if (depth === stepCount) return false;
  const died = (outcome & DIED) !== 0;
  return place.ended === "excluded" ? died : !died && (outcome & LATE) !== 0;
}

/** Of which attempts the value at the entry is the wanted one. */
async function ofValue(
  { attempts: { values }, textsOf }: FoundAttempts,
  wanted: string | null | undefined,
): Promise<(attempt: number) => boolean> {
  if (wanted === undefined) return () => true;
  const texts = await textsOf!([...new Set(values)]);
  return (attempt) => (texts.get(values[attempt]!) ?? null) === wanted;
}

/** When each attempt reached its last step that counts: the wanted one, else the deepest. */
function reachedMs({ outcomes, stepsMs, entries }: CountedAttempts, place: Place): Float64Array {
  const ms = entries!.ms.slice();
  let at = 0;
  for (let i = 0; i < outcomes.length; i++) {
    const later = (outcomes[i]! & DEPTH) - 1;
    const wanted = "step" in place ? Math.min(place.step - 1, later) : later;
    for (let step = 0; step < wanted; step++) ms[i]! += stepsMs[at + step]!;
    at += later;
  }
  return ms;
}

async function find(read: Read, definition: FunnelDefinition, place: Place): Promise<Behind> {
  const found = await findAttempts(read, definition, { tellsActors: true });
  const { attempts } = found;
  const isOfValue = await ofValue(found, place.value);
  const { outcomes, entries } = attempts;
  const ms = reachedMs(attempts, place);
  const stepCount = definition.steps.length;
  return behindWhere(
    { actors: entries!.actors, ms },
    (i) => isCounted(outcomes[i]!, place, stepCount) && isOfValue(i),
  );
}

function refusePlace(place: Place, { steps, by }: FunnelDefinition): void {
  const named = "step" in place ? place.step : "lost" in place ? place.lost : 1;
  if (named > steps.length) {
    throw invalidParameter("place", `The funnel has ${steps.length} steps.`);
  }
  if (place.value !== undefined && by === null) throw invalidParameter("place", "Give `by` too.");
}

/** Who reached a step of a funnel, and who was lost before it. */
export const FUNNEL_PEOPLE: NumberedRead = {
  name: "funnels",
  parameters: Object.keys(FUNNEL_QUERY),
  ask: (query, listed) => {
    refuseListed(listed, "people");
    const definition = readDefinition(query);
    if (definition === null) throw invalidParameter("steps", "Give the steps of the funnel.");
    const place = readJson(query, "place", Place)!;
    refusePlace(place, definition);
    return {
      find: (read) => find(read, definition, place),
      asking: askingOf({ of: [...definition.steps, ...definition.exclude] }),
    };
  },
};

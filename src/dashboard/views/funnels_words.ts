import { ApiProblem } from "../api_problem.ts";
import type { FUNNEL_REPLY } from "../../reports/funnels/funnels.ts";
import type { ReplyOf } from "../replies.ts";
import type { FunnelDefinition } from "./funnels_definition.ts";

/** `GET /v1/funnels` with steps. */
export interface FunnelReply extends ReplyOf<typeof FUNNEL_REPLY> {
  readonly asOf: string;
  /** The definition that was run; the form's may be newer. */
  readonly query: FunnelDefinition;
}

export type FunnelGroup = NonNullable<FunnelReply["groups"]>[number];

/** The share of those who entered that converted; null: nobody entered, or too few to be shown. */
export function conversionOf(
  { entered, converted }: Pick<FunnelReply, "entered" | "converted">,
): number | null {
  return entered === 0 || converted === null ? null : converted / entered;
}

/** What each figure of a funnel means. */
export const FUNNEL_WORDS = {
  steps: "What people are expected to do, one event after the other.",
  conversion: "People who reached the last step, as a share of those who entered.",
  entered: "Different people who did the first step in the range.",
  enteredUnordered: "Different people who did any of the steps in the range.",
  converted: "Different people who reached the last step in time.",
  open: "People who have not reached the last step, and still have time for it.",
  excluded: "People whose furthest attempt ended because they did an excluded event.",
  actors: "Different people who reached the step, in the attempt that counts.",
  fromStart: "People who reached the step, as a share of all who entered.",
  fromPrevious: "People who reached the step, as a share of those who reached the one before.",
  dropoff: "People who reached the step before, and not this one.",
  median: "Half of those who reached the step took longer than this since the step before.",
  p90: "Nine of ten who reached the step took no longer than this since the step before.",
  window: "How long after their own first step people may reach the later ones.",
  order:
    "In order: other events may lie between. Strictly: each step is the very next event, clicks and scrolls aside. Any order: a step counts how many different ones people did.",
  entry:
    "Furthest attempt: of all times that someone began, the one that came furthest counts. First attempt: only the first time in the range.",
  exclude: "People whose attempt is ended by one of these events, before the next step.",
  by: "Splits people by this, as it was when they entered.",
} as const;

/** The name of step `index`: in any order, a step is how many were done, not which. */
export function stepName({ query, steps }: FunnelReply, index: number): string {
  if (query.order !== "unordered" || steps.length === 1) return steps[index]!.label;
  if (index === 0) return "Any step";
  return index === steps.length - 1
    ? `All ${steps.length} steps`
    : `Any ${index + 1} different steps`;
}

const MATCH_NAMES: Readonly<Record<string, string>> = {
  steps: "Step",
  exclude: "Excluded event",
};

/** A refusal that names the place as the form does: "Step 2, condition 1: A group is not closed." */
export function placedProblem(problem: ApiProblem): ApiProblem {
  const { field = "", message = "" } = problem.errors[0] ?? {};
  const [, match, condition, text] =
    /^\[(\d+)\](?:\.filters\[(\d+)\])?[^:]*: (.+)$/s.exec(message) ?? [];
  if (MATCH_NAMES[field] === undefined || text === undefined) return problem;
  const place = [`${MATCH_NAMES[field]} ${Number(match) + 1}`];
  if (condition !== undefined) place.push(`condition ${Number(condition) + 1}`);
  const { status, code, errors, requestId } = problem;
  return new ApiProblem(status, code, `${place.join(", ")}: ${text}`, errors, requestId);
}

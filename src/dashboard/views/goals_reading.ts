import type { GOALS_REPLY } from "../../reports/goals/goals.ts";
import type { ReplyOf } from "../replies.ts";

/** `GET /v1/goals`. */
export interface GoalsReply extends ReplyOf<typeof GOALS_REPLY> {
  readonly asOf: string;
}

/** A saved goal with its figures. */
export type Goal = GoalsReply["goals"][number];
export type GoalValue = NonNullable<Goal["valueDefinition"]>;
export type GoalChange = NonNullable<GoalsReply["change"]>[number];

/** The figures of a goal whose series can be shown. */
export type GoalFigure = "uniqueConversions" | "totalConversions";

/** What the figures of goals mean, beyond `DEFINITIONS`. */
export const GOAL_WORDS = {
  goals: "What you hope people do, and how many of them did it.",
  series:
    "Each person counts once in each period, so that periods may add up to more than the whole.",
  sources: "The visits in which people reached the goal, by where those visits came from.",
  sourceConversions: "Different people who reached the goal within the visits of the row.",
  sourceRate:
    "People who reached the goal within the visits of the row, as a share of its visitors.",
  noValue: "This goal is only counted.",
} as const;

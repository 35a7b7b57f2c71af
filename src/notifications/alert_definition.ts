import { z } from "zod";
import { FiltersSchema } from "../query/filters.ts";
import { windowMs } from "../query/window.ts";
import { EventName, Title } from "../text_schemas.ts";
import { faultOf, QuestionSchema, SegmentSlug, unitOf } from "./alert_question.ts";
import { ReceiverMembers } from "./receivers.ts";
import {
  CHECKS_RUN_EVERY_MS,
  FINDING_EVERY_MS,
  FINDING_SCORE_MAX,
  FINDING_SCORE_MIN,
  SILENCE_EVERY_MS,
  SILENCE_MINUTES_MAX,
  SILENCE_MINUTES_MIN,
  THRESHOLD_EVERY_MS,
  THRESHOLD_SPAN_MS_MAX,
  THRESHOLD_SPAN_MS_MIN,
  UNUSUAL_EVERY_MS,
} from "./notification_limits.ts";

const Over = z.string().refine((text) => {
  const ms = windowMs(text);
  return ms !== null && ms >= THRESHOLD_SPAN_MS_MIN && ms <= THRESHOLD_SPAN_MS_MAX;
}, "Use a number and m, h or d, such as 30m or 24h, from 5m to 90d.")
  .default("24h").meta({ description: "The span that ends now.", example: "24h" });

const Bound = z.number("Give a number.").optional();

const Threshold = z.strictObject({
  kind: z.literal("threshold"),
  question: QuestionSchema,
  above: Bound.meta({ description: "It fires when the figure is higher; a rate is a fraction." }),
  below: Bound.meta({ description: "It fires when the figure is lower." }),
  over: Over,
}).refine(
  ({ above, below }) => (above === undefined) !== (below === undefined),
  { message: "Give either above or below.", path: ["above"] },
);

const Unusual = z.strictObject({
  kind: z.literal("unusual"),
  question: QuestionSchema.refine(
    (question) => faultOf(question) !== null || unitOf(question) === "count",
    "Only counts have a usual: use visitors, newVisitors, sessions, pageviews, events, conversions, " +
      "total, converted or entered.",
  ),
  direction: z.enum(["any", "up", "down"], "Use any, up or down.").default("any"),
});

const Silence = z.strictObject({
  kind: z.literal("silence"),
  minutes: z.int("Give a whole number of minutes.")
    .min(SILENCE_MINUTES_MIN, `Use at least ${SILENCE_MINUTES_MIN}.`)
    .max(SILENCE_MINUTES_MAX, `Use at most ${SILENCE_MINUTES_MAX}.`),
  match: z.strictObject({ name: EventName, filters: FiltersSchema.default([]) })
    .nullable().default(null).meta({ description: "Events that must come; null: any." }),
});

const Findings = z.strictObject({
  kind: z.literal("finding"),
  score: z.number("Give a number.")
    .min(FINDING_SCORE_MIN, `Use at least ${FINDING_SCORE_MIN}.`)
    .max(FINDING_SCORE_MAX, `Use at most ${FINDING_SCORE_MAX}.`)
    .meta({ description: "It reports findings of the last seven days with a higher score." }),
  filters: FiltersSchema.default([]),
  segment: SegmentSlug,
});

const members = {
  title: Title.meta({ description: "What people call it.", example: "Nobody buys" }),
  on: z.discriminatedUnion("kind", [Threshold, Unusual, Silence, Findings], {
    error: "Give a kind: threshold, unusual, silence or finding.",
  }).meta({ description: "Its condition." }),
  recovery: z.boolean("Use true or false.").default(true).meta({
    description: "Whether a message is also sent when the condition has ended; never for findings.",
  }),
  ...ReceiverMembers,
};

/** Body of `PUT /v1/alerts/:slug`. */
export const AlertBody = z.strictObject(members).meta({ id: "AlertDefinition" });

export type AlertDefinition = z.output<typeof AlertBody>;
export type AlertCause = AlertDefinition["on"];

/** How often each kind is checked. */
export const EVERY_MS: Readonly<Record<AlertCause["kind"], number>> = {
  threshold: THRESHOLD_EVERY_MS,
  unusual: UNUSUAL_EVERY_MS,
  silence: SILENCE_EVERY_MS,
  finding: FINDING_EVERY_MS,
};

/**
 * Returns when an alert that is checked now is due again, from the beginning of the minute. The job runs as each
 * minute begins, the check a little later: counted from the check, the next one would be due just after the run
 * that should do it.
 */
export function nextCheckMs(nowMs: number, everyMs: number): number {
  return nowMs - nowMs % CHECKS_RUN_EVERY_MS + everyMs;
}

/** An alert as replies show it. */
export const AlertShown = z.object({
  slug: z.string(),
  ...members,
  firingSince: z.iso.datetime().nullable().meta({
    description:
      "Since when its condition holds; that is reported once, and again after it had ended.",
  }),
  problem: z.string().nullable().meta({
    description: "Why the last check failed, in a sentence; null: it did not.",
  }),
}).meta({ id: "Alert" });

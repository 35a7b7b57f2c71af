import { z } from "zod";
import { ProjectId, Timezone } from "../auth/projects.ts";
import { FiltersSchema } from "../query/filters.ts";
import { Title } from "../text_schemas.ts";
import { QuestionSchema, SegmentSlug } from "./alert_question.ts";
import { ReceiverMembers } from "./receivers.ts";
import { DIGEST_PROJECTS_MAX, DIGEST_QUESTIONS_MAX } from "./notification_limits.ts";

const DIGEST_PERIODS = ["daily", "weekly", "monthly"] as const;

const members = {
  title: Title.meta({ description: "Its heading.", example: "The shop, every Monday" }),
  every: z.enum(DIGEST_PERIODS, `Use ${DIGEST_PERIODS.join(", ")}.`).meta({
    description: "daily: of yesterday; weekly: on Mondays, of the week before; monthly: on the " +
      "first, of the month before.",
  }),
  at: z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, "Give a time such as 08:00.")
    .default("08:00").meta({ description: "Local time at which it is sent.", example: "08:00" }),
  timezone: Timezone.nullable().default(null).meta({
    description: "Zone of `at` and of all its days; null: that of the project that it is in.",
  }),
  ...ReceiverMembers,
  projects: z.array(ProjectId).max(
    DIGEST_PROJECTS_MAX,
    `Name at most ${DIGEST_PROJECTS_MAX} projects.`,
  ).refine((all) => new Set(all).size === all.length, "Name each project once.")
    .default([])
    .meta({
      description: "The projects that it covers, in this order; empty: the project that it is in.",
    }),
  filters: FiltersSchema.default([]).meta({ description: "They apply to all of its figures." }),
  segment: SegmentSlug.meta({
    description: "Slug of a segment that each of its projects has: it covers only these people.",
  }),
  questions: z.array(QuestionSchema).max(
    DIGEST_QUESTIONS_MAX,
    `Ask at most ${DIGEST_QUESTIONS_MAX} questions.`,
  ).default([]).meta({
    description:
      "Additional figures, also under its filters; a question's segment replaces the digest's.",
  }),
};

/** Body of `PUT /v1/digests/:slug`. */
export const DigestBody = z.strictObject(members).meta({ id: "DigestDefinition" });

export type DigestDefinition = z.output<typeof DigestBody>;
/** When it is sent. */
export type DigestTimes = Pick<DigestDefinition, "every" | "at">;

/** A digest as replies show it. */
export const DigestShown = z.object({
  slug: z.string(),
  ...members,
  nextAt: z.iso.datetime().meta({ description: "When it is sent next." }),
  problem: z.string().nullable().meta({
    description: "Why the last one was not made, in a sentence; null: it was.",
  }),
}).meta({ id: "Digest" });

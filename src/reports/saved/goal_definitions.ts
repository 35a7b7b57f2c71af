import { z } from "zod";
import type { Sql } from "../../db/sql.ts";
import { GOAL_FIXED_VALUE_MAX, GOALS_MAX, NAME_LENGTH_MAX } from "../../limits.ts";
import type { Problem } from "../../problem.ts";
import { FiltersSchema, propertyOf } from "../../query/filters.ts";
import { invalidParameter, storableText } from "../../query/parameters.ts";
import { EventName, StorableText, Title } from "../../text_schemas.ts";
import { type DefinitionKind, listerOf, loaderOf } from "./saved_definitions.ts";

const GoalMatch = z.strictObject({
  name: EventName.meta({ description: "The event's name.", example: "purchase" }),
  filters: FiltersSchema.default([]),
}).meta({ id: "GoalMatch", description: "The events that are conversions." });

const Currency = z.string().regex(/^[A-Z]{3}$/, "Use three capital letters such as EUR.")
  .meta({ description: "ISO 4217 code.", example: "EUR" });
const Property = StorableText
  .max(NAME_LENGTH_MAX, `Use at most ${NAME_LENGTH_MAX} characters.`)
  .transform((key) => propertyOf(key) ?? key)
  .pipe(z.string().min(1, "Give the key of a property."))
  .meta({
    description: "Key of the property whose JSON numbers are summed; `properties.` may precede it.",
    example: "revenue",
  });
const Fixed = z.number("Give a number.")
  .min(-GOAL_FIXED_VALUE_MAX, `Use at least ${-GOAL_FIXED_VALUE_MAX}.`)
  .max(GOAL_FIXED_VALUE_MAX, `Use at most ${GOAL_FIXED_VALUE_MAX}.`)
  .meta({ description: "What each conversion is worth.", example: 25 });

const GoalValue = z.union([
  z.object({ property: z.string(), currency: z.string() }),
  z.object({ fixed: z.number(), currency: z.string() }),
]);

/** What a conversion is worth: the number in a property of its event, or a fixed amount. */
export type GoalValue = z.output<typeof GoalValue>;

// One object, not a union of two, so that errors name their place.
const GivenValue = z.strictObject({
  property: Property.optional(),
  fixed: Fixed.optional(),
  currency: Currency,
}).transform(({ property, fixed, currency }, context): GoalValue => {
  if (property !== undefined && fixed === undefined) return { property, currency };
  if (fixed !== undefined && property === undefined) return { fixed, currency };
  context.issues.push({
    code: "custom",
    message: "Give either property or fixed.",
    input: { property, fixed },
  });
  return z.NEVER;
}).describe("Either `property` or `fixed`, and the currency.");

/** Body of `PUT /v1/goals/:slug`. */
export const GoalBody = z.strictObject({
  title: Title.meta({ description: "What people call the goal.", example: "Purchase" }),
  match: GoalMatch,
  value: GivenValue.nullable().default(null),
}).meta({ id: "GoalDefinition" });

/** The worth of a conversion as replies show it; null: the goal has none. */
export const GoalValueShown = GoalValue.nullable()
  .describe("What a conversion is worth; null where none is given.");

export const GoalMatchShown = z.object({ name: z.string(), filters: FiltersSchema });

/** A saved goal as replies show it. */
export const GoalShown = z.object({
  slug: z.string().meta({ example: "purchase" }),
  title: z.string(),
  match: GoalMatchShown,
  value: GoalValueShown,
}).meta({ id: "SavedGoal" });

/** A saved goal. */
export interface Goal extends z.output<typeof GoalBody> {
  readonly slug: string;
}

export const GOAL_KIND: DefinitionKind<Pick<Goal, "match" | "value">, Goal> = {
  table: "goals",
  one: "goal",
  many: "goals",
  countMax: GOALS_MAX,
  read: ({ slug, title, definition: { match, value } }) => ({
    slug,
    title,
    match: { name: match.name, filters: match.filters },
    value,
  }),
};

/** Lists the goals of a project, in the order of slugs. */
export const listGoals = listerOf(GOAL_KIND);

/** Loads a goal by its slug; null: the project has none with it. */
export const loadGoal = loaderOf(GOAL_KIND);

/** Makes the Problem of a `goal` that the project does not have. */
export function unknownGoal(): Problem {
  return invalidParameter("goal", "There is no goal of this slug.");
}

/** Loads the goal that a read names; null where it names none. @throws Problem `invalid_parameter` */
export async function loadAskedGoal(
  sql: Sql,
  projectId: number,
  slug: string | null,
): Promise<Goal | null> {
  if (slug === null) return null;
  const goal = await loadGoal(sql, projectId, slug);
  if (goal === null) throw unknownGoal();
  return goal;
}

/** Reads `goal`, the slug of a saved goal; null where it is not given. */
export function readGoalSlug(query: URLSearchParams): string | null {
  return storableText(query, "goal", NAME_LENGTH_MAX, "Use the slug of a saved goal.");
}

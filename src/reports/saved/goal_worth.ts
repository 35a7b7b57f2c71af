import { z } from "zod";
import type { GoalValue } from "./goal_definitions.ts";

/** What conversions are worth as replies show it. */
export const WorthShown = z.object({
  amount: z.number().nullable(),
  currency: z.string().nullable(),
}).meta({ id: "Worth" });

/** Conversions, and the sum of the goal's property over them. */
interface Converted {
  readonly totalConversions: number;
  readonly amount: number;
}

/** What these conversions are worth together; nulls where the goal has no value. */
export function worthOf(
  value: GoalValue | null,
  { totalConversions, amount }: Converted,
): z.output<typeof WorthShown> {
  if (value === null) return { amount: null, currency: null };
  const { currency } = value;
  if ("property" in value) return { amount, currency };
  // 3 × 0.1 is 0.3: the last digit of a double is none of the amount's.
  return { amount: Number((value.fixed * totalConversions).toPrecision(15)), currency };
}

/** The key of the property whose numbers a goal is worth; null: it has none. */
export function worthProperty(value: GoalValue | null): string | null {
  return value !== null && "property" in value ? value.property : null;
}

import { z } from "zod";
import type { GoalValue } from "./goal_definitions.ts";

/** The worth of conversions as replies show it. */
export const WorthShown = z.object({
  amount: z.number().nullable(),
  currency: z.string().nullable(),
}).meta({ id: "Worth" });

/** Returns the worth of conversions, with the sum of the goal's property over them; nulls where it has no value. */
export function worthOf(
  value: GoalValue | null,
  { totalConversions, amount }: { readonly totalConversions: number; readonly amount: number },
): z.output<typeof WorthShown> {
  if (value === null) return { amount: null, currency: null };
  const { currency } = value;
  if ("property" in value) return { amount, currency };
  // Rounds away the error of doubles: 3 × 0.1 is 0.3.
  return { amount: Number((value.fixed * totalConversions).toPrecision(15)), currency };
}

/** Returns the key of the property with a goal's worth; null: there is none. */
export function worthProperty(value: GoalValue | null): string | null {
  return value !== null && "property" in value ? value.property : null;
}

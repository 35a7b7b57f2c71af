import { z } from "zod";
import { type Rate, rate } from "./report.ts";

/** Returns (current − previous) / previous; null if previous is 0 or either is missing. */
export function changeOf(current: number | null, previous: number | null): number | null {
  return current === null || previous === null ? null : rate(current - previous, previous).value;
}

/** Returns current − previous of two rates; null if either has no value. */
export function pointsOf(current: Rate, previous: Rate): number | null {
  return current.value === null || previous.value === null ? null : current.value - previous.value;
}

export const ChangeShown = z.number().nullable().describe(
  "(current − previous) / previous, 0.38 is +38%; null on a base of zero or nothing",
);

export const PointsShown = z.number().nullable().describe(
  "current − previous of the rate, 0.044 is +4.4 points; null if either has no value",
);

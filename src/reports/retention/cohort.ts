import { z } from "zod";
import { RateShown } from "../answer/report.ts";

/** The actors of a cohort who returned in a period. */
const Cell = z.object({
  period: z.int().describe("Periods after the cohort's own, which is 0"),
  actors: z.int().nullable().describe("Who returned; null: has not begun, or too few for a share"),
  rate: RateShown,
  complete: z.boolean().describe("False while the period runs, and before"),
}).meta({ id: "RetentionCell" });

/** The actors who began in one period, and who of them returned. */
export const Cohort = z.object({
  start: z.iso.datetime().describe("When the cohort's period begins"),
  label: z.string().describe(
    "The same, as local text; $other: all cohorts of too few people for a share",
  ),
  size: z.int().describe("Actors of the cohort"),
  cells: z.array(Cell),
}).meta({ id: "RetentionCohort" });

export type Cohort = z.output<typeof Cohort>;

import { z } from "zod";
import { RateShown } from "../answer/report.ts";

const told = (description: string) =>
  z.int().nullable().describe(`${description}; null: of imported days alone, which do not tell it`);

export const PageRow = z.object({
  path: z.string().describe("$other: all pages of too few visitors for a share"),
  visitors: told("Distinct actors of the selected page views"),
  pageviews: told("Selected page views in the range"),
  entries: told("Sessions that begin here"),
  exits: told("Sessions that end here"),
  bounceRate: RateShown.describe("Bounces among the sessions that begin here"),
  medianSecondsOnPage: z.number().nullable().describe(
    "To the session's next page view, of the last one to the session's last event",
  ),
  medianScrollDepth: z.number().nullable().describe(
    "Deepest point reached, as a fraction of the document's height",
  ),
  imported: z.literal(true).optional().describe(
    "Daily sums of another product are in it, as `query.imported` tells",
  ),
}).meta({ id: "PageRow" });

export type PageRow = z.output<typeof PageRow>;

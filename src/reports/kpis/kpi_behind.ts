import { z } from "zod";
import { readJson } from "../../query/filters.ts";
import { spanOf } from "../../query/range.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import { behindWhere } from "../behind/behind_tally.ts";
import { scanCounts } from "./kpi_scan.ts";
import { LISTED_KPIS } from "./kpi_visitor.ts";

/** The key figure that `of` names: one whose people or visits no filter can express. */
const KpiNumber = z.strictObject({
  count: z.enum(
    LISTED_KPIS,
    `Use one of ${LISTED_KPIS.join(", ")}: all others are the list itself.`,
  ),
});

/** Lists the new visitors of the key figures, or the visits that are bounces. */
export const KPI_BEHIND: NumberedRead = {
  name: "kpis",
  parameters: [],
  ask: (query, listed) => {
    const { count } = readJson(query, "place", KpiNumber)!;
    const isOfVisits = count === "bounces";
    refuseListed(listed, isOfVisits ? "visits" : "people");
    return {
      find: async (read) => {
        const { counts: { behind }, isNew } = await scanCounts(read, [spanOf(read.range)], count);
        return isOfVisits ? behind : behindWhere(behind, (i) => isNew(behind.actors[i]!));
      },
    };
  },
};

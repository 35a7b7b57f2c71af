import { z } from "zod";
import { readJson } from "../../query/filters.ts";
import { spanOf } from "../../query/range.ts";
import type { Read } from "../../scans/read.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import { type Behind, behindWhere } from "../behind/behind_tally.ts";
import { scanCounts } from "./kpi_scan.ts";
import { LISTED_KPIS } from "./kpi_visitor.ts";

const KpiNumber = z.strictObject({
  count: z.enum(
    LISTED_KPIS,
    `Use one of ${LISTED_KPIS.join(", ")}: all others are the list itself.`,
  ),
});

/** The key figure that `of` names: one whose people or visits no filter can express. */
type KpiNumber = z.output<typeof KpiNumber>;

async function find(read: Read, { count }: KpiNumber): Promise<Behind> {
  const { counts: { behind }, isNew } = await scanCounts(read, [spanOf(read.range)], count);
  return count === "bounces" ? behind : behindWhere(behind, (i) => isNew(behind.actors[i]!));
}

/** Lists the new visitors of the key figures, or the visits that are bounces. */
export const KPI_BEHIND: NumberedRead = {
  name: "kpis",
  parameters: [],
  ask: (query, listed) => {
    const number = readJson(query, "place", KpiNumber)!;
    refuseListed(listed, number.count === "bounces" ? "visits" : "people");
    return { find: (read) => find(read, number) };
  },
};

import { z } from "zod";
import { readJson } from "../../query/filters.ts";
import { spanOf } from "../../query/range.ts";
import type { Read } from "../../scans/read.ts";
import { type NumberedRead, refuseListed } from "../behind/behind.ts";
import { type Behind, behindWhere } from "../behind/behind_tally.ts";
import { scanTold } from "./kpi_scan.ts";
import { TOLD_KPIS } from "./kpi_visitor.ts";

const Place = z.strictObject({
  count: z.enum(TOLD_KPIS, `Use one of ${TOLD_KPIS.join(", ")}: all others are the list itself.`),
});

/** A key figure that no filter tells. */
type Place = z.output<typeof Place>;

async function find(read: Read, { count }: Place): Promise<Behind> {
  const { range } = read;
  const span = spanOf(range);
  const { behind, isNew } = await scanTold(read, span, count);
  return count === "bounces" ? behind : behindWhere(behind, (i) => isNew(behind.actors[i]!));
}

/** The new visitors of the key figures, and the visits that are bounces. */
export const KPI_BEHIND: NumberedRead = {
  name: "kpis",
  parameters: [],
  ask: (query, listed) => {
    const place = readJson(query, "place", Place)!;
    refuseListed(listed, place.count === "bounces" ? "visits" : "people");
    return { find: (read) => find(read, place), asking: [] };
  },
};

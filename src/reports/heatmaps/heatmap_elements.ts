import { z } from "zod";
import { HEATMAP_ELEMENTS_MAX } from "../../limits.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { compareBytes } from "../../scans/value_texts.ts";
import { firstRows } from "./actor_counts.ts";
import type { FoundCells } from "./heatmap_scan.ts";

/** A clicked element, named by the selector that the clicks carry. */
export const ElementShown = z.object({
  selector: z.string(),
  count: z.int().meta({ description: "Clicks on the element, those without a position too." }),
  visitors: z.int(),
}).meta({ id: "HeatmapElement" });

/** Reads `elements`, how many are listed: 0 by default, since listing looks up each click's selector. */
export function readElements(query: URLSearchParams): number {
  const value = query.get("elements");
  if (value === null || value === "") return 0;
  const count = Number(value);
  if (!/^\d{1,4}$/.test(value) || count > HEATMAP_ELEMENTS_MAX) {
    throw invalidParameter("elements", `Use a whole number from 0 to ${HEATMAP_ELEMENTS_MAX}.`);
  }
  return count;
}

/** Returns the elements with the most clicks, most first, that at least `visitorsMin` visitors clicked. */
export async function firstElements(
  { elements, textsOf }: FoundCells,
  rows: number,
  visitorsMin: number,
): Promise<z.output<typeof ElementShown>[]> {
  const selectors = await textsOf([...elements.keys]);
  const compare = (a: number, b: number) => compareBytes(selectors.get(a)!, selectors.get(b)!);
  return firstRows(elements, rows, compare, visitorsMin)
    .map(({ key, count, visitors }) => ({ selector: selectors.get(key)!, count, visitors }));
}

import { z } from "zod";
import { compareBytes } from "../../scans/value_texts.ts";
import { firstRows } from "./actor_counts.ts";
import type { FoundCells } from "./heatmap_scan.ts";

/** A clicked element, named by the selector that the clicks carry. */
export const ElementShown = z.object({
  selector: z.string(),
  count: z.int().meta({ description: "Clicks on the element, those without a position too." }),
  visitors: z.int(),
}).meta({ id: "HeatmapElement" });

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

import { z } from "zod";
import type { Sql } from "../db/sql.ts";
import { HEATMAP_ELEMENTS_MAX } from "../limits.ts";
import { jsonText, propertyJson } from "../selection/field_values.ts";
import { invalidParameter } from "../selection/parameters.ts";
import type { SqlParams } from "../selection/sql_params.ts";

/** What was clicked, by the selector that the click carries. */
export const ElementShown = z.object({
  selector: z.string(),
  count: z.int().meta({ description: "Clicks on the element, those without a position too." }),
  visitors: z.int(),
}).meta({ id: "HeatmapElement" });

/** `elements`: how many are listed; none by default, for each click is looked up for them. */
export function readElements(query: URLSearchParams): number {
  const value = query.get("elements");
  if (value === null || value === "") return 0;
  const count = Number(value);
  if (!/^\d{1,4}$/.test(value) || count > HEATMAP_ELEMENTS_MAX) {
    throw invalidParameter("elements", `Use a whole number from 0 to ${HEATMAP_ELEMENTS_MAX}.`);
  }
  return count;
}

/**
 * The elements with most of the clicks (facts f) that the conditions select, most first. The selector
 * stands in the stored event alone.
 */
export async function elementsOf(
  sql: Sql,
  params: SqlParams,
  conditions: string,
  count: number,
): Promise<readonly z.output<typeof ElementShown>[]> {
  if (count === 0) return [];
  const selector = jsonText(propertyJson("e", "selector", params.text("selector")));
  return await sql.query(
    `WITH clicks AS MATERIALIZED (
      SELECT f.project_id, f.event_id, f.actor_id FROM facts f WHERE ${conditions}
    )
    SELECT selector, count(*)::int AS count, count(DISTINCT actor_id)::int AS visitors
    FROM (
      SELECT c.actor_id, ${selector} AS selector
      FROM clicks c JOIN events e ON e.project_id = c.project_id AND e.event_id = c.event_id
    ) clicked
    WHERE selector IS NOT NULL
    GROUP BY selector
    ORDER BY count DESC, visitors DESC, selector COLLATE "C"
    LIMIT ${params.int(count)}`,
    params.values,
  );
}

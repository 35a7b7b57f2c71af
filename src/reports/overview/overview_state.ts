import { arrayLiteral, type Row, type Sql } from "../../db/sql.ts";
import { PENDING_ROWS, PENDING_SUM, type ProjectedState } from "../answer/projected_state.ts";

/** How far the projection of one of several projects is. */
export interface OverviewState extends ProjectedState {
  readonly projectId: number;
}

const STATES = `
SELECT k.project_id AS "projectId",
  coalesce(w.pending, 0) + coalesce(e.remaining, 0) AS pending,
  p.timezone,
  (SELECT min(day) FROM imported_days WHERE project_id = k.project_id) IS NOT NULL AS "hasImported"
FROM unnest($1::text::int[]) AS k (project_id)
LEFT JOIN (
  SELECT project_id, ${PENDING_SUM} AS pending FROM journal
  WHERE project_id = ANY ($1::text::int[]) AND ${PENDING_ROWS}
  GROUP BY project_id
) AS w USING (project_id)
LEFT JOIN projections p USING (project_id)
LEFT JOIN earlier_projects e USING (project_id)`;

/** Reads in one statement for all projects what `projectedState` reads for one. */
export async function readStates(
  sql: Sql,
  projectIds: readonly number[],
): Promise<Map<number, OverviewState>> {
  if (projectIds.length === 0) return new Map();
  const rows = await sql.query<OverviewState & Row>(STATES, [arrayLiteral(projectIds)]);
  return new Map(rows.map((row) => [row.projectId, row]));
}

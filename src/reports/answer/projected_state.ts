import type { Project } from "../../auth/projects.ts";
import type { Sql } from "../../db/sql.ts";

/** How far the projection is, at the moment of a snapshot. */
export interface ProjectedState {
  /** Events that are stored and not counted yet. */
  readonly pending: number;
  /** The time zone of the rollups' days; null while there are no rollups. */
  readonly timezone: string | null;
  /** Whether daily sums of other products were imported. */
  readonly hasImported: boolean;
}

/** The SQL condition of journal rows with events that are not counted yet. */
export const PENDING_ROWS = "(projected_at IS NULL OR set_aside_until IS NOT NULL)";
/** An SQL aggregate over such rows: the number of their events that are not counted yet. */
export const PENDING_SUM = `coalesce(sum(CASE
        WHEN projected_at IS NULL OR set_aside_ids IS NULL THEN greatest(event_count - projected_count, 0)
        ELSE 0 END + coalesce(cardinality(set_aside_ids), 0)), 0)::int8`;

/**
 * Reads how many events are pending, in the journal and in an upgrade under way, the rollups' time zone,
 * and whether anything was imported: in one statement, as each read needs all of it. `min(day)` is always
 * looked up in the index; EXISTS may be planned as a scan of all projects' rows.
 */
export async function projectedState(sql: Sql, projectId: number): Promise<ProjectedState> {
  const [row] = await sql.query<ProjectedState & Record<string, unknown>>(
    `SELECT waiting.pending + coalesce(e.remaining, 0) AS pending, p.timezone,
      (SELECT min(day) FROM imported_days WHERE project_id = $1::int) IS NOT NULL AS "hasImported"
    FROM (
      SELECT ${PENDING_SUM} AS pending
      FROM journal
      WHERE project_id = $1::int AND ${PENDING_ROWS}
    ) AS waiting
    LEFT JOIN projections p ON p.project_id = $1::int
    LEFT JOIN earlier_projects e ON e.project_id = $1::int`,
    [projectId],
  );
  return row!;
}

/** Returns the project with the time zone of its rollups; the zone is empty while there are no rollups. */
export function asRolled(project: Project, { timezone }: ProjectedState): Project {
  return { ...project, timezone: timezone ?? "" };
}

import type { Project } from "../auth/projects.ts";
import type { Sql } from "../db/sql.ts";

/** How far the fold is, at the moment of a snapshot. */
export interface FoldedState {
  /** Events that are stored and not counted yet. */
  readonly pending: number;
  /** Whose days the rollups count by; null while they hold for none. */
  readonly timezone: string | null;
}

/** Looks at the marks that the fold has not consumed: each says how many events it holds. */
export async function foldedState(sql: Sql, projectId: number): Promise<FoldedState> {
  const [row] = await sql.query<FoldedState & Record<string, unknown>>(
    `SELECT marks.pending, f.timezone
    FROM (
      SELECT coalesce(sum(event_count), 0)::int8 AS pending
      FROM fold_marks WHERE project_id = $1::int) AS marks
    LEFT JOIN fold_projects f ON f.project_id = $1::int`,
    [projectId],
  );
  return row!;
}

/** The project as reports know it: with the time zone of its rollups, and none while they hold for none. */
export function asRolled(project: Project, { timezone }: FoldedState): Project {
  return { ...project, timezone: timezone ?? "" };
}

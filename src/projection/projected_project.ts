import { exists, type Sql } from "../db/sql.ts";
import { RULES_VERSION } from "./dictionaries.ts";

/** A project's settings, and those it has been projected with. */
export interface ProjectedProject extends Record<string, unknown> {
  readonly site_host: string | null;
  readonly known_host: string | null;
  readonly rules_version: number | null;
  readonly timezone: string;
  /** The time zone of the rollups; null: they are incomplete. */
  readonly known_timezone: string | null;
  readonly recount_timezone: string | null;
  readonly recounted_to: number | null;
  readonly links_version: number;
}

const PROJECT = `
SELECT p.site_host, j.site_host AS known_host, j.rules_version,
  p.timezone, j.timezone AS known_timezone, j.recount_timezone, j.recounted_to, j.links_version
FROM projections j JOIN projects p USING (project_id)
WHERE j.project_id = $1::int FOR UPDATE OF j`;

// A plan made while the tables were empty would scan them later: 3,000 instead of 20,000 events/s until the
// next automatic ANALYZE.
const SETTINGS = "SET LOCAL jit = off; SET LOCAL plan_cache_mode = force_custom_plan;";

/**
 * Locks a project for a transaction that changes its projected state.
 * @param whereLocked " SKIP LOCKED": null also where another transaction holds the lock; else it is waited for
 * @returns null where there is no such project
 */
export async function beginProjection(
  tx: Sql,
  projectId: number,
  whereLocked: "" | " SKIP LOCKED" = "",
): Promise<ProjectedProject | null> {
  await tx.script(SETTINGS);
  const [row] = await tx.query<ProjectedProject>(PROJECT + whereLocked, [projectId]);
  if (row !== undefined) return row;
  const added = await tx.query(
    `INSERT INTO projections (project_id)
    SELECT project_id FROM projects WHERE project_id = $1::int ON CONFLICT DO NOTHING
    RETURNING project_id`,
    [projectId],
  );
  if (added.length > 0 || whereLocked === "") {
    return (await tx.query<ProjectedProject>(PROJECT + whereLocked, [projectId]))[0] ?? null;
  }
  return null;
}

/** Whether the project's traffic was classified with its present site and the present rules, or later ones. */
export function hasCurrentRules(
  { site_host, known_host, rules_version }: ProjectedProject,
): boolean {
  return site_host === known_host && (rules_version ?? 0) >= RULES_VERSION;
}

/** Selects projects that were projected with another site, another time zone or earlier channel rules. */
export const STALE_PROJECTS = `
SELECT project_id FROM projections j JOIN projects p USING (project_id)
WHERE (j.site_host IS DISTINCT FROM p.site_host OR coalesce(j.rules_version, 0) < ${RULES_VERSION}
  OR j.timezone IS DISTINCT FROM p.timezone)`;

/** Whether the project is one of `STALE_PROJECTS`. */
export function isStale(sql: Sql, projectId: number): Promise<boolean> {
  return exists(sql, `${STALE_PROJECTS} AND project_id = $1::int`, [projectId]);
}

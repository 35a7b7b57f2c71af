import type { Sql } from "../db/sql.ts";
import { RULES_VERSION } from "./fold_dictionaries.ts";
import { FOLD_TABLES } from "./fold_tables.ts";

const SITE_HOST = "lower(substring(p.site_url from '^[A-Za-z]+://(?:[^/?#@]*@)?([^/?#:]+)'))";

/** A project, and by what it was folded so far. */
export interface FoldedProject extends Record<string, unknown> {
  readonly site_host: string | null;
  readonly known_host: string | null;
  readonly rules_version: number | null;
  readonly timezone: string;
  /** Whose days the rollups count by; null: they do not hold. */
  readonly known_timezone: string | null;
  readonly recount_timezone: string | null;
  readonly recounted_to: number | null;
  readonly has_histories: boolean;
  readonly histories_to: number | null;
}

const PROJECT = `
SELECT ${SITE_HOST} AS site_host, f.site_host AS known_host, f.rules_version,
  p.timezone, f.timezone AS known_timezone, f.recount_timezone, f.recounted_to,
  f.has_histories, f.histories_to
FROM fold_projects f JOIN projects p USING (project_id)
WHERE f.project_id = $1::int FOR UPDATE OF f`;

// A plan that was made while the tables were empty reads all of them later: 3,000 instead of 20,000
// events/s until the next automatic ANALYZE. Ten columns' worth of statistics are enough for a batch.
const FOLD_SETTINGS = `
SET LOCAL jit = off;
SET LOCAL work_mem = '64MB';
SET LOCAL plan_cache_mode = force_custom_plan;
SET LOCAL default_statistics_target = 10;`;

async function lockProject(
  tx: Sql,
  projectId: number,
  ofOthers: "" | " SKIP LOCKED",
): Promise<FoldedProject | null> {
  const [row] = await tx.query<FoldedProject>(PROJECT + ofOthers, [projectId]);
  if (row !== undefined) return row;
  const added = await tx.query(
    `INSERT INTO fold_projects (project_id)
    SELECT project_id FROM projects WHERE project_id = $1::int ON CONFLICT DO NOTHING
    RETURNING project_id`,
    [projectId],
  );
  if (added.length > 0 || ofOthers === "") {
    return (await tx.query<FoldedProject>(PROJECT + ofOthers, [projectId]))[0] ?? null;
  }
  return null;
}

/**
 * Begins a transaction that changes what the fold has made of a project: nobody else does until it
 * ends. Null where there is no such project.
 */
export async function beginFold(tx: Sql, projectId: number): Promise<FoldedProject | null> {
  await tx.script(`${FOLD_SETTINGS} ${FOLD_TABLES}`);
  return await lockProject(tx, projectId, "");
}

/** The same, and null too where somebody else does at this moment: nobody waits for them. */
export async function beginFoldUnlessElsewhere(
  tx: Sql,
  projectId: number,
): Promise<FoldedProject | null> {
  await tx.script(`${FOLD_SETTINGS} ${FOLD_TABLES}`);
  return await lockProject(tx, projectId, " SKIP LOCKED");
}

/** Whether the project's traffic was told by the rules and the site that hold now. */
export function hasRulesOfNow({ site_host, known_host, rules_version }: FoldedProject): boolean {
  return site_host === known_host && rules_version === RULES_VERSION;
}

/** Projects whose site, time zone or channel rules are not those that they were folded with, or that lack histories. */
export const STALE_PROJECTS = `
SELECT project_id FROM fold_projects f JOIN projects p USING (project_id)
WHERE (f.site_host IS DISTINCT FROM ${SITE_HOST} OR f.rules_version IS DISTINCT FROM ${RULES_VERSION}
  OR f.timezone IS DISTINCT FROM p.timezone OR NOT f.has_histories)`;

/** Whether the project is one of those. */
export async function isStale(sql: Sql, projectId: number): Promise<boolean> {
  const rows = await sql.query(`${STALE_PROJECTS} AND project_id = $1::int`, [projectId]);
  return rows.length > 0;
}

import type { Sql } from "./sql.ts";

/**
 * Has the writers of one project take turns until the transaction ends; events are stored meanwhile.
 * @returns its time zone, which stays until then
 */
export async function holdProject(tx: Sql, projectId: number): Promise<string> {
  const [row] = await tx.query<{ timezone: string }>(
    "SELECT timezone FROM projects WHERE project_id = $1::int FOR NO KEY UPDATE",
    [projectId],
  );
  return row!.timezone;
}

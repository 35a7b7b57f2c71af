import type { Sql } from "./sql.ts";

/**
 * Locks a project against other changes of its settings and definitions until the transaction ends; events are
 * stored meanwhile.
 * @returns its time zone, which cannot change until then
 */
export async function holdProject(tx: Sql, projectId: number): Promise<string> {
  const [row] = await tx.query<{ timezone: string }>(
    "SELECT timezone FROM projects WHERE project_id = $1::int FOR NO KEY UPDATE",
    [projectId],
  );
  return row!.timezone;
}

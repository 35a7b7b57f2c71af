import type { Sql } from "./sql.ts";

/** Has the writers of one project take turns until the transaction ends; events are stored meanwhile. */
export async function holdProject(tx: Sql, projectId: number): Promise<void> {
  await tx.query("SELECT FROM projects WHERE project_id = $1::int FOR NO KEY UPDATE", [projectId]);
}

import type { Sql } from "../db/sql.ts";

/** When the first event of a project happened of those that are stored and counted; null: there is none. */
export async function firstEventMs(sql: Sql, projectId: number): Promise<number | null> {
  const [row] = await sql.query<{ ms: number | null }>(
    "SELECT min(from_ms) AS ms FROM segments WHERE project_id = $1::int",
    [projectId],
  );
  return row!.ms;
}

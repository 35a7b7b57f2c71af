import type { Sql } from "../db/sql.ts";

/** Returns the time of a project's first projected event; null: there is none. */
export async function firstEventMs(sql: Sql, projectId: number): Promise<number | null> {
  const [row] = await sql.query<{ ms: number | null }>(
    "SELECT min(from_ms) AS ms FROM segments WHERE project_id = $1::int",
    [projectId],
  );
  return row!.ms;
}

import type { Sql } from "../db/sql.ts";

interface Moved extends Record<string, unknown> {
  project_id: number;
  slug: string;
  due_at: Date;
  timezone: string;
}

/**
 * Digests that go by their project's time zone are due at the same local time of its new one; in the
 * transaction that changes it, and before it does. One that is due, or to be made again, stays as it is.
 */
export async function moveDigests(sql: Sql, project: string, timezone: string): Promise<void> {
  const digests = await sql.query<Moved>(
    `SELECT d.project_id, d.slug, d.due_at, p.timezone FROM digests d JOIN projects p USING (project_id)
    WHERE p.public_id = $1::text AND p.timezone <> $2::text
      AND d.definition->>'timezone' IS NULL AND d.problem IS NULL AND d.due_at > now()
    FOR UPDATE OF d`,
    [project, timezone],
  );
  for (const { project_id, slug, due_at, timezone: before } of digests) {
    const local = Temporal.Instant.fromEpochMilliseconds(due_at.getTime())
      .toZonedDateTimeISO(before).toPlainDateTime();
    await sql.query(
      `UPDATE digests SET due_at = $3::text::timestamptz
      WHERE project_id = $1::int AND slug = $2::text`,
      [project_id, slug, local.toZonedDateTime(timezone).toInstant().toString()],
    );
  }
}

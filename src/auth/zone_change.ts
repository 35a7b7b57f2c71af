import type { Sql } from "../db/sql.ts";

interface Moved extends Record<string, unknown> {
  slug: string;
  due_at: Date;
}

/**
 * Digests that go by their project's time zone are due at the same local time of its new one; in the
 * transaction that has changed it. One that is due, or to be made again, stays as it is.
 */
export async function moveDigests(
  sql: Sql,
  projectId: number,
  before: string,
  after: string,
): Promise<void> {
  if (before === after) return;
  const digests = await sql.query<Moved>(
    `SELECT slug, due_at FROM digests
    WHERE project_id = $1::int AND definition->>'timezone' IS NULL AND problem IS NULL
      AND due_at > now()
    FOR UPDATE`,
    [projectId],
  );
  for (const { slug, due_at } of digests) {
    const local = Temporal.Instant.fromEpochMilliseconds(due_at.getTime())
      .toZonedDateTimeISO(before).toPlainDateTime();
    await sql.query(
      `UPDATE digests SET due_at = $3::text::timestamptz
      WHERE project_id = $1::int AND slug = $2::text`,
      [projectId, slug, local.toZonedDateTime(after).toInstant().toString()],
    );
  }
}

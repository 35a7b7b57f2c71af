import type { Sql } from "../db/sql.ts";

interface Moved extends Record<string, unknown> {
  slug: string;
  due_at: Date;
  at: string;
}

/**
 * Digests that go by their project's time zone are due at their time of the same date in its new one; in
 * the transaction that has changed it. One that is due, or to be made again, stays as it is.
 */
export async function moveDigests(
  sql: Sql,
  projectId: number,
  before: string,
  after: string,
): Promise<void> {
  if (before === after) return;
  const digests = await sql.query<Moved>(
    `SELECT slug, due_at, definition->>'at' AS at FROM digests
    WHERE project_id = $1::int AND definition->>'timezone' IS NULL AND problem IS NULL
      AND due_at > now()
    FOR UPDATE`,
    [projectId],
  );
  for (const { slug, due_at, at } of digests) {
    // Its date alone: a clock change of the old zone may have shifted the time.
    const date = Temporal.Instant.fromEpochMilliseconds(due_at.getTime())
      .toZonedDateTimeISO(before).toPlainDate();
    const due = date.toZonedDateTime({ timeZone: after, plainTime: Temporal.PlainTime.from(at) });
    await sql.query(
      `UPDATE digests SET due_at = $3::text::timestamptz
      WHERE project_id = $1::int AND slug = $2::text`,
      [projectId, slug, due.toInstant().toString()],
    );
  }
}

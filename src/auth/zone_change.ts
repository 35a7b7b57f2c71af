import type { Sql } from "../db/sql.ts";

interface DigestRow extends Record<string, unknown> {
  slug: string;
  due_at: Date;
  at: string;
}

/**
 * Moves digests that follow their project's time zone to the same date and time in its new zone, in the
 * transaction that changed it. A digest that is due already, or will be retried, is left as it is.
 */
export async function moveDigests(
  sql: Sql,
  projectId: number,
  before: string,
  after: string,
): Promise<void> {
  if (before === after) return;
  const digests = await sql.query<DigestRow>(
    `SELECT slug, due_at, definition->>'at' AS at FROM digests
    WHERE project_id = $1::int AND definition->>'timezone' IS NULL AND problem IS NULL
      AND due_at > now()
    FOR UPDATE`,
    [projectId],
  );
  for (const { slug, due_at, at } of digests) {
    // Only the date is taken over: a clock change in the old zone may have shifted the time.
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

import { promptly } from "./deadline.ts";
import { NO_RIGHT, READ_ONLY, refusal } from "./refusal.ts";
import type { Database } from "./sql.ts";

/** What ingestion stores in. A table that is not there yet is no hindrance where a migration may make it. */
const STORED_IN = ["daily_salts", "event_ids", "journal"];

const HINDRANCE = `
SELECT CASE
  WHEN current_setting('transaction_read_only')::bool THEN '${READ_ONLY}'
  WHEN NOT (${
  STORED_IN.map((name) => `has_table_privilege(to_regclass('${name}'), 'INSERT')`).join(" AND ")
}) THEN '${NO_RIGHT}'
  WHEN to_regclass('schema_migrations') IS NULL AND NOT has_schema_privilege(current_schema(), 'CREATE')
  THEN '${NO_RIGHT}' END AS hindrance`;

/**
 * Resolves when the database answers and takes writes.
 * @throws DatabaseUnavailable where it does not answer in time; DatabaseRefuses, which says what to do
 */
export async function assertWritable(database: Database): Promise<void> {
  // The embedded engine is read-only while the disk is full, which is told as that.
  if (database.engine === "embedded") return await database.ping();
  const [row] = await promptly(database.query<{ hindrance: string | null }>(HINDRANCE));
  const hindrance = row!.hindrance;
  if (hindrance !== null) throw refusal("nothing can be stored", hindrance);
}

import { promptly } from "./deadline.ts";
import { NO_RIGHT, READ_ONLY, refusal } from "./refusal.ts";
import type { Database, Row } from "./sql.ts";

/**
 * The rights that storing, counting and removing events needs. A missing table is no obstacle if a migration may make
 * it.
 */
export const NEEDED_RIGHTS: Readonly<Record<string, string>> = {
  projects: "SELECT",
  api_keys: "SELECT",
  daily_salts: "SELECT INSERT DELETE TRUNCATE",
  event_ids: "SELECT INSERT DELETE",
  journal: "SELECT INSERT UPDATE DELETE",
  segments: "SELECT INSERT DELETE",
  projections: "SELECT INSERT UPDATE",
  terms: "SELECT INSERT UPDATE DELETE",
  technical_names: "SELECT INSERT DELETE",
  referrers: "SELECT INSERT DELETE",
  contexts: "SELECT INSERT UPDATE",
  traffic: "SELECT INSERT UPDATE",
  identities: "SELECT INSERT UPDATE DELETE",
  actors: "SELECT INSERT UPDATE DELETE",
  sessions: "SELECT INSERT UPDATE DELETE",
  day_totals: "SELECT INSERT UPDATE DELETE",
  session_durations: "SELECT INSERT UPDATE DELETE",
  visitor_days: "SELECT INSERT UPDATE DELETE",
  acquisition_days: "SELECT INSERT UPDATE DELETE",
};

const RIGHTS = Object.entries(NEEDED_RIGHTS).flatMap(([table, rights]) =>
  rights.split(" ").map((right) => `('${table}', '${right}')`)
);

const OBSTACLE = `
SELECT CASE
  WHEN current_setting('transaction_read_only')::bool THEN '${READ_ONLY}'
  WHEN lacking IS NOT NULL OR
    to_regclass('schema_migrations') IS NULL AND NOT has_schema_privilege(current_schema(), 'CREATE')
  THEN '${NO_RIGHT}' END AS obstacle, lacking
FROM (SELECT (
  SELECT "right" || ' on ' || name FROM (VALUES ${RIGHTS.join(", ")}) AS needed (name, "right")
  WHERE NOT has_table_privilege(to_regclass(name), "right") LIMIT 1) AS lacking) AS found`;

interface Obstacle extends Row {
  /** The code of the refusal to expect; null: there is none. */
  readonly obstacle: string | null;
  readonly lacking: string | null;
}

/**
 * Resolves when the database answers and accepts writes.
 * @throws DatabaseUnavailable if it does not answer in time; DatabaseRefuses, which says what to do
 */
export async function assertWritable(database: Database): Promise<void> {
  // The embedded engine is read-only only while the disk is full, which is reported elsewhere.
  if (database.engine === "embedded") return await database.ping();
  const [row] = await promptly(database.query<Obstacle>(OBSTACLE));
  const { obstacle, lacking } = row!;
  if (obstacle === null) return;
  const without = lacking === null || obstacle !== NO_RIGHT ? "" : ` without ${lacking}`;
  throw refusal(`events cannot be stored, counted and removed${without}`, obstacle);
}

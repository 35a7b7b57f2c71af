import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { arrayLiteral, type Database } from "../../src/db/sql.ts";
import { EVENT_COLUMN_TYPES, type EventRow } from "../../src/store/event_row.ts";

/** The last schema of before there were segments. */
const EARLIER_VERSION = 7;

const COLUMNS = Object.keys(EVENT_COLUMN_TYPES) as (keyof EventRow)[];

/** A database as a program of before there were segments had made it, with two projects. */
export async function migrateEarlier(database: Database): Promise<void> {
  await migrate(database, MIGRATIONS.filter(({ version }) => version <= EARLIER_VERSION));
  await database.script(
    "INSERT INTO projects (public_id, name) VALUES ('prj_one', 'One'), ('prj_two', 'Two')",
  );
}

/** Stores events as that program did: a wide row each. */
export async function storeEarlier(database: Database, rows: readonly EventRow[]): Promise<void> {
  const arrays = COLUMNS.map((name, i) => `$${i + 1}::text::${EVENT_COLUMN_TYPES[name]}[]`);
  await database.query(
    `INSERT INTO events (${COLUMNS.join(", ")}) SELECT * FROM unnest(${arrays.join(", ")})`,
    COLUMNS.map((name) => arrayLiteral(rows.map((row) => row[name]))),
  );
}

import type { Database } from "../db/sql.ts";
import {
  FOLD_ANALYSE_EVENTS_MAX,
  FOLD_ANALYSE_EVENTS_MIN,
  FOLD_ANALYSE_LARGE_EVENTS,
} from "../limits.ts";

/** Tables that the fold changes much; plans need to know their sizes. */
const FOLDED_TABLES = [
  "facts",
  "sessions",
  "actors",
  "identities",
  "visitor_days",
  "acquisition_days",
  "history_segments",
];

/** How many facts the planner knows of: -1 where nobody ever told it; and how many there are, up to $1. */
const KNOWN = `
SELECT c.reltuples::int8 AS known, (SELECT count(*) FROM (SELECT FROM facts LIMIT $1::int) AS met) AS present
FROM pg_class c WHERE c.oid = 'facts'::regclass`;

/**
 * Tells the planner what the tables hold, whenever they have grown much: PostgreSQL would do so by
 * itself a minute later, the embedded engine never.
 */
export class TableStatistics {
  readonly #database: Database;
  #since = 0;
  /** After how many events the planner is told next; null: it is not known what it knows. */
  #dueAfter: number | null = null;

  constructor(database: Database) {
    this.#database = database;
  }

  /** So many events were folded since this was called last. */
  async note(events: number): Promise<void> {
    this.#since += events;
    this.#dueAfter ??= await this.#firstDue();
    if (this.#since < this.#dueAfter) return;
    this.#since = 0;
    await this.#tell();
    this.#dueAfter = Math.max(await this.#firstDue(), FOLD_ANALYSE_EVENTS_MIN);
  }

  async #firstDue(): Promise<number> {
    const [row] = await this.#database.query<{ known: number; present: number }>(
      KNOWN,
      [FOLD_ANALYSE_EVENTS_MIN],
    );
    const { known, present } = row!;
    if (known < 0 && present >= FOLD_ANALYSE_EVENTS_MIN) return 0;
    const growth = known < FOLD_ANALYSE_LARGE_EVENTS ? 4 * known : known;
    return Math.min(Math.max(growth, FOLD_ANALYSE_EVENTS_MIN), FOLD_ANALYSE_EVENTS_MAX);
  }

  async #tell(): Promise<void> {
    // What updates leave behind the embedded engine does not clear away by itself either.
    const verb = this.#database.engine === "embedded" ? "VACUUM (ANALYZE)" : "ANALYZE";
    for (const table of FOLDED_TABLES) await this.#database.query(`${verb} ${table}`);
    await this.#database.query("ANALYZE events");
  }
}

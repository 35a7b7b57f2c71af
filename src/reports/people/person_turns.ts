import type { Database } from "../../db/sql.ts";
import { OwnerTurns } from "../../owner_turns.ts";

/** How many of the connections for writes they take at once, one for each project. */
const PERSONS_AT_ONCE = 2;

const turns = new WeakMap<Database, OwnerTurns>();

/**
 * Returns the turns by project of what is read and erased of single persons: it takes connections that ingestion needs,
 * too, and erasures of one project wait for each other while they hold theirs.
 */
export function personTurnsOf(database: Database): OwnerTurns {
  return turns.getOrInsertComputed(
    database,
    () => new OwnerTurns(database.engine === "postgres" ? PERSONS_AT_ONCE : 1),
  );
}

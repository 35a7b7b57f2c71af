import type { Database } from "../../db/sql.ts";
import { READ_CONNECTIONS_MAX } from "../../limits.ts";
import { OwnerTurns } from "../../turns/owner_turns.ts";

const turns = new WeakMap<Database, OwnerTurns>();

/** Returns the turns of a database: as many at once as it has connections for reads. */
export function turnsOf(reads: Database): OwnerTurns {
  return turns.getOrInsertComputed(
    reads,
    () => new OwnerTurns(reads.engine === "postgres" ? READ_CONNECTIONS_MAX : 1),
  );
}

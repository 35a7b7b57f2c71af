import {
  arrayLiteral,
  DatabaseUnavailable,
  type Param,
  type Sql,
  StatementRefused,
} from "../../db/sql.ts";
import { pause } from "../../pause.ts";

/** Counts the stored events of projects that a snapshot of the replica lacks. */
export type CountLacked = (snapshot: Sql, projectIds: readonly number[]) => Promise<number>;

/** The database that answers reads, where it is a replica of the one that is written to. */
export interface Replica {
  /**
   * Waits until the replica has what the primary has committed by now, at most `msMax`.
   * @returns null once it has; else what counts the events that it lacks
   */
  lagging(msMax: number): Promise<CountLacked | null>;
}

/** How long the replica is left before it is asked again. */
const LOOK_PAUSE_MS = 10;

// What is no standby, such as a logical replica, has no such position, and is not waited for.
const HAS_REPLAYED = `
SELECT NOT pg_is_in_recovery() OR coalesce(pg_last_wal_replay_lsn() >= $1::text::pg_lsn, true) AS has`;

const LAST_ROWS = `
SELECT coalesce((SELECT max(journal_id) FROM journal j WHERE j.project_id = k.project_id), -1) AS last
FROM unnest($1::text::int[]) WITH ORDINALITY AS k (project_id, place) ORDER BY place`;

// Rows that the replica does not have any more, the primary deleted before.
const LACKED = `
SELECT coalesce(sum(event_count), 0)::int8 AS events
FROM unnest($1::text::int[], $2::text::int8[]) AS k (project_id, last)
JOIN journal j ON j.project_id = k.project_id AND j.journal_id > k.last`;

/** undefined_function, object_not_in_prerequisite_state, feature_not_supported: a server without such positions. */
const WITHOUT_POSITIONS = new Set(["42883", "55000", "0A000"]);

/** Returns the first row; null where the server does not know the functions that are asked. */
async function rowOf<R extends Record<string, unknown>>(
  sql: Sql,
  text: string,
  params: readonly Param[] = [],
): Promise<R | null> {
  try {
    return (await sql.query<R>(text, params))[0]!;
  } catch (error) {
    if (!(error instanceof StatementRefused)) throw error;
    if (WITHOUT_POSITIONS.has(error.sqlState)) return null;
    throw new DatabaseUnavailable("A replica does not tell its position", { cause: error });
  }
}

/** Compares the replica's positions in the write-ahead log, and rows of its journal, with the primary's. */
export function createReplica(primary: Sql, replica: Sql): Replica {
  const countLacked: CountLacked = async (snapshot, projectIds) => {
    const ids = arrayLiteral(projectIds);
    const known = await snapshot.query<{ last: number }>(LAST_ROWS, [ids]);
    const lasts = arrayLiteral(known.map(({ last }) => last));
    const [lacked] = await primary.query<{ events: number }>(LACKED, [ids, lasts]);
    return lacked!.events;
  };

  return {
    async lagging(msMax) {
      const endsAtMs = performance.now() + msMax;
      const written = await rowOf<{ position: string }>(
        primary,
        "SELECT pg_current_wal_lsn()::text AS position",
      );
      if (written === null) return null;
      for (;;) {
        const replayed = await rowOf<{ has: boolean }>(replica, HAS_REPLAYED, [written.position]);
        if (replayed?.has !== false) return null;
        if (performance.now() >= endsAtMs) return countLacked;
        await pause(LOOK_PAUSE_MS);
      }
    },
  };
}

import {
  arrayLiteral,
  DatabaseUnavailable,
  ForeignReplica,
  type Param,
  ReplicaUnavailable,
  type Sql,
  StatementRefused,
} from "../../db/sql.ts";
import { promptly } from "../../db/deadline.ts";
import { PROJECTION_WAIT_MS_MAX } from "../../limits.ts";
import { pause } from "../../pause.ts";

/** Counts the stored events of projects that a snapshot of the replica lacks. */
export type CountLacked = (snapshot: Sql, projectIds: readonly number[]) => Promise<number>;

/** The database that answers reads, where it is a replica of the one that is written to. */
export interface Replica {
  /**
   * Waits until the replica has what the primary has committed of the projects by now, at most `msMax`.
   * @returns null once it has; else what counts the events that it lacks
   * @throws DatabaseUnavailable; of the replica ReplicaUnavailable
   */
  lagging(projectIds: readonly number[], msMax: number): Promise<CountLacked | null>;
  /**
   * @throws ReplicaUnavailable where it does not answer, or lacks the primary's tables; ForeignReplica;
   * DatabaseUnavailable of the primary, which is asked where the two differ
   */
  check(): Promise<void>;
  /** Throws as `check`, which it leaves where the last one found nothing amiss: to be called before what it answers. */
  assertOurs(): Promise<void>;
  /** Returns how it is now. Never throws. */
  status(): Promise<ReplicaStatus>;
}

/** Behind: it lacks what was committed a read's wait ago. Unknown: the primary is away. */
export type ReplicaStatus = "follows" | "behind" | "away" | "unknown";

const FOREIGN =
  "DATABASE_READ_URL names the database of another installation, not a replica of DATABASE_URL's: reads are refused";

/** How long the replica is left before it is asked again. */
const LOOK_PAUSE_MS = 10;

// What does not recover, such as a logical replica or a standby that was promoted, has no such position.
const HAS_REPLAYED = `
SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() >= $1::text::pg_lsn END AS has`;

const LAST_ROWS = `
SELECT coalesce((SELECT max(journal_id) FROM journal j WHERE j.project_id = k.project_id), -1) AS last
FROM unnest($1::text::int[]) WITH ORDINALITY AS k (project_id, place) ORDER BY place`;

// Rows that the replica does not have any more, the primary deleted before.
const LACKED = `
SELECT coalesce(sum(event_count), 0)::int8 AS events
FROM unnest($1::text::int[], $2::text::int8[]) AS k (project_id, last)
JOIN journal j ON j.project_id = k.project_id AND j.journal_id > k.last`;

// A replica has the row of the primary; another installation has made its own, at another microsecond.
const MADE_AT = `
SELECT extract(epoch FROM applied_at)::text AS at FROM schema_migrations WHERE version = 1`;

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
    if (error instanceof StatementRefused && WITHOUT_POSITIONS.has(error.sqlState)) return null;
    throw error;
  }
}

/** By project, the last row of its journal; -1 where there is none. */
async function lastRows(sql: Sql, projectIds: readonly number[]): Promise<number[]> {
  const rows = await sql.query<{ last: number }>(LAST_ROWS, [arrayLiteral(projectIds)]);
  return rows.map(({ last }) => last);
}

/** Does what asks the replica. Throws ReplicaUnavailable. */
async function ofReplica<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    if (!(error instanceof DatabaseUnavailable || error instanceof StatementRefused)) throw error;
    throw new ReplicaUnavailable(
      `The replica for reads, DATABASE_READ_URL, is not available: ${error.message}`,
      { cause: error },
    );
  }
}

/** Whether the replica has replayed the log up to a position; null: it has none to compare. */
async function hasReplayed(replica: Sql, position: string | null): Promise<boolean | null> {
  const asked = rowOf<{ has: boolean | null }>(replica, HAS_REPLAYED, [position]);
  return (await ofReplica(promptly(asked)))?.has ?? null;
}

/** Returns when the first migration was applied; null: a logical replica without that row. */
async function madeAt(sql: Sql): Promise<string | null> {
  return (await sql.query<{ at: string }>(MADE_AT))[0]?.at ?? null;
}

/**
 * Compares the replica's positions in the write-ahead log, and rows of its journal, with the primary's.
 * @param replica connections of their own: reads under way are not waited for, and what hangs is given up soon
 */
export function createReplica(primary: Sql, replica: Sql): Replica {
  let primaryMadeAt: string | null = null;
  /** Whether the last check found it to be of the primary's installation. */
  let isOurs = false;

  const countLacked: CountLacked = async (snapshot, projectIds) => {
    const lasts = arrayLiteral(await lastRows(snapshot, projectIds));
    const [lacked] = await primary.query<{ events: number }>(LACKED, [
      arrayLiteral(projectIds),
      lasts,
    ]);
    return lacked!.events;
  };

  async function check(): Promise<void> {
    const replicaMadeAt = await ofReplica(promptly(madeAt(replica)));
    // Anew where it differs: a primary may have been made anew meanwhile.
    if (replicaMadeAt !== primaryMadeAt) primaryMadeAt = await promptly(madeAt(primary));
    isOurs = replicaMadeAt === null || replicaMadeAt === primaryMadeAt;
    if (!isOurs) throw new ForeignReplica(FOREIGN);
  }

  async function assertOurs(): Promise<void> {
    if (!isOurs) await check();
  }

  async function waitedFor(projectIds: readonly number[], msMax: number): Promise<boolean> {
    const endsAtMs = performance.now() + msMax;
    const written = await rowOf<{ position: string }>(
      primary,
      "SELECT pg_current_wal_lsn()::text AS position",
    );
    const position = written?.position ?? null;
    let rows: readonly number[] | null = null;
    for (;;) {
      let has = await hasReplayed(replica, position);
      if (has === null) {
        rows ??= await lastRows(primary, projectIds);
        const known = await ofReplica(lastRows(replica, projectIds));
        has = rows.every((last, i) => last <= known[i]!);
      }
      if (has) return true;
      if (performance.now() >= endsAtMs) return false;
      await pause(LOOK_PAUSE_MS);
    }
  }

  async function lagging(projectIds: readonly number[], msMax: number) {
    const has = await waitedFor(projectIds, msMax);
    // After the wait, as a replica of a new database may lack its tables for a moment.
    await assertOurs();
    return has ? null : countLacked;
  }

  async function status(): Promise<ReplicaStatus> {
    try {
      await check();
      const projects = await promptly(
        primary.query<{ id: number }>("SELECT project_id AS id FROM projects"),
      );
      const ids = projects.map(({ id }) => id);
      return await promptly(lagging(ids, PROJECTION_WAIT_MS_MAX)) === null ? "follows" : "behind";
    } catch (error) {
      return error instanceof ReplicaUnavailable ? "away" : "unknown";
    }
  }

  return { lagging, check, assertOurs, status };
}

import {
  arrayLiteral,
  DatabaseUnavailable,
  ForeignReplica,
  ReplicaUnavailable,
  type Sql,
  StatementRefused,
} from "../../db/sql.ts";
import { promptly } from "../../db/deadline.ts";
import { PROJECTION_WAIT_MS_MAX } from "../../limits.ts";
import { pause } from "../../turns/pause.ts";

/** Counts the stored events of projects that a snapshot of the replica lacks. */
export type CountLacked = (snapshot: Sql, projectIds: readonly number[]) => Promise<number>;

/** The database that answers reads, if it is a replica of the one that is written to. */
export type Replica = ReturnType<typeof createReplica>;

/** Behind: it lacks committed rows even after the time that a read waits. Unknown: the primary is away. */
export type ReplicaStatus = "follows" | "behind" | "away" | "unknown";

const FOREIGN =
  "DATABASE_READ_URL names the database of another installation, not a replica of DATABASE_URL's: reads are refused";

/** The pause before the replica is asked again. */
const LOOK_PAUSE_MS = 10;

const WRITTEN = "SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::int8 AS position";

// Null for a server that is not in recovery, such as a logical replica or a promoted standby.
const REPLAYED = `
SELECT CASE WHEN pg_is_in_recovery() THEN (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::int8 END AS position`;

const LAST_ROWS = `
SELECT coalesce((SELECT max(journal_id) FROM journal j WHERE j.project_id = k.project_id), -1) AS last
FROM unnest($1::text::int[]) WITH ORDINALITY AS k (project_id, place) ORDER BY place`;

// Rows after the replica's last one. Earlier rows that the replica lacks were deleted on the primary.
const LACKED = `
SELECT coalesce(sum(event_count), 0)::int8 AS events
FROM unnest($1::text::int[], $2::text::int8[]) AS k (project_id, last)
JOIN journal j ON j.project_id = k.project_id AND j.journal_id > k.last`;

// A replica has the row of the primary; another installation has made its own, at another microsecond.
const MADE_AT = `
SELECT extract(epoch FROM applied_at)::text AS at FROM schema_migrations WHERE version = 1`;

/** undefined_function, object_not_in_prerequisite_state, feature_not_supported: a server without such positions. */
const WITHOUT_POSITIONS = new Set(["42883", "55000", "0A000"]);

/** Returns a position in the write-ahead log, in bytes; null: the server has none. */
async function positionOf(sql: Sql, text: string): Promise<number | null> {
  try {
    return (await sql.query<{ position: number | null }>(text))[0]!.position;
  } catch (error) {
    if (error instanceof StatementRefused && WITHOUT_POSITIONS.has(error.sqlState)) return null;
    throw error;
  }
}

/** Returns, by project, the id of the last row of its journal; -1: there is none. */
async function lastRows(sql: Sql, projectIds: readonly number[]): Promise<number[]> {
  const rows = await sql.query<{ last: number }>(LAST_ROWS, [arrayLiteral(projectIds)]);
  return rows.map(({ last }) => last);
}

/** Awaits a question to the replica. Throws ReplicaUnavailable if it fails. */
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

/** What a read waits for. */
interface Wanted {
  readonly projectIds: readonly number[];
  /** The primary's position; null: it has none. */
  readonly position: number | null;
}

/** How far the replica is. */
interface Progress {
  /** Null: it has none to compare. */
  readonly position: number | null;
  /** By project of waiting reads that cannot compare positions: the id of the last row of its journal. */
  readonly lastOf: ReadonlyMap<number, number>;
}

/** Asks the replica how far it is for all waiting reads together, so that many ask no more often than one. */
function createWatch(replica: Sql) {
  const waiting = new Set<Wanted>();
  let looking: Promise<Progress> | null = null;
  let lookingAgain: Promise<Progress> | null = null;

  async function ask(): Promise<Progress> {
    const position = await positionOf(replica, REPLAYED);
    const byRows = [...waiting].filter((wanted) => position === null || wanted.position === null);
    const ids = [...new Set(byRows.flatMap(({ projectIds }) => projectIds))];
    const lasts = ids.length === 0 ? [] : await lastRows(replica, ids);
    return { position, lastOf: new Map(ids.map((id, i) => [id, lasts[i]!])) };
  }

  function look(): Promise<Progress> {
    return looking ??= ofReplica(promptly(ask())).finally(() => looking = null);
  }

  function lookAgain(): Promise<Progress> {
    return lookingAgain ??= pause(LOOK_PAUSE_MS).then(() => {
      lookingAgain = null;
      return look();
    });
  }

  /** Looks until `has` is true or the time is over. @returns whether it is true */
  return async function until(
    wanted: Wanted,
    endsAtMs: number,
    has: (progress: Progress) => boolean | Promise<boolean>,
  ): Promise<boolean> {
    waiting.add(wanted);
    try {
      for (let looked = look();; looked = lookAgain()) {
        if (await has(await looked)) return true;
        if (performance.now() >= endsAtMs) return false;
      }
    } finally {
      waiting.delete(wanted);
    }
  };
}

/** Returns when the first migration was applied; null: a logical replica without that row. */
async function madeAt(sql: Sql): Promise<string | null> {
  return (await sql.query<{ at: string }>(MADE_AT))[0]?.at ?? null;
}

/**
 * Compares the replica's position in the write-ahead log, or else the rows of its journal, with the primary's.
 * @param replica separate connections, which do not wait for reads under way and soon give up what hangs
 */
export function createReplica(primary: Sql, replica: Sql) {
  let primaryMadeAt: string | null = null;
  /** Whether the last check found it to be of the primary's installation. */
  let isOurs = false;
  let checking: Promise<void> | null = null;
  const until = createWatch(replica);

  const countLacked: CountLacked = async (snapshot, projectIds) => {
    const lists = [projectIds, await lastRows(snapshot, projectIds)].map(arrayLiteral);
    const [lacked] = await primary.query<{ events: number }>(LACKED, lists);
    return lacked!.events;
  };

  /**
   * Checks that it is of the primary's installation.
   * @throws ReplicaUnavailable if it does not answer, or lacks the primary's tables; ForeignReplica;
   * DatabaseUnavailable, of the primary, which is asked if the two differ
   */
  async function check(): Promise<void> {
    const replicaMadeAt = await ofReplica(promptly(madeAt(replica)));
    // Read anew if it differs, as the primary may have been replaced meanwhile.
    if (replicaMadeAt !== primaryMadeAt) primaryMadeAt = await promptly(madeAt(primary));
    isOurs = replicaMadeAt === null || replicaMadeAt === primaryMadeAt;
    if (!isOurs) throw new ForeignReplica(FOREIGN);
  }

  /** Calls `check` unless the last one succeeded. To be called before reading from it without `lagging`. */
  async function assertOurs(): Promise<void> {
    if (!isOurs) await (checking ??= check().finally(() => checking = null));
  }

  /**
   * Waits, at most `msMax`, until the replica has what the primary has committed of the projects by now.
   * @returns null: it has; else a function that counts the events that it lacks
   * @throws DatabaseUnavailable, of the primary; ReplicaUnavailable
   */
  async function lagging(
    projectIds: readonly number[],
    msMax: number,
  ): Promise<CountLacked | null> {
    const endsAtMs = performance.now() + msMax;
    const position = await positionOf(primary, WRITTEN);
    let rows: readonly number[] | null = null;
    const has = await until({ projectIds, position }, endsAtMs, async (progress) => {
      if (position !== null && progress.position !== null) return progress.position >= position;
      rows ??= await lastRows(primary, projectIds);
      return rows.every((last, i) => last <= (progress.lastOf.get(projectIds[i]!) ?? -Infinity));
    });
    // After the wait, as a replica of a new database may lack its tables for a moment.
    await assertOurs();
    return has ? null : countLacked;
  }

  /** Returns how it is now. Never throws. */
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

import { planByIndex } from "../db/index_plans.ts";
import { type Database, exists, type Sql } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { hasEarlierEvents } from "../ingest/event_insert.ts";
import { pause } from "../turns/pause.ts";
import { MOVED_XID } from "../projection/journal_erasure.ts";
import type { EventRow } from "../store/event_row.ts";
import { COLUMNS } from "../store/segment_columns.ts";
import { fetchBlocks, fetchHeads, fetchHeadsById } from "../store/stored_segments.ts";
import { readRows } from "../store/whole_events.ts";
import { yielding } from "../store/yielding.ts";
import { dropEmptiedTable, lockEarlier } from "./earlier_projects.ts";
import { deleteEarlier, EARLIER_COLUMNS, earlierRows, earlierRowsOf } from "./earlier_rows.ts";
import { storeMoved } from "./moved_events.ts";
import {
  MOVED_EVENTS,
  MOVED_ROWS_WAITING_MAX,
  UPGRADE_ASIDE_PAUSE_MS,
  UPGRADE_FAILURE_PAUSE_MS,
  UPGRADE_PAUSE_MS,
} from "./upgrade_limits.ts";

/** Counts the pending journal rows of earlier events. */
async function rowsWaiting(sql: Sql, projectId: number): Promise<number> {
  const [row] = await sql.query<{ rows: number }>(
    `SELECT count(*)::int AS rows FROM journal
    WHERE project_id = $1::int AND projected_at IS NULL AND stored_by = '${MOVED_XID}'`,
    [projectId],
  );
  return row!.rows;
}

const NOTE_PLACE = `
UPDATE earlier_projects SET moved_at = $2::text::timestamptz, moved_id = $3::text::uuid
WHERE project_id = $1::int`;

/** Moves the next events of a project into the journal. @returns how many; null: none for now */
async function moveSlice(tx: Sql, projectId: number): Promise<number | null> {
  const project = await lockEarlier(tx, projectId, " SKIP LOCKED");
  if (project === null || project.remaining === 0) return null;
  if (await rowsWaiting(tx, projectId) >= MOVED_ROWS_WAITING_MAX) return null;
  await planByIndex(tx);
  const rows = await earlierRows(tx, projectId, project, MOVED_EVENTS);
  if (rows.length === 0) {
    await tx.query("UPDATE earlier_projects SET remaining = 0 WHERE project_id = $1::int", [
      projectId,
    ]);
    return 0;
  }
  const last = rows.at(-1)!;
  await storeMoved(tx, projectId, rows);
  await tx.query(NOTE_PLACE, [projectId, last.occurred_at, last.event_id]);
  return rows.length;
}

/** Whether an event read from segments equals the earlier one, column by column. */
function isSame(stored: EventRow, earlier: EventRow): boolean {
  return EARLIER_COLUMNS.every((name) => stored[name] === earlier[name]);
}

/** Deletes the earlier events that equal these rows of segments. @returns how many */
async function dropSame(tx: Sql, projectId: number, rows: readonly EventRow[]): Promise<number> {
  const earlier = await earlierRowsOf(tx, projectId, rows.map(({ event_id }) => event_id));
  const same = rows.filter((row) => {
    const before = earlier.get(row.event_id);
    return before !== undefined && isSame(row, before);
  });
  await deleteEarlier(tx, projectId, same.map(({ event_id }) => event_id));
  return same.length;
}

/** Compares one block of a segment with the earlier events. @returns whether another block follows */
async function verifyBlock(
  tx: Sql,
  projectId: number,
  segmentId: number,
  first: number,
): Promise<boolean> {
  const stored = (await fetchHeadsById(tx, projectId, [segmentId])).get(segmentId);
  // The segment was merged meanwhile into another one, which is compared later.
  if (stored === undefined) return false;
  const blocks = stored.head.firstIdentities.length;
  const [reader] = await fetchBlocks(
    tx,
    projectId,
    [{ ...stored, blocks: { first, end: first + 1 } }],
    COLUMNS,
  );
  const rowAt = await readRows(reader!, projectId, yielding());
  for (let from = 0; from < reader!.events; from += MOVED_EVENTS) {
    const count = Math.min(MOVED_EVENTS, reader!.events - from);
    await dropSame(tx, projectId, Array.from({ length: count }, (_, i) => rowAt(from + i)));
  }
  return first + 1 < blocks;
}

async function segmentIds(sql: Sql, projectId: number): Promise<Set<number>> {
  return new Set((await fetchHeads(sql, projectId)).map(({ segmentId }) => segmentId));
}

/** The SQL condition for projected journal rows of moved events: all, or those of the last minute ($2 false). */
const IS_MOVED = `stored_by = '${MOVED_XID}' AND set_aside_until IS NULL
  AND projected_at >= CASE WHEN $2::bool THEN '-infinity' ELSE now() - interval '1 minute' END`;

/**
 * Deletes the projected journal rows of moved events, all or those of the last minute: live views do not show
 * them, and millions of moved events would leave many. Notes first that the journal lacks them.
 */
async function deleteMoved(sql: Sql, projectId: number, since: "ever" | "minute"): Promise<void> {
  await sql.query(
    `UPDATE projections SET journal_lacks_to_ms = greatest(journal_lacks_to_ms, (
      SELECT max(to_ms) FROM journal WHERE project_id = $1::int AND ${IS_MOVED}))
    WHERE project_id = $1::int`,
    [projectId, since === "ever"],
  );
  await sql.query(
    `DELETE FROM journal WHERE project_id = $1::int AND ${IS_MOVED}
      AND to_ms <= (SELECT journal_lacks_to_ms FROM projections WHERE project_id = $1::int)`,
    [projectId, since === "ever"],
  );
}

/** Whether the projection has set moved events aside. */
function hasSetAside(sql: Sql, projectId: number): Promise<boolean> {
  const aside = `SELECT FROM journal
    WHERE project_id = $1::int AND stored_by = '${MOVED_XID}' AND set_aside_until IS NOT NULL
    LIMIT 1`;
  return exists(sql, aside, [projectId]);
}

async function countEarlier(sql: Sql, projectId: number): Promise<number> {
  const [row] = await sql.query<{ events: number }>(
    "SELECT count(*)::int8 AS events FROM earlier_events WHERE project_id = $1::int",
    [projectId],
  );
  return row!.events;
}

/**
 * Moves the events of versions without segments into the journal, a slice of each project at a time; there
 * the projection takes them like any others. Once all of a project's are in segments, each is compared with
 * the event read from segments, and deleted if both are equal; others stay, and are logged. Runs beside
 * ingestion and reads, and continues after a stop.
 */
export class EarlierEvents {
  /** Projects with events that differ in segments: they are kept, and it was logged. */
  readonly #keeping = new Set<number>();
  /** When to compare projects with set-aside events again. */
  readonly #againAtMs = new Map<number, number>();

  constructor(
    private readonly database: Database,
    private readonly log: Pick<Log, "info" | "warn" | "error">,
  ) {}

  /** Works until all is done or `signal` aborts. Failures are logged and retried. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        if (!await hasEarlierEvents(this.database)) return;
        if (await this.#turn(signal)) return;
        await pause(UPGRADE_PAUSE_MS, signal);
      } catch (error) {
        if (signal.aborted) return;
        const reason = error instanceof Error ? error.message : String(error);
        this.log.warn("the upgrade failed for now; it is tried again", { reason });
        await pause(UPGRADE_FAILURE_PAUSE_MS, signal);
      }
    }
  }

  /** Works on a slice of each project. @returns whether nothing is left to do */
  async #turn(signal: AbortSignal): Promise<boolean> {
    const { database } = this;
    const projects = await database.query<{ project_id: number; remaining: number }>(
      "SELECT project_id, remaining FROM earlier_projects ORDER BY project_id",
    );
    let open = 0;
    for (const { project_id, remaining } of projects) {
      if (signal.aborted) return false;
      if (remaining > 0) {
        open++;
        while (!signal.aborted && await database.transaction((tx) => moveSlice(tx, project_id))) {
          // The next slice follows at once, as long as the projection keeps up.
        }
        await deleteMoved(database, project_id, "minute");
      } else if (await rowsWaiting(database, project_id) > 0) open++;
      else if (performance.now() < (this.#againAtMs.get(project_id) ?? 0)) open++;
      else if (!this.#keeping.has(project_id) && await this.#verify(project_id, signal)) open++;
    }
    return open === 0 && !signal.aborted && await this.#end();
  }

  /** Compares a project's remaining events. @returns whether they must be compared once more */
  async #verify(projectId: number, signal: AbortSignal): Promise<boolean> {
    const { database } = this;
    // Read first: events that are projected meanwhile are compared next time.
    const hadSetAside = await hasSetAside(database, projectId);
    const before = await countEarlier(database, projectId);
    const segments = await segmentIds(database, projectId);
    for (const segmentId of segments) {
      let isOpen = true;
      for (let block = 0; isOpen; block++) {
        if (signal.aborted) return true;
        isOpen = await database.transaction((tx) => verifyBlock(tx, projectId, segmentId, block));
      }
    }
    const left = await countEarlier(database, projectId);
    if (left > 0) {
      // Segments that were merged meanwhile are compared next time.
      const isMerged = (await segmentIds(database, projectId)).difference(segments).size > 0;
      if (left < before || isMerged) return true;
      if (hadSetAside) {
        this.#againAtMs.set(projectId, performance.now() + UPGRADE_ASIDE_PAUSE_MS);
        return true;
      }
      this.log.error("upgrade kept events that segments do not give back", { projectId, left });
      this.#keeping.add(projectId);
      return false;
    }
    await deleteMoved(database, projectId, "ever");
    await database.query(
      "UPDATE projections SET journal_from = now() WHERE project_id = $1::int",
      [projectId],
    );
    await database.query("DELETE FROM earlier_projects WHERE project_id = $1::int", [projectId]);
    this.log.info("upgraded", { projectId, events: before });
    return false;
  }

  /** Drops the table if it is empty. @returns whether nothing is left to do, apart from events that differ */
  async #end(): Promise<boolean> {
    const { database } = this;
    return await dropEmptiedTable(database) ||
      await exists(database, "SELECT FROM earlier_projects LIMIT 1");
  }
}

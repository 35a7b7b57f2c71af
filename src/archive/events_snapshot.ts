import { arrayLiteral, type Database, READ_SNAPSHOT, type Sql } from "../db/sql.ts";
import { hasEarlierEvents } from "../ingest/event_insert.ts";
import { Problem } from "../problem.ts";
import { MERGING_HELD_MS, MERGING_RENEWED_MS } from "./archive_limits.ts";
import { listOwners, type NamedOwner } from "./stored_rows.ts";

/** A row of the journal with events that are in no segment. */
export interface PendingRow extends Record<string, unknown> {
  readonly journal_id: number;
  /** How many of the block's events, from the first on, are in segments or set aside. */
  readonly projected_count: number;
  readonly set_aside_ids: string[] | null;
  /** With `bytes`, shows later whether the row has changed. */
  readonly event_count: number;
  readonly bytes: number;
}

/** Where the events of a project were stored at one moment. */
export interface ProjectSnapshot extends NamedOwner {
  readonly segments: readonly number[];
  readonly pending: readonly PendingRow[];
  /** Their number at that moment: some may expire or be erased later. */
  readonly events: number;
}

/** Where all events were stored at one moment. Valid as long as merging is held. */
interface EventsSnapshot {
  readonly projects: readonly ProjectSnapshot[];
  /** The last row of the journal. */
  readonly journalId: number;
}

const SEGMENTS = `
SELECT project_id, coalesce(origin_id, segment_id) AS origin_id, events FROM segments
WHERE project_id = ANY ($1::text::int[]) ORDER BY project_id, segment_id`;

const PENDING = `
SELECT project_id, journal_id, projected_count, set_aside_ids, event_count,
  octet_length(block) AS bytes
FROM journal
WHERE project_id = ANY ($1::text::int[]) AND (projected_at IS NULL OR set_aside_until IS NOT NULL)
ORDER BY project_id, journal_id`;

/** Keeps the segments of projects from being merged: meanwhile only erasure and retention change them. */
export class HeldSegments implements Disposable {
  #failure: unknown = null;
  #timer: ReturnType<typeof setInterval> | null = null;

  private constructor(
    private readonly database: Database,
    private readonly projectIds: readonly number[],
  ) {}

  /** Waits for merges under way, then holds merging for MERGING_HELD_MS. */
  static async take(database: Database, projectIds: readonly number[]): Promise<HeldSegments> {
    const held = new HeldSegments(database, projectIds);
    await database.query(
      `INSERT INTO projections (project_id)
      SELECT * FROM unnest($1::text::int[]) ON CONFLICT DO NOTHING`,
      [arrayLiteral(projectIds)],
    );
    for (const projectId of projectIds) {
      await database.query(
        `UPDATE projections SET merging_held_until = greatest(merging_held_until,
          now() + make_interval(secs => ${MERGING_HELD_MS / 1000})) WHERE project_id = $1::int`,
        [projectId],
      );
    }
    return held;
  }

  /** Renews the hold until it is disposed of. To be called when reading begins. */
  keep(): void {
    const renew = () => this.#renew().catch((error) => void (this.#failure ??= error));
    this.#timer = setInterval(renew, MERGING_RENEWED_MS);
  }

  async #renew(): Promise<void> {
    const rows = await this.database.query(
      `UPDATE projections
      SET merging_held_until = now() + make_interval(secs => ${MERGING_HELD_MS / 1000})
      WHERE project_id = ANY ($1::text::int[]) AND merging_held_until > now()
      RETURNING project_id`,
      [arrayLiteral(this.projectIds)],
    );
    if (rows.length < this.projectIds.length) throw new Error("Segments were held for too long");
  }

  /** Throws if the hold could not be renewed in time. */
  assertHeld(): void {
    if (this.#failure !== null) throw this.#failure;
  }

  [Symbol.dispose](): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }
}

async function readSnapshot(tx: Sql, projects: readonly NamedOwner[]): Promise<EventsSnapshot> {
  const ids = arrayLiteral(projects.map(({ projectId }) => projectId));
  type SegmentRow = { project_id: number; origin_id: number; events: number };
  const segments = Map.groupBy(
    await tx.query<SegmentRow>(SEGMENTS, [ids]),
    ({ project_id }) => project_id,
  );
  type OwnedRow = PendingRow & { readonly project_id: number };
  const pending = Map.groupBy(
    await tx.query<OwnedRow>(PENDING, [ids]),
    ({ project_id }) => project_id,
  );
  const [last] = await tx.query<{ journal_id: number }>(
    "SELECT coalesce(max(journal_id), 0) AS journal_id FROM journal",
  );
  return {
    journalId: last!.journal_id,
    projects: projects.map((project) => {
      const own = segments.get(project.projectId) ?? [];
      const rows = pending.get(project.projectId) ?? [];
      const waiting = (row: PendingRow) =>
        Math.max(0, row.event_count - row.projected_count) + (row.set_aside_ids?.length ?? 0);
      return {
        ...project,
        segments: own.map(({ origin_id }) => origin_id),
        pending: rows,
        events: own.reduce((sum, { events }) => sum + events, 0) +
          rows.reduce((sum, row) => sum + waiting(row), 0),
      };
    }),
  };
}

/**
 * Locates all events committed by now, of one project or of all. They can be read for a minute, or as
 * long as `held` is renewed. Throws `not_found`, and `conflict` while an upgrade moves events.
 */
export async function snapshotEvents(
  database: Database,
  project: string | null,
): Promise<{ readonly held: HeldSegments; readonly snapshot: EventsSnapshot }> {
  if (await hasEarlierEvents(database)) {
    throw new Problem(
      "conflict",
      "An upgrade is still moving the events of an earlier version. Try again once the log says " +
        "`upgraded`.",
    );
  }
  const projects = await listOwners(database, project);
  if (project !== null && projects.length === 0) {
    throw new Problem("not_found", "There is no project with this id.");
  }
  const held = await HeldSegments.take(database, projects.map(({ projectId }) => projectId));
  const moment = (sql: Sql) => readSnapshot(sql, projects);
  const snapshot = await database.transaction(moment, undefined, () => [READ_SNAPSHOT]);
  return { held, snapshot };
}

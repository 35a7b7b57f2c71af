import type { Database, Sql } from "../db/sql.ts";
import { pause } from "../pause.ts";
import { mergedSegment, nextMerge, replaceSegments } from "../store/segments.ts";
import { SEGMENTS_MERGED } from "../store/store_limits.ts";
import { type Yield, yielding } from "../store/yielding.ts";
import { beginProjection } from "./projected_project.ts";
import { MERGING_PAUSE_MS, SEGMENTS_UNMERGED_MAX } from "./projection_limits.ts";

/** The projection that merging stands behind. */
export interface MergingHost {
  /** Runs what changes a project, when nothing else of this thread does. */
  exclusively(projectId: number, work: () => Promise<void>): Promise<void>;
  /** What is projected at this moment; null: nothing. */
  underWay(): Promise<unknown> | null;
  /** Tells that a project's segments could not be merged. */
  failed(projectId: number, error: unknown): void;
}

/** Whether an archive reads the segments of a project. */
async function isHeld(sql: Sql, projectId: number): Promise<boolean> {
  const rows = await sql.query(
    "SELECT FROM projections WHERE project_id = $1::int AND merging_held_until > now()",
    [projectId],
  );
  return rows.length > 0;
}

/**
 * Merges some segments of a project into one, where there are enough of them. It is made before any
 * transaction; the one that puts it in their place takes milliseconds, and reads see either them or it.
 * @param pauseOf how the making pauses, given how many segments the project has
 * @returns whether anything was to be merged
 */
export async function mergeOnce(
  database: Database,
  projectId: number,
  pauseOf: (stored: number) => Yield = yielding,
  exclusively: MergingHost["exclusively"] = (_projectId, work) => work(),
): Promise<boolean> {
  const merge = await nextMerge(database, projectId);
  if (merge === null) return false;
  const { segmentIds, stored } = merge;
  const merged = await mergedSegment(database, projectId, segmentIds, pauseOf(stored));
  if (merged === null) return true;
  await exclusively(projectId, () =>
    database.transaction(async (tx) => {
      // Whoever holds merging has waited for this lock, or sees what is written here.
      if (await beginProjection(tx, projectId) === null || await isHeld(tx, projectId)) return;
      // Whoever has erased or forgotten something has written segments of their own: it is made anew.
      await replaceSegments(tx, projectId, segmentIds, merged);
    }));
  return true;
}

/** Merging has been stopped. */
class Stopped extends Error {}

const CROWDED = `
SELECT project_id FROM segments GROUP BY project_id HAVING count(*) >= ${SEGMENTS_MERGED}`;

/** Merges segments in the background, while there is nothing to project. */
export class Merging {
  readonly #database: Database;
  readonly #host: MergingHost;
  readonly #due = new Set<number>();

  constructor(database: Database, host: MergingHost) {
    this.#database = database;
    this.#host = host;
  }

  /** The project has got another segment. */
  note(projectId: number): void {
    this.#due.add(projectId);
  }

  /** Merges until `signal` is aborted; what is made at that moment is given up. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#noteCrowded();
    while (!signal.aborted) {
      for (const projectId of this.#due) {
        if (signal.aborted) return;
        this.#due.delete(projectId);
        if (await this.#merge(projectId, signal)) this.#due.add(projectId);
      }
      await pause(MERGING_PAUSE_MS, signal);
    }
  }

  /** What an earlier process has left. */
  async #noteCrowded(): Promise<void> {
    try {
      const rows = await this.#database.query<{ project_id: number }>(CROWDED);
      for (const { project_id } of rows) this.note(project_id);
    } catch {
      // They are noted with their next events.
    }
  }

  async #merge(projectId: number, signal: AbortSignal): Promise<boolean> {
    const { exclusively, failed } = this.#host;
    try {
      if (await isHeld(this.#database, projectId)) {
        await pause(MERGING_PAUSE_MS, signal);
        return true;
      }
      const pauseOf = (stored: number) => this.#pauseOf(stored, signal);
      return await mergeOnce(this.#database, projectId, pauseOf, exclusively);
    } catch (error) {
      if (!signal.aborted) failed(projectId, error);
      return false;
    }
  }

  /** Between two blocks of a column it waits until nothing is projected, unless segments are too many. */
  #pauseOf(stored: number, signal: AbortSignal): Yield {
    const isUrgent = stored > SEGMENTS_UNMERGED_MAX;
    const pauseShortly = yielding();
    return async () => {
      await pauseShortly();
      for (
        let other = this.#host.underWay();
        !isUrgent && other !== null;
        other = this.#host.underWay()
      ) {
        await other;
      }
      if (signal.aborted) throw new Stopped();
    };
  }
}

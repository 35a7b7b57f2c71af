import { type Database, exists, type Sql } from "../db/sql.ts";
import { pause } from "../turns/pause.ts";
import { mergedSegment, nextMerge, replaceSegments } from "../store/segments.ts";
import { SEGMENT_VERSION, SegmentUnreadable } from "../store/segment_head.ts";
import { SEGMENTS_MERGED } from "../store/store_limits.ts";
import { type Yield, yielding } from "../store/yielding.ts";
import { beginProjection } from "./projected_project.ts";
import { MERGING_PAUSE_MS, SEGMENTS_UNMERGED_MAX } from "./projection_limits.ts";

/** The projection, which takes precedence over merging. */
interface MergingHost {
  /** Runs work that changes a project while nothing else in this thread changes it. */
  exclusively(projectId: number, work: () => Promise<void>): Promise<void>;
  /** Settles when the turns under way have ended; null: there are none. */
  underWay(): Promise<unknown> | null;
  /** Reports that a project's segments could not be merged. */
  failed(projectId: number, error: unknown): void;
}

/** Whether merging is on hold because an archive reads the project's segments. */
function isHeld(sql: Sql, projectId: number): Promise<boolean> {
  const held = "SELECT FROM projections WHERE project_id = $1::int AND merging_held_until > now()";
  return exists(sql, held, [projectId]);
}

/**
 * Merges segments of a project, into one per span of time, if there are enough; else rewrites one of an
 * earlier version. The new segment is built outside of any transaction; the transaction that replaces the old
 * ones takes milliseconds, and reads see either them or the new one. Throws SegmentUnreadable.
 * @param pauseOf returns how building pauses, given the number of the project's segments
 * @param unreadable segments that could not be read, which are skipped; a further one is added
 * @returns whether there was something to do
 */
export async function mergeOnce(
  database: Database,
  projectId: number,
  pauseOf: (stored: number) => Yield = () => yielding(),
  exclusively: MergingHost["exclusively"] = (_projectId, work) => work(),
  unreadable = new Set<number>(),
): Promise<boolean> {
  const next = await nextMerge(database, projectId, unreadable);
  if (next === null) return false;
  const pauseIfDue = pauseOf(next.stored);
  let isOver = false;
  for (const segmentIds of next.merges) {
    if (isOver) break;
    const merged = await mergedSegment(database, projectId, segmentIds, pauseIfDue).catch(
      (error) => {
        if (error instanceof SegmentUnreadable) unreadable.add(error.segmentId!);
        throw error;
      },
    );
    if (merged === null) continue;
    await exclusively(projectId, () =>
      database.transaction(async (tx) => {
        // An archive that puts merging on hold has waited for this lock, or reads the segments written here.
        isOver = await beginProjection(tx, projectId) === null || await isHeld(tx, projectId);
        if (isOver) return;
        // If erasure or retention has replaced one of the segments, nothing is replaced here, and the project
        // is merged again later.
        await replaceSegments(tx, projectId, segmentIds, merged);
      }));
  }
  return true;
}

/** Projects with many segments, or with segments of an earlier version. */
const CROWDED = `
SELECT project_id FROM segments
GROUP BY project_id HAVING count(*) >= ${SEGMENTS_MERGED} OR min(version) < ${SEGMENT_VERSION}`;

/** Merges segments, and rewrites those of earlier versions, in the background while nothing is projected. */
export class Merging {
  readonly #due = new Set<number>();
  /** Segments that could not be read, which are skipped. */
  readonly #unreadable = new Set<number>();

  constructor(private readonly database: Database, private readonly host: MergingHost) {}

  /** To be called when a project has a new segment. */
  note(projectId: number): void {
    this.#due.add(projectId);
  }

  /** Merges until `signal` is aborted; a merge under way is then abandoned. */
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

  /** Notes projects that an earlier process left unmerged, or that have segments of an earlier version. */
  async #noteCrowded(): Promise<void> {
    try {
      const rows = await this.database.query<{ project_id: number }>(CROWDED);
      for (const { project_id } of rows) this.note(project_id);
    } catch {
      // Never mind: each is noted when it gets its next events.
    }
  }

  async #merge(projectId: number, signal: AbortSignal): Promise<boolean> {
    const { exclusively, failed } = this.host;
    const unreadable = this.#unreadable.size;
    try {
      if (await isHeld(this.database, projectId)) {
        await pause(MERGING_PAUSE_MS, signal);
        return true;
      }
      const pauseOf = (stored: number) => this.#pauseOf(stored, signal);
      return await mergeOnce(this.database, projectId, pauseOf, exclusively, this.#unreadable);
    } catch (error) {
      if (!signal.aborted) failed(projectId, error);
      // Others may be readable.
      return this.#unreadable.size > unreadable;
    }
  }

  /** Pauses between two blocks of a column until nothing is projected, unless segments are too many. */
  #pauseOf(stored: number, signal: AbortSignal): Yield {
    const isUrgent = stored > SEGMENTS_UNMERGED_MAX;
    const pauseShortly = yielding();
    return async () => {
      await pauseShortly();
      while (!isUrgent) {
        const turns = this.host.underWay();
        if (turns === null) break;
        await turns;
      }
      signal.throwIfAborted();
    };
  }
}

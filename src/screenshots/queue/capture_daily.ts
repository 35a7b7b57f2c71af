import type { Database, Sql } from "../../db/sql.ts";
import type { Log } from "../../http/log.ts";
import { PROJECTION_JOB_WAIT_MS_MAX } from "../../limits.ts";
import { deleteOldJobs, queueJob } from "./capture_queue.ts";
import type { CaptureSchedule } from "./capture_schedule.ts";
import { CAPTURE_DEVICES } from "../capture_status.ts";
import { deleteStalePages } from "./capture_store.ts";
import {
  mostVisitedPaths,
  type Selection,
  storeSelection,
  type VisitReads,
} from "./visited_paths.ts";

export interface SelectionServices extends VisitReads {
  readonly sql: Sql;
  /** Projects the pending events. */
  readonly projection: { catchUpWithin(projectId: number, msMax: number): Promise<void> };
  readonly now: () => number;
}

export interface DailyServices extends SelectionServices {
  readonly sql: Database;
  readonly schedule: CaptureSchedule;
  readonly newJobId: () => string;
  /** Called when something was queued. */
  readonly queued: () => void;
  readonly log: Pick<Log, "info" | "error">;
}

/** Selects the project's most visited pages, and stores them as those of the daily job. */
export async function selectPages(
  services: SelectionServices,
  projectId: number,
): Promise<Selection> {
  const { sql, projection, now } = services;
  await projection.catchUpWithin(projectId, PROJECTION_JOB_WAIT_MS_MAX);
  const selection = await mostVisitedPaths(services, projectId, now());
  await storeSelection(sql, projectId, selection, now());
  return selection;
}

/**
 * Queues the most visited pages of every project that has a site, only once even if several servers do so.
 * @returns whether every project is queued now
 */
async function queueEveryProject(services: DailyServices, dueMs: number): Promise<boolean> {
  const { sql, newJobId, now, queued, log } = services;
  const projects = await sql.query<{ project_id: number }>(
    `SELECT project_id FROM projects p WHERE site_url IS NOT NULL AND NOT EXISTS (
      SELECT FROM capture_jobs j
      WHERE j.project_id = p.project_id AND j.due_at = $1::text::timestamptz)
    ORDER BY project_id`,
    [new Date(dueMs).toISOString()],
  );
  let isWhole = true;
  for (const { project_id: projectId } of projects) {
    try {
      const { paths } = await selectPages(services, projectId);
      const job = { projectId, jobId: newJobId(), paths, devices: CAPTURE_DEVICES };
      const isNew = await queueJob(sql, { ...job, nowMs: now(), dueMs });
      if (isNew && paths.length > 0) {
        log.info("captures queued", { job: job.jobId, paths: paths.length });
        queued();
      }
    } catch (error) {
      // The failure of a project must not affect the others.
      isWhole = false;
      const reason = error instanceof Error ? error.message : String(error);
      log.error("captures not queued", { projectId, reason });
    }
  }
  return isWhole;
}

/**
 * Returns a function, to be called every minute, that queues the captures that became due since its last call. It
 * tries again after a failure, for as long as the schedule makes up for missed times.
 */
export function createDaily(services: DailyServices): () => Promise<void> {
  // So a server that starts just after a scheduled time makes up for it too, unless another one has queued it.
  let doneToMs = -Infinity;
  return async () => {
    const nowMs = services.now();
    const dueMs = services.schedule.dueMs(doneToMs, nowMs);
    if (dueMs === null || await queueEveryProject(services, dueMs)) doneToMs = nowMs;
  };
}

/** Deletes old jobs, and the captures of pages that are not attempted any more. */
export async function deleteOldCaptures(
  database: Database,
  log: Pick<Log, "info">,
  nowMs: number,
): Promise<void> {
  await deleteOldJobs(database, nowMs);
  const pages = await deleteStalePages(database, nowMs);
  if (pages > 0) log.info("forgot pictures of pages that are not attempted any more", { pages });
}

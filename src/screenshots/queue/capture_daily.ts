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
  /** Makes sessions and actors of what was stored since. */
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

/** The project's most visited pages, noted as those that the daily job takes. */
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
 * Queues the most visited pages of every project that has a site, once however many servers do and however
 * often. @returns whether each project is queued now
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
      // One project's fault is no reason to leave out the others.
      isWhole = false;
      const reason = error instanceof Error ? error.message : String(error);
      log.error("captures not queued", { projectId, reason });
    }
  }
  return isWhole;
}

/**
 * Queues what the schedule asks for since it was asked last; to be called every minute. What fails is tried
 * again at the next call, for as long as the schedule makes up for what is late.
 */
export function createDaily(services: DailyServices): () => Promise<void> {
  // A server that starts just after a time makes up for it, too: whichever did it before has noted it.
  let askedMs = -Infinity;
  return async () => {
    const nowMs = services.now();
    const dueMs = services.schedule.dueMs(askedMs, nowMs);
    if (dueMs === null || await queueEveryProject(services, dueMs)) askedMs = nowMs;
  };
}

/** Forgets jobs of long ago, and the pictures of pages that nobody attempts any more. */
export async function deleteOldCaptures(
  database: Database,
  log: Pick<Log, "info">,
  nowMs: number,
): Promise<void> {
  await deleteOldJobs(database, nowMs);
  const pages = await deleteStalePages(database, nowMs);
  if (pages > 0) log.info("forgot pictures of pages that are not attempted any more", { pages });
}

import type { Database } from "../../db/sql.ts";
import type { Log } from "../../http/log.ts";
import { createDaily, deleteOldCaptures } from "./capture_daily.ts";
import { CaptureJobs } from "./capture_job_endpoints.ts";
import { CaptureRunner } from "./capture_runner.ts";
import type { CaptureSchedule } from "./capture_schedule.ts";
import type { CaptureStatus } from "../capture_status.ts";
import type { PageCamera } from "../browser/page_screenshot.ts";
import type { VisitReads } from "./visited_paths.ts";

const JOB_ID_LENGTH = 20;

export interface CapturesOptions extends VisitReads {
  readonly database: Database;
  /** Projects the pending events. */
  readonly projection: { catchUpWithin(projectId: number, msMax: number): Promise<void> };
  readonly pageCamera: PageCamera;
  readonly schedule: CaptureSchedule;
  readonly basePath: string;
  readonly log: Log;
  readonly now: () => number;
  /** Returns random characters, which cannot be guessed. */
  readonly randomText: (length: number) => string;
  /** Called once per attempt. */
  readonly observe: (status: CaptureStatus) => void;
  /** Aborts when the server stops. */
  readonly stopping: AbortSignal;
}

/** The captures of a server: requesting, scheduling and taking them. */
export interface Captures {
  readonly jobs: CaptureJobs;
  /** Queues the captures that are due by the schedule; to be called every minute. */
  queueDaily(): Promise<void>;
  /** Deletes old jobs and captures; to be called every day. */
  deleteOld(): Promise<void>;
  /**
   * Takes captures until the server stops, unless another server does.
   * @param patienceMs how long to leave the work to others first
   * @returns when the browser is closed
   */
  run(patienceMs: number): Promise<void>;
}

/** Builds the captures of a server. Nothing runs before `run` is called. */
export function createCaptures(options: CapturesOptions): Captures {
  const { database: sql, log, now, randomText, stopping, basePath } = options;
  const runner = new CaptureRunner({
    ...options,
    sql,
    ownEndpoints: [`${basePath}/v1/events`],
  });
  const services = {
    ...options,
    sql,
    newJobId: () => `job_${randomText(JOB_ID_LENGTH)}`,
    queued: () => runner.wake(),
  };
  return {
    jobs: new CaptureJobs(services),
    queueDaily: createDaily(services),
    deleteOld: () => deleteOldCaptures(sql, log, now()),
    run: (patienceMs) => runner.run(stopping, patienceMs),
  };
}

import { holdProject } from "../../db/held_project.ts";
import { arrayLiteral, type Sql } from "../../db/sql.ts";
import {
  CAPTURE_JOBS_KEPT_DAYS,
  CAPTURE_LOSSES_MAX,
  CAPTURE_RETRY_AFTER_S,
  CAPTURE_RETRY_MS,
  CAPTURE_TASKS_MAX,
} from "../capture_limits.ts";
import { DAY_MS } from "../../limits.ts";
import { Problem } from "../../problem.ts";
import { ServedProjects } from "../../db/served_projects.ts";
import { holdsLease } from "./capture_lease.ts";
import type { CaptureDevice, CaptureStatus, Verdict } from "../capture_status.ts";
import { pathDigest } from "./capture_store.ts";

/** A job to be queued: each of its pages is captured on each of its devices. */
export interface NewJob {
  readonly projectId: number;
  readonly jobId: string;
  /** In the order in which the job lists them. */
  readonly paths: readonly string[];
  readonly devices: readonly CaptureDevice[];
  readonly nowMs: number;
  /** The scheduled time of the daily job; null: a request asked for the job. */
  readonly dueMs: number | null;
}

/** The current state of a job. */
export interface CaptureJob {
  readonly id: string;
  readonly status: "queued" | "running" | "done";
  readonly captures: readonly {
    readonly path: string;
    readonly device: CaptureDevice;
    /** That of the last attempt since the job was queued; `pending` before the first one. */
    readonly status: CaptureStatus;
    readonly message: string;
    /** When the next attempt after a temporary failure is made, ISO 8601; null: none is planned. */
    readonly nextAttemptAt: string | null;
  }[];
}

/** A task that a worker has claimed. */
export interface Task {
  readonly projectId: number;
  readonly taskId: number;
  /** The number of this claim: only the last one may store a result. */
  readonly claim: number;
  readonly path: string;
  readonly device: CaptureDevice;
  readonly siteUrl: string | null;
  readonly siteUrlByOperator: boolean;
  /** How many earlier attempts had a temporary failure. */
  readonly failures: number;
}

const instant = (ms: number): string => new Date(ms).toISOString();

/** Requested tasks come before scheduled ones, as somebody may be waiting for them. */
const REQUEST_PRIORITY = 0;
const SCHEDULE_PRIORITY = 1;

// A task that is already queued is shared, and may move forward. The order prevents a deadlock of two jobs that
// are queued at once.
const QUEUE_TASKS = `
WITH wanted AS (
  SELECT path, device, ${pathDigest("path")} AS digest, position
  FROM unnest($3::text::text[], $4::text::text[]) WITH ORDINALITY AS w (path, device, position)
), tasks AS (
  INSERT INTO capture_tasks AS t (not_before, project_id, path_digest, priority, state, device, path)
  SELECT $5::text::timestamptz, $1::int, digest, $6::int, 'queued', device, path
  FROM wanted ORDER BY digest, device
  ON CONFLICT (project_id, path_digest, device) WHERE state <> 'done'
  DO UPDATE SET priority = least(t.priority, excluded.priority),
    not_before = least(t.not_before, excluded.not_before)
  RETURNING t.task_id, t.path_digest, t.device, t.failures
)
INSERT INTO capture_job_tasks (project_id, job_id, task_id, position, failures_before)
SELECT $1::int, $2::text, t.task_id, w.position, t.failures
FROM wanted w JOIN tasks t ON t.path_digest = w.digest AND t.device = w.device`;

/**
 * Throws `overloaded` if a project has too many unfinished tasks of requests. Those of the schedule do not count, as
 * they have a limit of their own.
 */
async function assertRoom(tx: Sql, projectId: number): Promise<void> {
  const [row] = await tx.query<{ tasks: number }>(
    `SELECT count(*)::int AS tasks FROM capture_tasks
    WHERE state <> 'done' AND project_id = $1::int AND priority = $2::int`,
    [projectId, REQUEST_PRIORITY],
  );
  if (row!.tasks <= CAPTURE_TASKS_MAX) return;
  throw new Problem(
    "overloaded",
    `At most ${CAPTURE_TASKS_MAX} captures that were asked for may wait in a project. Queue more once some are taken.`,
    { headers: { "Retry-After": String(CAPTURE_RETRY_AFTER_S) } },
  );
}

/**
 * Queues a job. A page that is already queued for another job is shared with it. Throws `overloaded` for a request
 * with which too many would be queued.
 * @returns false if another server has already queued the daily job
 */
export async function queueJob(sql: Sql, job: NewJob): Promise<boolean> {
  const { projectId, jobId, paths, devices, nowMs, dueMs } = job;
  const pages = [...new Set(paths)].flatMap((path) =>
    [...new Set(devices)].map((device) => ({ path, device }))
  );
  const isRequested = dueMs === null;
  return await sql.transaction(async (tx) => {
    // So jobs that are requested at once are counted one after the other.
    if (isRequested) await holdProject(tx, projectId);
    const added = await tx.query(
      `INSERT INTO capture_jobs (created_at, due_at, project_id, job_id)
      VALUES ($1::text::timestamptz, $2::text::timestamptz, $3::int, $4::text)
      ON CONFLICT (project_id, due_at) DO NOTHING RETURNING job_id`,
      [instant(nowMs), dueMs === null ? null : instant(dueMs), projectId, jobId],
    );
    if (added.length === 0) return false;
    await tx.query(QUEUE_TASKS, [
      projectId,
      jobId,
      arrayLiteral(pages.map(({ path }) => path)),
      arrayLiteral(pages.map(({ device }) => device)),
      instant(nowMs),
      isRequested ? REQUEST_PRIORITY : SCHEDULE_PRIORITY,
    ]);
    if (isRequested) await assertRoom(tx, projectId);
    return true;
  });
}

interface JobRow extends Record<string, unknown> {
  readonly path: string | null;
  readonly device: CaptureDevice;
  readonly state: "queued" | "running" | "done";
  readonly status: CaptureStatus | null;
  readonly message: string | null;
  readonly not_before: Date;
  /** Whether it was attempted since the job was queued. */
  readonly is_tried: boolean;
}

function captureOf(row: JobRow): CaptureJob["captures"][0] {
  const { device, state, status, message } = row;
  const path = row.path!;
  if (row.is_tried) {
    const nextAttemptAt = state === "done" ? null : row.not_before.toISOString();
    return { path, device, status: status!, message: message ?? "", nextAttemptAt };
  }
  const waiting = state === "running"
    ? "The capture is being taken."
    : "The capture is waiting for its turn.";
  return { path, device, status: "pending", message: waiting, nextAttemptAt: null };
}

/** Returns a job's status: it is done when each page was attempted once, whether or not more attempts follow. */
function statusOf(rows: readonly JobRow[]): CaptureJob["status"] {
  if (rows.every((row) => row.is_tried)) return "done";
  return rows.some((row) => row.is_tried || row.state === "running") ? "running" : "queued";
}

/** Returns a job of one of these projects, which are public ids; null: they have no job with this id. */
export async function findJob(
  sql: Sql,
  jobId: string,
  projects: readonly string[] | "*",
): Promise<CaptureJob | null> {
  const rows = await sql.query<JobRow>(
    `SELECT t.path, t.device, t.state, t.status, t.message, t.not_before,
      t.state = 'done' OR t.failures > l.failures_before AS is_tried
    FROM capture_jobs j
    JOIN projects p ON p.project_id = j.project_id
    LEFT JOIN capture_job_tasks l ON l.project_id = j.project_id AND l.job_id = j.job_id
    LEFT JOIN capture_tasks t ON t.project_id = l.project_id AND t.task_id = l.task_id
    WHERE j.job_id = $1::text AND ($2::text IS NULL OR p.public_id = ANY($2::text::text[]))
    ORDER BY l.position`,
    [jobId, projects === "*" ? null : arrayLiteral(projects)],
  );
  if (rows.length === 0) return null;
  const tasks = rows.filter(({ path }) => path !== null);
  return { id: jobId, status: statusOf(tasks), captures: tasks.map(captureOf) };
}

/** Whether there are tasks that are due, or that run on a server that may have ended. */
export async function isAnythingDue(sql: Sql, nowMs: number): Promise<boolean> {
  const due = await sql.query(
    `SELECT FROM capture_tasks
    WHERE state <> 'done' AND (state = 'running' OR not_before <= $1::text::timestamptz) LIMIT 1`,
    [instant(nowMs)],
  );
  return due.length > 0;
}

const RUNNING_OF_PROJECT = ServedProjects.underWay(
  "SELECT r.project_id FROM capture_tasks r WHERE r.state <> 'done' AND r.state = 'running'",
);

/**
 * Claims the next due task: first of the project with the fewest running tasks, then of the one that was `served`
 * longest ago, so that no project takes all turns. Null: none is due, or another server has the lease.
 */
export async function claimTask(
  sql: Sql,
  owner: string,
  nowMs: number,
  served = new ServedProjects(),
): Promise<Task | null> {
  const [row] = await sql.query<{
    project_id: number;
    task_id: number;
    claims: number;
    path: string;
    device: CaptureDevice;
    site_url: string | null;
    site_url_by_operator: boolean;
    failures: number;
  }>(
    `UPDATE capture_tasks t SET state = 'running', claims = claims + 1
    FROM projects p
    WHERE (t.project_id, t.task_id) = (
      SELECT project_id, task_id FROM capture_tasks
      WHERE state <> 'done' AND state = 'queued' AND not_before <= $2::text::timestamptz
        AND ${holdsLease("$1::text")}
      ORDER BY ${RUNNING_OF_PROJECT}, priority, ${ServedProjects.turn("$3")}, not_before, task_id
      LIMIT 1 FOR UPDATE SKIP LOCKED)
    AND p.project_id = t.project_id
    RETURNING t.project_id, t.task_id, t.claims, t.path, t.device, p.site_url,
      p.site_url_by_operator, t.failures`,
    [owner, instant(nowMs), served.literal],
  );
  if (row === undefined) return null;
  served.note(row.project_id);
  return {
    projectId: row.project_id,
    taskId: row.task_id,
    claim: row.claims,
    path: row.path,
    device: row.device,
    siteUrl: row.site_url,
    siteUrlByOperator: row.site_url_by_operator,
    failures: row.failures,
  };
}

const CLAIMED = `project_id = $1::int AND task_id = $2::int8 AND claims = $3::int
  AND state = 'running'`;

/**
 * Stores the outcome of an attempt: the task is done, or queued again if it may succeed soon.
 * @returns false if another worker has claimed the task meanwhile, so that the attempt does not count
 */
export async function endTask(
  tx: Sql,
  { projectId, taskId, claim, failures }: Task,
  verdict: Verdict,
  nowMs: number,
): Promise<boolean> {
  const pauseMs = verdict.retry ? CAPTURE_RETRY_MS[failures] : undefined;
  const ended = await tx.query(
    `UPDATE capture_tasks SET status = $4::text, message = $5::text,
      state = CASE WHEN $6::text IS NULL THEN 'done' ELSE 'queued' END,
      failures = failures + CASE WHEN $6::text IS NULL THEN 0 ELSE 1 END,
      not_before = coalesce($6::text::timestamptz, not_before),
      finished_at = CASE WHEN $6::text IS NULL THEN $7::text::timestamptz END
    WHERE ${CLAIMED} RETURNING task_id`,
    [
      ...[projectId, taskId, claim, verdict.status, verdict.message],
      ...[pauseMs === undefined ? null : instant(nowMs + pauseMs), instant(nowMs)],
    ],
  );
  return ended.length > 0;
}

/** Puts a task back into the queue, without counting the attempt. */
export async function giveBack(sql: Sql, { projectId, taskId, claim }: Task): Promise<void> {
  await sql.query(
    `UPDATE capture_tasks SET state = 'queued' WHERE ${CLAIMED}`,
    [projectId, taskId, claim],
  );
}

/** A task that is given up because the server ended too often while it ran. */
export type LostTask = Pick<Task, "projectId" | "path" | "device" | "siteUrl">;

/**
 * Queues running tasks again, except those that this has happened to too often. To be called right after taking the
 * lease, when all of them are of servers that have ended.
 * @returns the exceptions, which are done
 */
export async function sweepTasks(tx: Sql, verdict: Verdict, nowMs: number): Promise<LostTask[]> {
  const rows = await tx.query<{
    project_id: number;
    path: string;
    device: CaptureDevice;
    state: string;
    site_url: string | null;
  }>(
    `UPDATE capture_tasks t SET losses = losses + 1,
      state = CASE WHEN losses + 1 < $1::int THEN 'queued' ELSE 'done' END,
      status = CASE WHEN losses + 1 < $1::int THEN status ELSE $2::text END,
      message = CASE WHEN losses + 1 < $1::int THEN message ELSE $3::text END,
      finished_at = CASE WHEN losses + 1 < $1::int THEN NULL ELSE $4::text::timestamptz END
    FROM projects p
    WHERE t.state <> 'done' AND t.state = 'running' AND p.project_id = t.project_id
    RETURNING t.project_id, t.path, t.device, t.state, p.site_url`,
    [CAPTURE_LOSSES_MAX, verdict.status, verdict.message, instant(nowMs)],
  );
  return rows.filter(({ state }) => state === "done").map((row) => ({
    projectId: row.project_id,
    path: row.path,
    device: row.device,
    siteUrl: row.site_url,
  }));
}

/** Deletes jobs and tasks that were done long ago. */
export async function deleteOldJobs(sql: Sql, nowMs: number): Promise<void> {
  const before = instant(nowMs - CAPTURE_JOBS_KEPT_DAYS * DAY_MS);
  await sql.query(
    `DELETE FROM capture_jobs j
    WHERE created_at < $1::text::timestamptz AND NOT EXISTS (
      SELECT FROM capture_job_tasks l
      JOIN capture_tasks t ON t.project_id = l.project_id AND t.task_id = l.task_id
      WHERE l.project_id = j.project_id AND l.job_id = j.job_id AND t.state <> 'done')`,
    [before],
  );
  await sql.query(
    `DELETE FROM capture_tasks t
    WHERE state = 'done' AND finished_at < $1::text::timestamptz AND NOT EXISTS (
      SELECT FROM capture_job_tasks l
      WHERE l.project_id = t.project_id AND l.task_id = t.task_id)`,
    [before],
  );
}

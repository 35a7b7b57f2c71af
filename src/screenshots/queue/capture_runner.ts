import type { Sql } from "../../db/sql.ts";
import type { Log } from "../../http/log.ts";
import { PROJECTION_JOB_WAIT_MS_MAX } from "../../limits.ts";
import {
  CAPTURE_LEASE_MS,
  CAPTURE_POLL_MS,
  CAPTURE_TASK_MS_MAX,
  CAPTURES_AT_ONCE,
} from "../capture_limits.ts";
import { endLease, takeLease } from "./capture_lease.ts";
import {
  claimTask,
  endTask,
  giveBack,
  isAnythingDue,
  sweepTasks,
  type Task,
} from "./capture_queue.ts";
import { ServedProjects } from "../../db/served_projects.ts";
import { type CaptureStatus, verdict } from "../capture_status.ts";
import { storeAttempt } from "./capture_store.ts";
import { logReason } from "../log_reason.ts";
import type { PageCamera, ScreenshotResult } from "../browser/page_screenshot.ts";
import { trackedHosts, type VisitReads } from "./visited_paths.ts";

export interface RunnerServices extends VisitReads {
  readonly sql: Sql;
  readonly projection: { catchUpWithin(projectId: number, msMax: number): Promise<void> };
  readonly pageCamera: PageCamera;
  readonly log: Pick<Log, "warn" | "error">;
  readonly now: () => number;
  /** Returns random characters, which cannot be guessed. */
  readonly randomText: (length: number) => string;
  /** The paths of this server's endpoints for events. */
  readonly ownEndpoints: readonly string[];
  /** Called once per attempt. */
  readonly observe: (status: CaptureStatus) => void;
  readonly pollMs?: number;
}

const LEASE_RENEWALS = 3;
const CAPTURE_ID_LENGTH = 20;

const ENDED_TOO_OFTEN = verdict(
  "render_failed",
  "The page could not be drawn: each time it was tried, it ended the browser or the server.",
);
const TOOK_TOO_LONG = verdict(
  "render_failed",
  "The page could not be drawn: the browser did not come to an end with it.",
);
const WENT_WRONG = verdict(
  "render_failed",
  "The page could not be drawn: the server made a mistake; its log says more.",
);

/**
 * Works off the queue of captures. Any number of servers may have a runner: the one with the lease works, and the
 * others check regularly whether it still does.
 */
export class CaptureRunner {
  readonly #services: RunnerServices;
  readonly #owner: string;
  readonly #served = new ServedProjects();
  readonly #sleepers = new Set<() => void>();
  #isWoken = false;
  #underWay = 0;

  constructor(services: RunnerServices) {
    this.#services = services;
    this.#owner = services.randomText(CAPTURE_ID_LENGTH);
  }

  /** Ends the current pause, because something was queued. */
  wake(): void {
    this.#isWoken = this.#sleepers.size === 0;
    this.#rouse();
  }

  /**
   * Works until `signal` aborts, and then puts running tasks back. A failure is logged, and the next check tries
   * again.
   * @param patienceMs how long to leave the work to others first
   * @returns when the browser is closed
   */
  async run(signal: AbortSignal, patienceMs = 0): Promise<void> {
    const { log, pageCamera, pollMs = CAPTURE_POLL_MS } = this.#services;
    if (patienceMs > 0) await this.#pause(patienceMs, signal, false);
    while (!signal.aborted) {
      let ended = 0;
      try {
        ended = await this.runDue(signal);
      } catch (error) {
        if (!signal.aborted) log.warn("captures failed", { reason: logReason(error) });
      }
      if (ended === 0) await this.#pause(pollMs, signal, true);
    }
    await pageCamera.close();
  }

  /** Takes the captures that are due now, if it gets the lease. @returns the number of attempts */
  async runDue(signal: AbortSignal): Promise<number> {
    const { sql, now } = this.#services;
    if (signal.aborted || !await isAnythingDue(sql, now())) return 0;
    if (!await takeLease(sql, this.#owner)) return 0;
    // A failed renewal is not an error yet: without the lease, no more tasks can be claimed.
    let renewed: Promise<unknown> = Promise.resolve();
    const renewing = setInterval(() => {
      renewed = renewed.then(() => takeLease(sql, this.#owner)).catch(() => {});
    }, CAPTURE_LEASE_MS / LEASE_RENEWALS);
    try {
      await this.#sweep();
      const workers = Array.from({ length: CAPTURES_AT_ONCE }, () => this.#work(signal));
      const counts = await Promise.allSettled(workers);
      const failed = counts.find((count) => count.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      return counts.reduce(
        (sum, count) => sum + (count.status === "fulfilled" ? count.value : 0),
        0,
      );
    } finally {
      clearInterval(renewing);
      // A running renewal would take the lease again after it has been given back.
      await renewed;
      await endLease(sql, this.#owner);
    }
  }

  async #sweep(): Promise<void> {
    const { sql, now, observe } = this.#services;
    const atMs = now();
    const lost = await sql.transaction(async (tx) => {
      const tasks = await sweepTasks(tx, ENDED_TOO_OFTEN, atMs);
      for (const task of tasks) {
        await storeAttempt(tx, {
          ...task,
          verdict: ENDED_TOO_OFTEN,
          screenshot: null,
          atMs,
          newCaptureId: this.#newCaptureId(),
        });
      }
      return tasks;
    });
    for (const _ of lost) observe(ENDED_TOO_OFTEN.status);
  }

  /**
   * Works on one task after the other until none is due and no other worker has one: while others work, it waits for
   * new tasks. @returns the number of attempts
   */
  async #work(signal: AbortSignal): Promise<number> {
    const { sql, now, pollMs = CAPTURE_POLL_MS } = this.#services;
    let ended = 0;
    while (!signal.aborted) {
      const task = await claimTask(sql, this.#owner, now(), this.#served);
      if (task !== null) {
        this.#underWay++;
        try {
          if (await this.#end(task, signal)) ended++;
        } finally {
          this.#underWay--;
        }
      } else if (this.#underWay > 0) await this.#pause(pollMs, signal, true);
      else break;
    }
    this.#rouse();
    return ended;
  }

  /** Attempts a task and stores the result. @returns false if the server stops, and the task is back in the queue */
  async #end(task: Task, signal: AbortSignal): Promise<boolean> {
    const result = await this.#attempt(task, signal);
    if (result === null) await giveBack(this.#services.sql, task);
    else await this.#store(task, result);
    return result !== null;
  }

  /** Attempts a task; null: the attempt was given up because the server stops. */
  async #attempt(task: Task, signal: AbortSignal): Promise<ScreenshotResult | null> {
    const { projection, pageCamera, log, now, ownEndpoints } = this.#services;
    const { projectId, siteUrl, siteUrlByOperator, path, device } = task;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), CAPTURE_TASK_MS_MAX);
    const givenUp = AbortSignal.any([signal, late.signal]);
    try {
      const lookUp = () => trackedHosts(this.#services, projectId, path, now());
      let hosts = await lookUp();
      if (hosts.length === 0) {
        // The first view of the page may still be pending.
        const counted = projection.catchUpWithin(projectId, PROJECTION_JOB_WAIT_MS_MAX);
        await unlessAborted(counted, givenUp);
        hosts = await lookUp();
      }
      const request = {
        siteUrl,
        siteUrlByOperator,
        trackedHosts: hosts,
        path,
        device,
        ownEndpoints,
        signal: givenUp,
      };
      return await unlessAborted(pageCamera.takeScreenshot(request), givenUp);
    } catch (error) {
      if (signal.aborted) return null;
      if (late.signal.aborted) return { verdict: TOOK_TOO_LONG, screenshot: null };
      log.error("capture failed", { task: task.taskId, device, reason: logReason(error) });
      return { verdict: WENT_WRONG, screenshot: null };
    } finally {
      clearTimeout(timer);
    }
  }

  async #store(task: Task, { verdict, screenshot }: ScreenshotResult): Promise<void> {
    const { sql, now, observe } = this.#services;
    const atMs = now();
    const counts = await sql.transaction(async (tx) => {
      // If this server lost its lease meanwhile, another one may have claimed the task.
      if (!await endTask(tx, task, verdict, atMs)) return false;
      const { projectId, path, device, siteUrl } = task;
      const page = { projectId, path, device, siteUrl };
      await storeAttempt(tx, {
        ...page,
        verdict,
        screenshot,
        atMs,
        newCaptureId: this.#newCaptureId(),
      });
      return true;
    });
    if (counts) observe(verdict.status);
  }

  #newCaptureId(): string {
    return `cap_${this.#services.randomText(CAPTURE_ID_LENGTH)}`;
  }

  #rouse(): void {
    for (const end of this.#sleepers) end();
  }

  #pause(ms: number, signal: AbortSignal, canWake: boolean): Promise<void> {
    const isWoken = canWake && this.#isWoken;
    this.#isWoken = false;
    if (signal.aborted || isWoken) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      this.#sleepers.delete(end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    if (canWake) this.#sleepers.add(end);
    return promise;
  }
}

/** Returns the result of `work`; rejects as soon as `signal` aborts, without stopping the work. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  // Its failure after that is ignored.
  work.catch(() => {});
  signal.throwIfAborted();
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason);
  signal.addEventListener("abort", onAbort);
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

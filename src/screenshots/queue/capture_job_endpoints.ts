import { z } from "zod";
import type { Principal } from "../../auth/access.ts";
import type { Project } from "../../auth/projects.ts";
import { json } from "../../http/reply.ts";
import type { Exchange } from "../../http/router.ts";
import {
  CAPTURE_PATHS_MAX,
  CAPTURE_WAIT_PAUSE_MS,
  CAPTURE_WAIT_S_MAX,
  CAPTURE_WAITERS_MAX,
} from "../capture_limits.ts";
import { LOCATION_LENGTH_MAX } from "../../limits.ts";
import { pause } from "../../turns/pause.ts";
import { Problem } from "../../problem.ts";
import { type SelectionServices, selectPages } from "./capture_daily.ts";
import { type CaptureJob, findJob, queueJob } from "./capture_queue.ts";
import { CAPTURE_DEVICES, CAPTURE_STATUSES } from "../capture_status.ts";
import { pagePath } from "./visited_paths.ts";
import { PROJECT_QUERY } from "../../query/project_query.ts";

export const CAPTURE_JOBS_PATH = "/v1/internal/jobs/heatmap-captures";

/** A path in a request. More are allowed than in the daily job, since the caller knows what it does. */
const PagePath = z.string()
  .max(LOCATION_LENGTH_MAX, `Use at most ${LOCATION_LENGTH_MAX} characters.`)
  .refine(
    (path) => pagePath(path) !== null,
    "Give a path on the project's site, such as /pricing: this one leads elsewhere.",
  )
  .overwrite((path) => pagePath(path) ?? path)
  .meta({ description: "A path on the project's site.", example: "/pricing" });

/** Body of `POST /v1/internal/jobs/heatmap-captures`. */
export const CaptureJobCreation = z.strictObject({
  project: z.string().optional()
    .meta({ description: `${PROJECT_QUERY.project}.` }),
  path: PagePath.optional(),
  paths: z.array(PagePath).min(1, "Name a path, or leave this out for the most visited ones.")
    .max(CAPTURE_PATHS_MAX, `Name at most ${CAPTURE_PATHS_MAX} paths.`).optional()
    .meta({ description: "Default, without `path`: the most visited ones." }),
  devices: z.array(z.enum(CAPTURE_DEVICES, `Use ${CAPTURE_DEVICES.join(", ")}.`))
    .min(1, "Name a device, or leave this out for all.")
    .max(CAPTURE_DEVICES.length, "Name each device once.")
    .default([...CAPTURE_DEVICES]),
}).refine(
  ({ path, paths }) => path === undefined || paths === undefined,
  { path: ["paths"], message: "Give this instead of `path`, not beside it." },
).meta({ id: "CaptureJobCreation" });

/** A job as replies show it. */
export const CaptureJobReply = z.object({
  job: z.object({
    id: z.string().meta({ example: "job_0aB1cD2eF3gH4iJ5kL6m" }),
    status: z.enum(["queued", "running", "done"])
      .meta({ description: "`done` when each of its pages was tried once." }),
    captures: z.array(z.object({
      path: z.string(),
      device: z.enum(CAPTURE_DEVICES),
      status: z.enum(CAPTURE_STATUSES)
        .meta({ description: "`pending` until the page was tried once." }),
      message: z.string().meta({ description: "The status as a sentence for people." }),
      nextAttemptAt: z.iso.datetime().nullable().meta({
        description: "When a `temporary_failure` is tried again; null: no further try is planned.",
      }),
    })),
  }),
}).meta({ id: "CaptureJob" });

export interface CaptureJobServices extends SelectionServices {
  readonly newJobId: () => string;
  /** Called when something was queued. */
  readonly queued: () => void;
  /** Aborts when the server stops, which ends the waiting for jobs. */
  readonly stopping: AbortSignal;
}

const JOB_ID = /^job_[A-Za-z0-9]{20}$/;
const WAIT = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:[,;]|$)/i;

/** Returns the whole seconds that `Prefer: wait=N` (RFC 7240) asks for, limited; null: none. */
function waitSeconds(headers: Headers): number | null {
  const seconds = WAIT.exec(headers.get("prefer") ?? "")?.[1];
  return seconds === undefined ? null : Math.min(Number(seconds), CAPTURE_WAIT_S_MAX);
}

function noSuchJob(): Problem {
  return new Problem("not_found", "There is no job with this id; old ones are forgotten.");
}

/** The endpoints of jobs. */
export class CaptureJobs {
  readonly #services: CaptureJobServices;
  #waiters = 0;

  constructor(services: CaptureJobServices) {
    this.#services = services;
  }

  /**
   * `POST /v1/internal/jobs/heatmap-captures`: replies 202 with the queued job, or 200 if it is done within
   * `Prefer: wait=N`.
   */
  async post(
    project: Project,
    body: z.output<typeof CaptureJobCreation>,
    { request }: Pick<Exchange<unknown>, "request">,
  ): Promise<Response> {
    const { sql, newJobId, now, queued } = this.#services;
    const { projectId } = project;
    const named = body.path === undefined ? body.paths : [body.path];
    const paths = named ?? (await selectPages(this.#services, projectId)).paths;
    const jobId = newJobId();
    const { devices } = body;
    await queueJob(sql, { projectId, jobId, paths, devices, nowMs: now(), dueMs: null });
    queued();
    const seconds = waitSeconds(request.headers);
    const waits = seconds !== null && this.#waiters < CAPTURE_WAITERS_MAX;
    const job = waits
      ? await this.#wait(jobId, [project.id], seconds, request.signal)
      : await this.#find(jobId, [project.id]);
    return json({ job }, waits && job.status === "done" ? 200 : 202, {
      "Location": `${CAPTURE_JOBS_PATH}/${jobId}`,
      ...(waits ? { "Preference-Applied": `wait=${seconds}` } : {}),
    });
  }

  /** `GET /v1/internal/jobs/heatmap-captures/:id`: a job of the token's projects. Throws `not_found`. */
  async get(id: string, { projects }: Pick<Principal, "projects">): Promise<Response> {
    if (!JOB_ID.test(id)) throw noSuchJob();
    return json({ job: await this.#find(id, projects) });
  }

  async #find(jobId: string, projects: Principal["projects"]): Promise<CaptureJob> {
    const job = await findJob(this.#services.sql, jobId, projects);
    if (job === null) throw noSuchJob();
    return job;
  }

  /** Returns the job once it is done, or its state when the time is over, the client is gone or the server stops. */
  async #wait(
    jobId: string,
    projects: readonly string[],
    seconds: number,
    gone: AbortSignal,
  ): Promise<CaptureJob> {
    const deadline = performance.now() + seconds * 1000;
    const given = AbortSignal.any([gone, this.#services.stopping]);
    this.#waiters++;
    try {
      for (;;) {
        const job = await this.#find(jobId, projects);
        const leftMs = deadline - performance.now();
        if (job.status === "done" || leftMs <= 0 || given.aborted) return job;
        await pause(Math.min(leftMs, CAPTURE_WAIT_PAUSE_MS), given);
      }
    } finally {
      this.#waiters--;
    }
  }
}

/// <reference lib="dom" />
import { useEffect, useRef, useState } from "preact/hooks";
import type { output } from "zod";
import type { CaptureJobReply } from "../../screenshots/queue/capture_job_endpoints.ts";
import { read, send } from "../api.ts";
import { ApiProblem } from "../api_problem.ts";
import { project } from "../location_state.ts";
import { pause } from "../pause.ts";
import type { Device } from "./heatmaps_replies.ts";

const PATH = "/v1/internal/jobs/heatmap-captures";
const POLL_MS = 1_500;
/** After so many failed polls in a row a job is given up. */
const FAILURES_MAX = 5;

type JobReply = output<typeof CaptureJobReply>;
/** A job that takes captures. */
export type CaptureJob = JobReply["job"];

export interface JobRun {
  /** The page that is captured; null: none was asked for. */
  readonly path: string | null;
  readonly job: CaptureJob | null;
  /** Why it could not be started or followed; null: it could. */
  readonly problem: ApiProblem | null;
  readonly isRunning: boolean;
  readonly start: (path: string, devices: readonly Device[]) => void;
}

/** Follows a job to its end. Throws ApiProblem if it is lost. */
async function follow(
  id: string,
  signal: AbortSignal,
  onJob: (job: CaptureJob) => void,
): Promise<void> {
  let failures = 0;
  while (!signal.aborted) {
    await pause(POLL_MS, signal);
    if (signal.aborted) return;
    try {
      const { job } = await read<JobReply>(`${PATH}/${id}`, {}, signal);
      failures = 0;
      onJob(job);
      if (job.status === "done") return;
    } catch (error) {
      if (signal.aborted) return;
      failures++;
      const isGone = error instanceof ApiProblem && error.status === 404;
      if (isGone || failures >= FAILURES_MAX) throw error;
    }
  }
}

/** Starts a job of captures and follows it. The server goes on with it after the view is left. */
export function useCaptureJob(onDone: () => void): JobRun {
  const [path, setPath] = useState<string | null>(null);
  const [job, setJob] = useState<CaptureJob | null>(null);
  const [problem, setProblem] = useState<ApiProblem | null>(null);
  const [isRunning, setRunning] = useState(false);
  const abort = useRef(new AbortController());
  useEffect(() => () => abort.current.abort(), []);
  const start = async (path: string, devices: readonly Device[]) => {
    abort.current.abort();
    abort.current = new AbortController();
    const { signal } = abort.current;
    setPath(path);
    setRunning(true);
    setProblem(null);
    setJob(null);
    try {
      const body = { project: project.peek(), path, devices };
      const started = (await send<JobReply>("POST", PATH, body))!.job;
      if (signal.aborted) return;
      setJob(started);
      if (started.status !== "done") await follow(started.id, signal, setJob);
      if (!signal.aborted) onDone();
    } catch (error) {
      if (!signal.aborted && error instanceof ApiProblem) setProblem(error);
    }
    if (!signal.aborted) setRunning(false);
  };
  return { path, job, problem, isRunning, start };
}

import { pause } from "../turns/pause.ts";
import { type Call, type Command, PROJECT_OPTION } from "./command.ts";
import { callApi, chosenProject, type Connection, withConnection } from "./connection.ts";
import { createProgress } from "./progress.ts";

export const JOBS_PATH = "/v1/internal/jobs/heatmap-captures";
const PENDING = "pending";
const CAPTURED = "captured";
const POLL_MS = 500;
const FAILED = 1;

interface Job {
  readonly id: string;
  readonly status: string;
  readonly captures: readonly {
    readonly path: string;
    readonly device: string;
    readonly status: string;
    readonly message: string;
    readonly nextAttemptAt: string | null;
  }[];
}

/** The reply of the jobs endpoint. */
export interface JobReply {
  readonly job: Job;
}

/**
 * Waits for a job and returns it once it is done. Rejects if the user asks to stop; the job itself continues.
 */
export async function awaitJob(call: Call, connection: Connection, queued: Job): Promise<Job> {
  const { print, now, signal } = call;
  const total = queued.captures.length;
  const progress = createProgress(print, "Capturing", total, now);
  try {
    for (let job = queued;;) {
      const done = job.captures.filter(({ status }) => status !== PENDING).length;
      progress.update(done, `${done} of ${total}`);
      if (job.status === "done") return job;
      await pause(POLL_MS, signal);
      signal.throwIfAborted();
      job = (await callApi<JobReply>(connection, "GET", `${JOBS_PATH}/${job.id}`)).job;
    }
  } finally {
    progress.end();
  }
}

function bodyOf({ options }: Call, project: string) {
  const paths = options.list("path");
  const devices = options.list("device");
  return {
    project,
    ...(paths === null ? {} : { paths }),
    ...(devices === null ? {} : { devices }),
  };
}

async function capture(call: Call): Promise<number> {
  const { print } = call;
  const job = await withConnection(call, async (connection) => {
    const body = bodyOf(call, await chosenProject(connection, call));
    const { job: queued } = await callApi<JobReply>(connection, "POST", JOBS_PATH, body);
    return await awaitJob(call, connection, queued);
    // Without a running server this process takes the pictures.
  }, (app) => app.startCaptures());
  const { captures } = job;
  print.result({ job }, () =>
    print.table(
      ["PATH", "DEVICE", "STATUS", "MESSAGE"],
      captures.map(({ path, device, status, message }) => [path, device, status, message]),
    ));
  if (captures.some(({ nextAttemptAt }) => nextAttemptAt !== null)) {
    print.remark("A running server tries the temporary failures again within two minutes.");
  }
  if (captures.length === 0) {
    print.remark(
      `No page was viewed lately. Name one: ${call.config.footfallHere} capture --path /`,
    );
  }
  return captures.every(({ status }) => status === CAPTURED) ? 0 : FAILED;
}

export const CAPTURE_COMMAND: Command = {
  name: "capture",
  summary: "Capture pages for the heat maps now",
  usage: "footfall capture [options]",
  notes:
    "A running server takes the captures; without one this command does. It succeeds if every page\n" +
    "was captured. Interrupted, it leaves the rest to the server.",
  wordsMax: 0,
  options: {
    path: {
      type: "string",
      multiple: true,
      placeholder: "PATH",
      default: "the most visited pages",
      meaning: "page of the project's site; may be repeated",
    },
    project: PROJECT_OPTION,
    device: {
      type: "string",
      multiple: true,
      placeholder: "desktop|tablet|mobile",
      default: "all of them",
      meaning: "width to look at it in; may be repeated",
    },
  },
  example: "footfall capture --path /pricing --path /about --device mobile",
  run: capture,
};

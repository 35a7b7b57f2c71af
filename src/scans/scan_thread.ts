import { SegmentUnreadable } from "../store/segment_head.ts";
import { ownBuffers } from "./own_buffers.ts";
import type { TaskRange } from "./pool_job.ts";
import type { PoolOrder, WorkerReply, WorkerRequest, WorkFailure } from "./scan_worker_loop.ts";

/** Callbacks for a worker's replies, with the number of the job. */
export interface ThreadListener {
  /** The worker has handed over its counts of the job. */
  readonly counted: (job: number, counts: unknown) => void;
  /** The worker has visited the range. */
  readonly done: (job: number) => void;
  readonly failed: (job: number, reason: Error) => void;
  /** The worker has ended by itself. Null: it was idle. */
  readonly lost: (job: number | null) => void;
}

function errorOf({ failure, isUnreadable }: WorkFailure): Error {
  return isUnreadable ? new SegmentUnreadable(failure) : new Error(failure);
}

/** One worker, which does one thing at a time. */
export class ScanThread {
  readonly #worker: Worker;
  /** The job that it works for; null: it is idle. */
  #current: number | null = null;

  constructor(worker: Worker, listener: ThreadListener) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<WorkerReply>) => {
      const reply = event.data;
      this.#current = null;
      if ("failure" in reply) listener.failed(reply.job, errorOf(reply));
      else if ("result" in reply) listener.counted(reply.job, reply.result);
      else listener.done(reply.job);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.end();
      listener.lost(this.#current);
    };
  }

  get isBusy(): boolean {
    return this.#current !== null;
  }

  /**
   * @param order with the first range of a job, else null
   * @param inputs what the range needs beside the order, whose buffers are handed over
   */
  run(job: number, range: TaskRange, order: PoolOrder | null, inputs: unknown): void {
    this.#current = job;
    const request: WorkerRequest = { kind: "run", job, range, order, inputs };
    this.#worker.postMessage(request, { transfer: [...ownBuffers(inputs)] });
  }

  /** Asks for the counts of a job, which the worker then frees. */
  close(job: number): void {
    this.#current = job;
    this.#send({ kind: "close", job });
  }

  /** Frees the counts of a job, which nobody needs. */
  drop(job: number): void {
    this.#send({ kind: "drop", job });
  }

  end(): void {
    this.#worker.terminate();
  }

  #send(request: WorkerRequest): void {
    this.#worker.postMessage(request);
  }
}

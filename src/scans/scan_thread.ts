import { SegmentUnreadable } from "../store/segment_head.ts";
import { ownBuffers } from "./own_buffers.ts";
import type { TaskRange } from "./pool_job.ts";
import type { JobOpening, WorkerReply, WorkerRequest, WorkFailure } from "./scan_worker_loop.ts";

/** Callbacks for a worker's replies, with the number of the job. */
interface ThreadListener {
  /** The worker has handed over its counts of the job. */
  readonly counted: (job: number, counts: unknown) => void;
  /** The worker has visited the range. */
  readonly done: (job: number) => void;
  readonly failed: (job: number, reason: Error) => void;
  /** The worker has ended by itself, with these requests unanswered, by their jobs. */
  readonly lost: (jobs: readonly number[]) => void;
}

function errorOf({ failure, isUnreadable }: WorkFailure): Error {
  return isUnreadable ? new SegmentUnreadable(failure) : new Error(failure);
}

/**
 * One worker, which does one thing at a time. It is sent the next one before: while it waited for it, it
 * was idle for as long as the thread that sends it was busy.
 */
export class ScanThread {
  readonly #worker: Worker;
  /** The jobs of the requests whose replies have not come, in their order. */
  readonly #requested: number[] = [];
  /** How many requests it was sent, and how many of them it has answered, as it counts itself. */
  #sent = 0;
  readonly #answered = new Int32Array(new SharedArrayBuffer(4));

  constructor(worker: Worker, listener: ThreadListener) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<WorkerReply>) => {
      const reply = event.data;
      this.#requested.shift();
      if ("failure" in reply) listener.failed(reply.job, errorOf(reply));
      else if ("result" in reply) listener.counted(reply.job, reply.result);
      else listener.done(reply.job);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.end();
      listener.lost(this.#requested);
    };
  }

  /**
   * How many requests it has not answered. Replies come when this thread yields: by them, it would have been
   * idle for half of a scan that takes a millisecond for each request.
   */
  get load(): number {
    return this.#sent - Atomics.load(this.#answered, 0);
  }

  /**
   * @param opening with the first range of a job, else null
   * @param inputs what the range needs beside the order, whose buffers are handed over
   */
  run(job: number, range: TaskRange, opening: JobOpening | null, inputs: unknown): void {
    const first = opening === null ? null : { ...opening, answered: this.#answered };
    this.#requested.push(job);
    this.#sent++;
    const request: WorkerRequest = { kind: "run", job, range, opening: first, inputs };
    this.#worker.postMessage(request, { transfer: [...ownBuffers(inputs)] });
  }

  /** Asks for the counts of a job, which the worker then frees. */
  close(job: number): void {
    this.#requested.push(job);
    this.#sent++;
    this.#send({ kind: "close", job });
  }

  /** Frees the counts of a job that are not needed. */
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

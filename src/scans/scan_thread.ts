import { SegmentUnreadable } from "../store/segment_head.ts";
import type { TaskRange } from "./pool_job.ts";
import type { JobOpening, WorkerReply, WorkerRequest, WorkFailure } from "./scan_worker_loop.ts";

/** Returns the error that a worker's job failed with. */
export function errorOf({ failure, isUnreadable }: WorkFailure): Error {
  return isUnreadable ? new SegmentUnreadable(failure) : new Error(failure);
}

/**
 * One worker, which does one request at a time. The next request is sent in advance, or the worker would be
 * idle whenever the sending thread is busy.
 */
export class ScanThread {
  readonly #worker: Worker;
  /** The jobs of unanswered requests, in order. */
  readonly #requested: number[] = [];
  /** How many requests it was sent; how many it has answered, by its own counter in shared memory. */
  #sent = 0;
  readonly #answered = new Int32Array(new SharedArrayBuffer(4));

  /**
   * @param lost called if the worker has ended by itself, with the jobs of the requests it has not answered
   */
  constructor(
    worker: Worker,
    replied: (reply: WorkerReply) => void,
    lost: (jobs: readonly number[]) => void,
  ) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<WorkerReply>) => {
      this.#requested.shift();
      replied(event.data);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.end();
      lost(this.#requested);
    };
  }

  /**
   * How many requests are unanswered. The shared counter tells sooner than replies, which arrive only when
   * this thread yields: with requests of a millisecond, the worker would be idle half of the time.
   */
  get load(): number {
    return this.#sent - Atomics.load(this.#answered, 0);
  }

  /** @param opening with the first range of a job, else null */
  run(job: number, range: TaskRange, opening: JobOpening | null): void {
    const first = opening === null ? null : { ...opening, answered: this.#answered };
    this.#requested.push(job);
    this.#sent++;
    this.#send({ kind: "run", job, range, opening: first });
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

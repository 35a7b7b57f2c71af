import type { ScanOrder, TaskRange } from "./scan_task.ts";
import type { WorkerReply, WorkerRequest } from "./scan_worker_loop.ts";

/** Callbacks for a worker's replies, with the number of the scan. */
export interface ThreadListener {
  /** The worker has handed over its counts of the scan. */
  readonly counted: (scan: number, counts: unknown) => void;
  /** The worker has visited the range. */
  readonly done: (scan: number) => void;
  readonly failed: (scan: number, reason: Error) => void;
  /** The worker has ended by itself. Null: it was idle. */
  readonly lost: (scan: number | null) => void;
}

/** One worker, which does one thing at a time. */
export class ScanThread {
  readonly #worker: Worker;
  /** The scan that it works for; null: it is idle. */
  #current: number | null = null;

  constructor(worker: Worker, listener: ThreadListener) {
    this.#worker = worker;
    worker.onmessage = (event: MessageEvent<WorkerReply>) => {
      const reply = event.data;
      this.#current = null;
      if ("failure" in reply) listener.failed(reply.scan, new Error(reply.failure));
      else if ("result" in reply) listener.counted(reply.scan, reply.result);
      else listener.done(reply.scan);
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

  /** @param order with the first range of a scan, else null */
  run(scan: number, range: TaskRange, order: ScanOrder | null): void {
    this.#current = scan;
    this.#send({ kind: "run", scan, range, order });
  }

  /** Asks for the counts of a scan, which the worker then frees. */
  close(scan: number): void {
    this.#current = scan;
    this.#send({ kind: "close", scan });
  }

  /** Frees the counts of a scan, which nobody needs. */
  drop(scan: number): void {
    this.#send({ kind: "drop", scan });
  }

  end(): void {
    this.#worker.terminate();
  }

  #send(request: WorkerRequest): void {
    this.#worker.postMessage(request);
  }
}

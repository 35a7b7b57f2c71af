import type { ScanOrder, TaskRange } from "./scan_task.ts";
import type { WorkerReply, WorkerRequest } from "./scan_worker_loop.ts";

/** What is told of a worker's work, by the number of the scan. */
export interface ThreadListener {
  readonly counted: (scan: number, counts: unknown) => void;
  readonly done: (scan: number) => void;
  readonly failed: (scan: number, reason: Error) => void;
  /** The worker is gone. Null: it had nothing to do. */
  readonly lost: (scan: number | null) => void;
}

/** One worker, which is asked for one thing at a time. */
export class ScanThread {
  readonly #worker: Worker;
  /** The scan that it works for; null: none. */
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

  /** `order`: with the first range of a scan. */
  run(scan: number, range: TaskRange, order: ScanOrder | null): void {
    this.#current = scan;
    this.#send({ kind: "run", scan, range, order });
  }

  /** Asks for what was counted. */
  close(scan: number): void {
    this.#current = scan;
    this.#send({ kind: "close", scan });
  }

  /** Nobody asks for what was counted. */
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

/// <reference lib="deno.worker" />
import { SegmentUnreadable } from "../store/segment_head.ts";
import { type DecodeOrder, DecodeWork } from "../timelines/block_decoding.ts";
import { noteDropped } from "../timelines/dropped_memory.ts";
import { detachEachKind, ownBuffers } from "./own_buffers.ts";
import type { PoolWork, TaskRange } from "./pool_job.ts";
import { type ScanOrder, ScanWork } from "./scan_task.ts";
import type { AnyVisitorKind } from "./visitor.ts";

/** A scan, or a decoding. */
export type PoolOrder = ScanOrder | DecodeOrder;

/** What a worker must know of a job. */
export interface JobOpening {
  readonly order: PoolOrder;
  /** 1 once the job has ended. */
  readonly stopped: Int32Array;
  /** Bytes of shared memory dropped so far: see dropped_memory.ts. */
  readonly droppedBytes: number;
}

/** A job's opening, and the shared counter of the requests that the worker has answered. */
interface WorkerOpening extends JobOpening {
  readonly answered: Int32Array;
}

/** What the pool sends; `job` is the number of a job. */
export type WorkerRequest =
  | {
    readonly kind: "run";
    readonly job: number;
    readonly range: TaskRange;
    /** With the first range of the job for this worker; else null. */
    readonly opening: WorkerOpening | null;
  }
  /** Asks for the job's result, and frees the job. */
  | { readonly kind: "close"; readonly job: number }
  /** Frees the job, whose result is not needed. */
  | { readonly kind: "drop"; readonly job: number };

/** Why a range failed; `isUnreadable`: because stored bytes cannot be read. */
export interface WorkFailure {
  readonly failure: string;
  readonly isUnreadable: boolean;
}

/** The reply to each "run" and "close". */
export type WorkerReply =
  & { readonly job: number }
  & ({ readonly result: unknown } | { readonly done: true } | WorkFailure);

function failureOf(error: unknown): WorkFailure {
  if (error instanceof SegmentUnreadable) return { failure: error.message, isUnreadable: true };
  const failure = error instanceof Error ? error.stack ?? error.message : String(error);
  return { failure, isUnreadable: false };
}

/** Answers the requests of a pool, in a worker, with visitors of these kinds. */
export function serveScans(kinds: readonly AnyVisitorKind[]): void {
  detachEachKind();
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  let answered: Int32Array | null = null;
  const jobs = new Map<number, { readonly work: PoolWork; readonly stopped: Int32Array }>();
  const open = (order: PoolOrder): PoolWork => {
    if ("decoded" in order) return new DecodeWork(order);
    const kind = byName.get(order.visitor);
    if (kind === undefined) throw new Error(`Unknown visitor ${order.visitor}`);
    return new ScanWork(kind, order);
  };
  const perform = (request: WorkerRequest): WorkerReply | null => {
    const { job } = request;
    if (request.kind === "run") {
      const { opening, range } = request;
      if (opening !== null) {
        noteDropped(opening.droppedBytes);
        ({ answered } = opening);
        jobs.set(job, { work: open(opening.order), stopped: opening.stopped });
      }
      // Also skips ranges that were sent before the pool knew that the job had failed here.
      const known = jobs.get(job);
      if (known !== undefined && Atomics.load(known.stopped, 0) === 0) {
        known.work.run(range);
      }
      return { job, done: true };
    }
    const known = jobs.get(job);
    jobs.delete(job);
    return request.kind === "close" ? { job, result: known?.work.result() } : null;
  };
  const answer = (request: WorkerRequest): WorkerReply | null => {
    try {
      return perform(request);
    } catch (error) {
      jobs.delete(request.job);
      return { job: request.job, ...failureOf(error) };
    }
  };
  const send = (reply: WorkerReply) =>
    self.postMessage(reply, { transfer: [...ownBuffers(reply)] });
  self.onmessage = (event: MessageEvent<WorkerRequest>) => {
    const reply = answer(event.data);
    if (reply === null) return;
    // A busy pool sees the counter at once, and the reply only later.
    if (answered !== null) Atomics.add(answered, 0, 1);
    try {
      send(reply);
    } catch (error) {
      // A reply that cannot be sent fails only its own job.
      send({ job: reply.job, ...failureOf(error) });
    }
  };
}

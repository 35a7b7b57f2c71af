/// <reference lib="deno.worker" />
import { type ScanOrder, ScanWork, type TaskRange } from "./scan_task.ts";
import type { AnyVisitorKind } from "./visitor.ts";

/** What the pool sends; `scan` is the number of a scan. */
export type WorkerRequest =
  | {
    readonly kind: "run";
    readonly scan: number;
    readonly range: TaskRange;
    /** With the first range of the scan that this worker gets; null with all others. */
    readonly order: ScanOrder | null;
  }
  /** Asks for the scan's result, and frees the scan. */
  | { readonly kind: "close"; readonly scan: number }
  /** Frees the scan, whose result nobody needs. */
  | { readonly kind: "drop"; readonly scan: number };

/** The reply to each "run" and "close". */
export type WorkerReply =
  & { readonly scan: number }
  & ({ readonly result: unknown } | { readonly done: true } | { readonly failure: string });

/**
 * Returns the unshared buffers in plain data, which are transferred instead of copied. Empty ones are
 * left out: they may be constants that several results use.
 */
function buffersOf(data: unknown, found = new Set<ArrayBuffer>()): Set<ArrayBuffer> {
  if (ArrayBuffer.isView(data)) {
    const { buffer } = data;
    if (buffer instanceof ArrayBuffer && buffer.byteLength > 0) found.add(buffer);
  } else if (Array.isArray(data)) {
    for (const one of data) if (typeof one === "object") buffersOf(one, found);
  } else if (typeof data === "object" && data !== null && !(data instanceof Map)) {
    for (const one of Object.values(data)) buffersOf(one, found);
  }
  return found;
}

/** Answers the requests of a pool, in a worker, with visitors of these kinds. */
export function serveScans(kinds: readonly AnyVisitorKind[]): void {
  const byName = new Map(kinds.map((kind) => [kind.name, kind]));
  const scans = new Map<number, ScanWork>();
  const open = (order: ScanOrder): ScanWork => {
    const kind = byName.get(order.visitor);
    if (kind === undefined) throw new Error(`There is no visitor ${order.visitor}`);
    return new ScanWork(kind, order);
  };
  const perform = (request: WorkerRequest): WorkerReply | null => {
    const { scan } = request;
    if (request.kind === "run") {
      const { order, range } = request;
      if (order !== null) scans.set(scan, open(order));
      scans.get(scan)!.run(range);
      return { scan, done: true };
    }
    const work = scans.get(scan);
    scans.delete(scan);
    return request.kind === "close" ? { scan, result: work!.result() } : null;
  };
  self.onmessage = (event: MessageEvent<WorkerRequest>) => {
    const request = event.data;
    try {
      const reply = perform(request);
      if (reply !== null) self.postMessage(reply, { transfer: [...buffersOf(reply)] });
    } catch (error) {
      scans.delete(request.scan);
      const failure = error instanceof Error ? error.stack ?? error.message : String(error);
      self.postMessage({ scan: request.scan, failure });
    }
  };
}

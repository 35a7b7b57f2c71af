/// <reference lib="deno.worker" />
import { type ScanOrder, ScanWork, type TaskRange } from "./scan_task.ts";
import type { AnyVisitorKind } from "./visitor.ts";

/** What the pool sends. A scan is told by a number of its own. */
export type WorkerRequest =
  | {
    readonly kind: "run";
    readonly scan: number;
    readonly range: TaskRange;
    /** With the first range that this worker is sent; null with all others. */
    readonly order: ScanOrder | null;
  }
  /** Its result is asked for; then nothing of it is kept. */
  | { readonly kind: "close"; readonly scan: number }
  /** Nobody asks for its result. */
  | { readonly kind: "drop"; readonly scan: number };

/** What it gets back, for each "run" and "close". */
export type WorkerReply =
  & { readonly scan: number }
  & ({ readonly result: unknown } | { readonly done: true } | { readonly failure: string });

/**
 * The memory of all that is not shared in plain data: it is handed over instead of copied. Empty arrays
 * stay: they may be constants of several results.
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

/** Serves as a worker of a pool, with visitors of these kinds. */
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

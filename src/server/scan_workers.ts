import { type PoolBounds, ScanPool } from "../scans/scan_pool.ts";

/** The pool of so many workers; none is started before there is work that is worth it. */
export function createScanPool(workers: number, bounds?: PoolBounds): ScanPool {
  const start = () => new Worker(new URL("./scan_worker.ts", import.meta.url), { type: "module" });
  return new ScanPool(workers, start, bounds);
}

import { type PoolBounds, ScanPool } from "../scans/scan_pool.ts";

/** Makes the scan pool; workers are started only once there is enough work for them. */
export function createScanPool(workers: number, bounds?: PoolBounds): ScanPool {
  const start = () => new Worker(new URL("./scan_worker.ts", import.meta.url), { type: "module" });
  return new ScanPool(workers, start, bounds);
}

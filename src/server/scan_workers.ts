import { type PoolBounds, ScanPool } from "../scans/scan_pool.ts";

/** By way of src/, because the bundle of the program, in dist/program, has no file of it. */
const SCAN_WORKER = new URL("../../src/server/scan_worker.ts", import.meta.url);

/** Makes the scan pool; workers are started only once there is enough work for them. */
export function createScanPool(workers: number, bounds?: PoolBounds): ScanPool {
  const start = () => new Worker(SCAN_WORKER, { type: "module" });
  return new ScanPool(workers, start, bounds);
}

import { createScanPool } from "../../src/server/scan_workers.ts";

/** A pool without workers: everything is visited where it is asked for. */
export const IN_PLACE = createScanPool(0);

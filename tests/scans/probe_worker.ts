/** A worker of a pool that knows the probe alone. */
import { serveScans } from "../../src/scans/scan_worker_loop.ts";
import { PROBE } from "./probe_visitor.ts";

serveScans([PROBE]);

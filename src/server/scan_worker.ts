/** A thread of the pool that follows actors for reads: it knows every visitor, and no database. */
import { serveScans } from "../scans/scan_worker_loop.ts";
import { VISITORS } from "./scan_visitors.ts";

serveScans(VISITORS);

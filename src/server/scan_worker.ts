/** A thread of the scan pool: it knows all kinds of visitors, and no database. */
import { serveScans } from "../scans/scan_worker_loop.ts";
import { VISITORS } from "./scan_visitors.ts";

serveScans(VISITORS);

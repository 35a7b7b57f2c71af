/** A thread of the scan pool. It runs all kinds of visitors, without access to the database. */
import { serveScans } from "../scans/scan_worker_loop.ts";
import { VISITORS } from "./scan_visitors.ts";

serveScans(VISITORS);

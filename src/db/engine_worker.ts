/**
 * The thread of the embedded engine. It loads the engine's code by itself: 80 of the 300 ms that it works until the
 * server is ready.
 */

/** By way of src/, because the bundle of the program, in dist/program, has no file of it. */
const EMBEDDED_WORKER = new URL("../../src/db/embedded_worker.ts", import.meta.url);

let ahead: Worker | null = null;

function createWorker(): Worker {
  return new Worker(EMBEDDED_WORKER, { type: "module" });
}

/** Starts the thread that the next `takeEngineWorker` returns, so that it loads its code meanwhile. */
export function startEngineWorker(): void {
  if (ahead !== null) return;
  const worker = createWorker();
  worker.onerror = (event) => {
    // Else it ends the program, which may have mistakes to tell. Who takes a thread later gets a new one, with its failure.
    event.preventDefault();
    if (ahead === worker) ahead = null;
  };
  ahead = worker;
}

/** Returns a thread for one engine. */
export function takeEngineWorker(): Worker {
  const worker = ahead ?? createWorker();
  ahead = null;
  return worker;
}

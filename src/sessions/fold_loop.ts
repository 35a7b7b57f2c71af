import { DiskFull } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { FOLD_PAUSE_MS } from "../limits.ts";
import { pause } from "../pause.ts";
import type { Fold } from "./fold.ts";

/**
 * Folds what is pending, again and again, until `signal` is aborted: reads then find little left to
 * do. A failure is logged and tried again; nothing is lost by it, the marks stay.
 * @param restShare how long to rest after each fold, as a multiple of the time that it took: for an
 * engine with one session, where whoever stores events waits meanwhile
 * @returns when the last fold under way has ended
 */
export async function runFoldLoop(
  fold: Fold,
  log: Log,
  signal: AbortSignal,
  restShare: number,
): Promise<void> {
  while (!signal.aborted) {
    let events = 0;
    const startedAt = performance.now();
    try {
      events = await fold.catchUpAll();
    } catch (error) {
      // A full disk is told of once, by itself.
      if (!signal.aborted && !(error instanceof DiskFull)) {
        log.warn("fold failed", { reason: error instanceof Error ? error.message : String(error) });
      }
    }
    const tookMs = performance.now() - startedAt;
    const restMs = events === 0 ? FOLD_PAUSE_MS : tookMs * restShare;
    if (restMs > 0) await pause(restMs, signal);
  }
}

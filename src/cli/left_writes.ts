import type { Log } from "../http/log.ts";
import { PREPARE_PAUSE_MS } from "../limits.ts";
import { pause } from "../turns/pause.ts";
import type { Left, Prepared } from "../server/prepare_database.ts";

const PAUSE_MS_MAX = 30_000;

/**
 * Writes what a start could not write, with pauses that double up to PAUSE_MS_MAX, until all of it is stored,
 * `signal` aborts, or an error shows that it cannot be. Never rejects.
 * @param onRound called after each attempt
 */
export async function writeLeft(
  start: Left | null,
  log: Log,
  signal: AbortSignal,
  onRound: (prepared: Prepared) => Promise<void>,
): Promise<void> {
  let left = start;
  try {
    for (let ms = PREPARE_PAUSE_MS; left !== null; ms = Math.min(2 * ms, PAUSE_MS_MAX)) {
      await pause(ms, signal);
      if (signal.aborted) return;
      const prepared: Prepared = await left.write();
      if (prepared.left === null) {
        log.info("what the start had left is stored", { stored: left.what });
      } else {
        const { what, reason } = prepared.left;
        const level = what === left.what ? "debug" : "info";
        log[level]("not all that the start had left is stored", { left: what, reason });
      }
      ({ left } = prepared);
      await onRound(prepared);
    }
  } catch (error) {
    log.error("what the start had left cannot be stored", {
      left: left?.what,
      reason: error instanceof Error ? error.message : String(error),
    });
  }
}

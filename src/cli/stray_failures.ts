import type { Log } from "../http/log.ts";
import { problemReply } from "../http/reply.ts";
import { Problem } from "../problem.ts";

function reasonOf(failure: unknown): string {
  return failure instanceof Error ? failure.stack ?? failure.message : String(failure);
}

/**
 * Puts into the log what nobody catches: a promise that nobody waits for, a timer that throws. Deno
 * would write it on standard error in its own way and end the process; what the failure concerned
 * has failed, and everything else goes on.
 */
export function logStrayFailures(log: Log): void {
  addEventListener("unhandledrejection", (event) => {
    event.preventDefault();
    log.error("a failure that nobody waited for", { reason: reasonOf(event.reason) });
  });
  addEventListener("error", (event) => {
    event.preventDefault();
    log.error("a failure that nobody caught", { reason: reasonOf(event.error ?? event.message) });
  });
}

/** What the listener answers where the application threw; a reply that breaks off as it is sent comes here too. */
export function failedReply(error: unknown, log: Log): Response {
  const requestId = crypto.randomUUID();
  log.error("a reply failed", { requestId, reason: reasonOf(error) });
  const detail = "The server made a mistake; its log has the request id.";
  return problemReply(new Problem("internal_error", detail), requestId);
}

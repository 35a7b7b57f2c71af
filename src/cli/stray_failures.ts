import { ClientGone } from "../http/client_gone.ts";
import type { Log } from "../http/log.ts";
import { addCommonHeaders, problemReply } from "../http/reply.ts";
import { Problem } from "../problem.ts";

function reasonOf(failure: unknown): string {
  return failure instanceof Error ? failure.stack ?? failure.message : String(failure);
}

/**
 * Logs uncaught errors, such as those of promises without a handler and of timers. Deno would print them in
 * its own format and end the process; instead, only the work that failed is lost.
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

/**
 * Logs an error and returns the reply to a request whose handling threw; also called for a reply that breaks
 * off while it is sent. A client that has disconnected is not an error, and is not logged.
 */
export function failedReply(error: unknown, log: Log): Response {
  const requestId = crypto.randomUUID();
  if (!(error instanceof ClientGone)) {
    log.error("a reply failed", { requestId, reason: reasonOf(error) });
  }
  const detail = "The server made a mistake; its log has the request id.";
  const reply = problemReply(new Problem("internal_error", detail), requestId);
  addCommonHeaders(reply.headers, requestId);
  return reply;
}

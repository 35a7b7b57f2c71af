import { json } from "../../http/reply.ts";
import type { Problem } from "../../problem.ts";
import type { ClientOutcome } from "../client_event.ts";

/** The status that Plausible's tracker takes for success. */
export const ACCEPTED = 202;
const BAD_REQUEST = 400;

interface Part {
  readonly field?: string;
  readonly code: string;
  readonly message: string;
}

/** The errors by member. */
function errorsOf(parts: readonly Part[]): Record<string, string[]> {
  return Object.fromEntries(parts.map(({ field, code, message }) => [field || code, [message]]));
}

/** Plausible's reply, of which its tracker reads only the status: the one event is stored, or refused. */
export function taken({ rejected }: ClientOutcome): Response {
  if (rejected.length > 0) return json({ errors: errorsOf(rejected) }, BAD_REQUEST);
  return new Response("ok", {
    status: ACCEPTED,
    headers: { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" },
  });
}

/** A refusal in Plausible's shape: `errors` by the member that is wrong. */
export function refused({ code, status, detail, options }: Problem): Response {
  const errors = errorsOf(options.errors ?? [{ code, message: detail }]);
  return json({ errors }, status, options.headers);
}

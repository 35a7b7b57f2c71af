import { isMembers } from "../json_text.ts";
import { refused, uploaded } from "./amplitude/answer.ts";
import { readUpload } from "./amplitude/decode.ts";
import type { ClientRoute } from "./client_event.ts";
import { captured } from "./posthog/answer.ts";
import { readCapture, refuseLz64 } from "./posthog/decode.ts";

/** Amplitude's uploads have a list of `events`; no body of PostHog's clients has. */
function isUpload(value: unknown): boolean {
  return isMembers(value) && Array.isArray(value.events);
}

/**
 * `/batch` is a path of PostHog and of Amplitude: the body says which. Refusals before it is read have
 * Amplitude's shape, as PostHog's clients look only at the status.
 */
export const BATCH_ROUTES: readonly ClientRoute[] = ["/batch", "/batch/"].map((
  path,
): ClientRoute => ({
  kind: "events",
  method: "POST",
  path,
  protocol: "posthog",
  keyOf: (request) => {
    refuseLz64(request);
    return null;
  },
  isPlain: (value) => !isUpload(value),
  read: (value, request) =>
    isUpload(value) ? readUpload(value, request) : readCapture(value, request),
  answer: (outcome) => outcome.protocol === "amplitude" ? uploaded(outcome) : captured(outcome),
  refuse: refused,
  summary: "Events of PostHog's and of Amplitude's clients",
}));

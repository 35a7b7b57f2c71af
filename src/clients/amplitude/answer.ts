import { json } from "../../http/reply.ts";
import type { Problem } from "../../problem.ts";
import { assertAnyStored } from "../any_stored.ts";
import type { ClientOutcome } from "../client_event.ts";

/** Amplitude's member for each of our event's members that may be refused. */
const THEIR_FIELDS: Readonly<Record<string, string>> = {
  name: "event_type",
  timestamp: "time",
  userId: "user_id",
  anonymousId: "device_id",
  sessionId: "session_id",
  properties: "event_properties",
  "context.ip": "ip",
  "context.locale": "language",
  "context.userAgent": "user_agent",
};
const WHOLE_EVENT = "event";

function theirField(field: string): string {
  if (field === "") return WHOLE_EVENT;
  return THEIR_FIELDS[field] ?? THEIR_FIELDS[field.split(".")[0]!] ?? field;
}

/** The refused fields, with the indices of their events: `{ "time": [0, 3] }`. */
function invalidFields(
  rejected: readonly { readonly field?: string; readonly index?: number }[],
): Record<string, number[]> {
  const fields: Record<string, number[]> = Object.create(null);
  for (const rejection of rejected) {
    if (rejection.index === undefined) continue;
    (fields[theirField(rejection.field ?? "")] ??= []).push(rejection.index);
  }
  return fields;
}

/**
 * 200 for what was stored, with the refused events listed in Amplitude's shape. Amplitude's own answer, 400
 * for the whole batch, would make its clients send the others again.
 */
export function uploaded(outcome: ClientOutcome): Response {
  assertAnyStored(outcome);
  const { accepted, rejected, bytes, receivedAtMs } = outcome;
  return json({
    code: 200,
    events_ingested: accepted,
    payload_size_bytes: bytes,
    server_upload_time: receivedAtMs,
    ...(rejected.length === 0 ? {} : { events_with_invalid_fields: invalidFields(rejected) }),
  });
}

const UNAUTHORIZED = 401;
const FORBIDDEN = 403;
/** Amplitude's clients stop trying at an `error` that begins so. */
const BAD_KEY = "Invalid API key: ";

/** A refusal in Amplitude's shape: its clients read `code`, a number, and not the reply's status. */
export function refused({ code, status, detail, options }: Problem): Response {
  const errors = options.errors ?? [];
  const isKey = status === UNAUTHORIZED || status === FORBIDDEN;
  return json(
    {
      code: status,
      error: isKey ? BAD_KEY + detail : detail,
      ...(code === "missing_api_key" ? { missing_field: "api_key" } : {}),
      ...(errors.length === 0 ? {} : { events_with_invalid_fields: invalidFields(errors) }),
    },
    status,
    options.headers,
  );
}

/** The settings that the browser's client asks for as it starts: none are overridden. */
export function remoteConfig(): Response {
  return json({ configs: {} });
}

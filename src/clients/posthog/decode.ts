import { queryValue } from "../../http/query_value.ts";
import { parseTimestamp } from "../../ingest/timestamp.ts";
import { Problem } from "../../problem.ts";
import type { ClientBatch, ClientRequest } from "../client_event.ts";
import { membersOf } from "../fields.ts";
import { isMembers, type Members } from "../../json_text.ts";
import { mapEvent } from "./map.ts";

/** Where PostHog's clients of all ages put the project's key, in the order in which it is looked for. */
const KEY_MEMBERS = ["api_key", "token", "$token"] as const;

function keyIn(members: Members): string | null {
  for (const name of KEY_MEMBERS) {
    const value = members[name];
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}

/** The key beside an event's name. Null: none. */
const keyBeside = (event: unknown): string | null => keyIn(membersOf(event));

/** The key that one event carries: beside its name, or among its properties. Null: none. */
const keyOfEvent = (event: unknown): string | null =>
  keyBeside(event) ?? keyIn(membersOf(membersOf(event).properties));

/** The first key that an event of the request carries. */
function firstKey(events: readonly unknown[]): string | null {
  for (const event of events) {
    const key = keyOfEvent(event);
    if (key !== null) return key;
  }
  return null;
}

const EPOCH_MS = /^\d{13}$/;

/**
 * posthog-js writes the time of sending, by its clock, into addresses: `sent_at=1790000000000`, before
 * 1.350 `_=`. Anything else is there to keep caches away.
 */
function sentAtOfQuery(url: URL): number | string | null {
  const sentAt = queryValue(url, "sent_at");
  const written = sentAt ?? queryValue(url, "_");
  return written !== null && EPOCH_MS.test(written) ? Number(written) : sentAt;
}

/** The events of a body: a list, `batch`, `data` with one of these, or one event alone. */
function eventsOf(value: unknown): readonly unknown[] | null {
  if (Array.isArray(value)) return value;
  if (!isMembers(value)) return null;
  if (Array.isArray(value.batch)) return value.batch;
  const isEvent = typeof value.event === "string" || isMembers(value.$set) ||
    isMembers(value.$set_once);
  if (isEvent) return [value];
  if (Array.isArray(value.data)) return value.data;
  return isMembers(value.data) ? [value.data] : null;
}

/**
 * What a body of PostHog's clients holds. Throws `invalid_envelope` for what is no event, no list of
 * them, and no object with `batch`.
 */
export function readCapture(value: unknown, { url, receivedAtMs }: ClientRequest): ClientBatch {
  const events = eventsOf(value);
  if (events === null) {
    throw new Problem(
      "invalid_envelope",
      "Send one event (`event`, `properties`), a list of them, or `api_key` with `batch`.",
    );
  }
  const whole = membersOf(value);
  const named = keyIn(whole);
  const key = named ?? firstKey(events);
  // Where the body names the key, properties called so are the page's own.
  const ownKey = named === null ? keyOfEvent : keyBeside;
  // posthog-python spells it in its own way.
  const sentAt = whole.sent_at ?? whole.sentAt ?? sentAtOfQuery(url);
  const request = { sentAtMs: parseTimestamp(sentAt), receivedAtMs, key };
  return {
    key: key === null ? null : { value: key, from: "body" },
    sentAt,
    items: events.map((event) => {
      const own = ownKey(event);
      return own === null || own === key
        ? mapEvent(event, request)
        : { refused: "The events of one request carry one key: send this one apart." };
    }),
    protocol: "posthog",
  };
}

/**
 * Refuses what posthog-js before 1.9 could be told to send: nothing else ever wrote LZ-String, and
 * every version since takes gzip or base64. Throws `unsupported_encoding`.
 */
export function refuseLz64({ url }: ClientRequest): void {
  if (queryValue(url, "compression") !== "lz64") return;
  throw new Problem(
    "unsupported_encoding",
    "compression=lz64 is not taken here: send gzip-js, base64 or plain JSON (posthog-js 1.9 and later do).",
    { headers: { "Accept-Encoding": "gzip, deflate" } },
  );
}

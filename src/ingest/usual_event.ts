/**
 * Reads usual events without the schema: those with only known members of the right types, and so short that
 * no size limit needs to be measured. It takes a sixth of the schema's time (a ninth in large bodies), with the
 * same result. All other events are left to the schema.
 */
import { UUID } from "../event_id.ts";
import {
  IDENTIFIER_LENGTH_MAX,
  LOCATION_LENGTH_MAX,
  NAME_LENGTH_MAX,
  NESTING_LEVELS_MAX,
  PROPERTIES_BYTES_MAX,
  USER_AGENT_LENGTH_MAX,
} from "../limits.ts";
import { isMembers, type Members } from "../json_text.ts";
import { type EventInput, inputOf } from "./event_input.ts";
import { parseTimestamp } from "./timestamp.ts";

/** The most bytes that a UTF-16 unit takes: a control character is written `\u0001`. */
const TEXT_GROWTH_MAX = 6;
/** Two quotes, a colon and a comma. */
const MARKS_BYTES = 4;
/** The length of the longest numbers, such as `-1.2345678901234567e-308`. */
const NUMBER_BYTES_MAX = 24;

/** Whether a value is infinite: `JSON.parse` returns that for numbers above JavaScript's largest, such as `1e400`. */
export function isInfinite(value: unknown): boolean {
  return value === Infinity || value === -Infinity;
}

/**
 * Returns an upper bound of the value's bytes as compact JSON in UTF-8, without serialising it; Infinity if
 * objects and arrays nest deeper than `levels` (the value itself is the first level), or if it contains an
 * infinite number, which JSON cannot express.
 */
export function jsonBytesAtMost(value: unknown, levels: number): number {
  if (typeof value === "string") return MARKS_BYTES + TEXT_GROWTH_MAX * value.length;
  if (typeof value !== "object" || value === null) {
    return isInfinite(value) ? Infinity : MARKS_BYTES + NUMBER_BYTES_MAX;
  }
  if (levels === 0) return Infinity;
  let bytes = MARKS_BYTES;
  if (Array.isArray(value)) {
    for (const item of value) bytes += jsonBytesAtMost(item, levels - 1);
    return bytes;
  }
  for (const key in value) {
    bytes += MARKS_BYTES + TEXT_GROWTH_MAX * key.length +
      jsonBytesAtMost((value as Members)[key], levels - 1);
  }
  return bytes;
}

/** The maximum length of each text of a context. */
const CONTEXT_TEXTS: ReadonlyMap<string, number> = new Map([
  ["locale", IDENTIFIER_LENGTH_MAX],
  ["timezone", IDENTIFIER_LENGTH_MAX],
  ["ip", IDENTIFIER_LENGTH_MAX],
  ["userAgent", USER_AGENT_LENGTH_MAX],
]);

/** Whether the schema would accept the context as it is. */
function isUsualContext(context: Members): boolean {
  for (const key in context) {
    const value = context[key];
    if (key === "viewport" || key === "screen") {
      if (value !== null && !isMembers(value)) return false;
      continue;
    }
    const lengthMax = CONTEXT_TEXTS.get(key);
    if (lengthMax === undefined) return false;
    if (value !== null && (typeof value !== "string" || value.length > lengthMax)) return false;
  }
  return true;
}

/** The maximum length of each text of an event; ids and times are parsed instead. */
const TEXTS: ReadonlyMap<string, number> = new Map([
  ["eventId", Infinity],
  ["timestamp", Infinity],
  ["name", NAME_LENGTH_MAX],
  ["anonymousId", IDENTIFIER_LENGTH_MAX],
  ["userId", IDENTIFIER_LENGTH_MAX],
  ["sessionId", IDENTIFIER_LENGTH_MAX],
  ["url", LOCATION_LENGTH_MAX],
  ["path", LOCATION_LENGTH_MAX],
  ["referrer", LOCATION_LENGTH_MAX],
  ["title", LOCATION_LENGTH_MAX],
]);

/** Whether the schema would accept a member that is not null; the content of ids and times is not checked. */
function isUsualMember(key: string, value: unknown): boolean {
  if (typeof value === "string") {
    return value.length <= (TEXTS.get(key) ?? -1) && value !== "." && value !== "..";
  }
  if (key === "context") return isMembers(value) && isUsualContext(value);
  return key === "properties" ? isMembers(value) : key === "timestamp";
}

/** Reads the event; null: it is not a usual one. Its texts must be storable. */
export function readUsualEvent(event: Members): EventInput | null {
  let bytes = 0;
  for (const key in event) {
    const value = event[key];
    if (value !== null && !isUsualMember(key, value)) return null;
    bytes += MARKS_BYTES + TEXT_GROWTH_MAX * key.length +
      jsonBytesAtMost(value, NESTING_LEVELS_MAX);
  }
  // A whole event may be larger than its properties; the schema reads such events.
  return bytes <= PROPERTIES_BYTES_MAX ? usualInput(event) : null;
}

function usualInput(event: Members): EventInput | null {
  const { eventId } = event;
  if (typeof eventId !== "string" || !UUID.test(eventId)) return null;
  const sentAt = event.timestamp ?? null;
  const timestampMs = sentAt === null ? null : parseTimestamp(sentAt);
  if (timestampMs === null && sentAt !== null) return null;
  return inputOf(event as Members & { eventId: string }, timestampMs, null);
}

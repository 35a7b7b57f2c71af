import { z } from "zod";
import { UUID } from "../event_id.ts";
import { isDeeper, isMembers, type Members } from "../json_text.ts";
import {
  EVENT_BYTES_MAX,
  IDENTIFIER_LENGTH_MAX,
  LOCATION_LENGTH_MAX,
  NAME_LENGTH_MAX,
  NESTING_LEVELS_MAX,
  PROPERTIES_BYTES_MAX,
  USER_AGENT_LENGTH_MAX,
} from "../limits.ts";
import { WITH_ADVICE } from "../schema_mistakes.ts";
import { isStorable } from "../text_schemas.ts";
import { type EventInput, inputOf } from "./event_input.ts";
import { EVENT_LEVELS_MAX } from "./ingest_limits.ts";
import { parseTimestamp } from "./timestamp.ts";
import { isInfinite, jsonBytesAtMost, readUsualEvent } from "./usual_event.ts";

/** A text of at most `lengthMax` UTF-16 units, which are checked here, as `max` counts code points. */
const text = (lengthMax: number, description: string) =>
  z.string().max(lengthMax).check((given) => {
    if (given.value.length <= lengthMax) return;
    const { value: input } = given;
    given.issues.push({ code: "too_big", origin: "string", maximum: lengthMax, input });
  }).nullish().meta({ description });

/** An id of a person. Addresses have it as a segment of their path, which cannot be `.` or `..`. */
const identifier = (description: string) =>
  text(IDENTIFIER_LENGTH_MAX, description)
    .refine(
      (id) => id !== "." && id !== "..",
      "Use an id other than . and .., which no address can hold.",
    )
    .meta({ description });

const members = (description: string) =>
  z.custom<Members>(isMembers, "Use an object.")
    .meta({ type: "object", additionalProperties: true }).nullish().meta({ description });

const context = z.object({
  viewport: members("`{ width, height }` of the window in CSS pixels"),
  screen: members("`{ width, height }` of the screen in CSS pixels"),
  locale: text(IDENTIFIER_LENGTH_MAX, "BCP 47 language, e.g. `de-DE`"),
  timezone: text(IDENTIFIER_LENGTH_MAX, "IANA name, e.g. `Europe/Berlin`"),
  ip: text(IDENTIFIER_LENGTH_MAX, "The visitor's address; believed from a secret key only"),
  userAgent: text(USER_AGENT_LENGTH_MAX, "The visitor's user agent; from a secret key only"),
});

/** One event as a client sends it. Unknown members are kept in `extra`. */
export const EventSchema = z.object({
  eventId: z.string().regex(UUID).meta({
    format: "uuid",
    description: "Made once per event and kept across retries: the de-duplication key",
  }),
  name: text(NAME_LENGTH_MAX, "Aliases: `event`, `eventName`, `type`. Absent: `event`"),
  timestamp: z.union([z.string(), z.number()]).nullish().meta({
    description: "ISO 8601 or epoch milliseconds. Absent: the receive time",
  }),
  anonymousId: identifier("The device, as the SDK knows it"),
  userId: identifier("The signed-in user"),
  sessionId: text(IDENTIFIER_LENGTH_MAX, "Kept for reference"),
  url: text(LOCATION_LENGTH_MAX, "Address of the page"),
  path: text(LOCATION_LENGTH_MAX, "Path of the page. Absent: taken from `url`"),
  referrer: text(LOCATION_LENGTH_MAX, "Address of the page before"),
  title: text(LOCATION_LENGTH_MAX, "Title of the page"),
  properties: members(
    `Free-form, at most ${PROPERTIES_BYTES_MAX} bytes as JSON, ${NESTING_LEVELS_MAX} levels deep. ` +
      "Of `click` and `scroll`: components.schemas.ClickProperties and ScrollProperties",
  ),
  context: context.nullish(),
}).meta({ id: "Event" });

const NAME_ALIASES = ["name", "event", "eventName", "type"] as const;
const KNOWN_MEMBERS: ReadonlySet<string> = new Set(Object.keys(EventSchema.shape));
const KNOWN_CONTEXT: ReadonlySet<string> = new Set(Object.keys(context.shape));

/** The codes of `rejected[]`: why one event of a batch was not stored. */
export const REJECTION_CODES = [
  "invalid_event",
  "missing_event_id",
  "invalid_event_id",
  "invalid_type",
  "too_long",
  "invalid_timestamp",
  "invalid_text",
  "invalid_address",
  "properties_too_large",
  "too_deep",
  "event_too_large",
  "too_many_events",
  "refused",
] as const;
type RejectionCode = typeof REJECTION_CODES[number];

/** Returns the schema of a reply about events. @param index of a rejection's place in the request */
export const replySchema = <const C extends readonly string[]>(codes: C, index = z.int()) =>
  z.object({
    accepted: z.int().meta({ description: "Valid events, those stored before included" }),
    duplicates: z.int().meta({ description: "Accepted events that were stored before" }),
    rejected: z.array(z.object({
      index,
      eventId: z.string().nullable(),
      code: z.enum(codes),
      field: z.string().meta({
        description: "The member that is wrong; empty: the event as a whole",
      }),
      message: z.string(),
    })),
  });

/** Reply of `POST /v1/events`. */
export const IngestReply = replySchema(REJECTION_CODES);

/** The result of storing the events of one request. */
export type Taken = Readonly<z.output<typeof IngestReply>>;
export type Rejection = Readonly<Taken["rejected"][number]>;

/** An event that cannot be stored; thrown while it is read, and collected as a Rejection by its batch. */
export class RejectedEvent extends Error {
  override readonly name = "RejectedEvent";
  constructor(readonly code: RejectionCode, message: string, readonly field = "") {
    super(message);
  }
}

/** Returns the rejection of an event that is too large as a whole. */
export function tooLarge(bytesMax = EVENT_BYTES_MAX): RejectedEvent {
  return new RejectedEvent("event_too_large", `One event holds at most ${bytesMax} bytes.`);
}

/** Returns the rejection of an event whose `field` nests deeper than `levelsMax`. */
export function tooDeep(levelsMax: number, field = ""): RejectedEvent {
  const message = `Nest objects and arrays at most ${levelsMax} levels deep.`;
  return new RejectedEvent("too_deep", message, field);
}

/** Which checks an event needs, judged by its JSON: most events need none. */
export interface Suspicion {
  /** The event could exceed a size limit. */
  readonly size: boolean;
  /** An escape in it could be a NUL or half of a surrogate pair. */
  readonly text: boolean;
}

// JSON can contain NUL and lone surrogates only as escapes.
const SUSPECT_ESCAPE = /\\u(?:0000|[dD][89a-fA-F])/;
// Re-serialising JSON lengthens only its numbers: `1e20` becomes 21 digits, 5.25 times as long.
const GROWTH_MAX = 6;

export function suspicionOf(text: string): Suspicion {
  return {
    size: text.length > PROPERTIES_BYTES_MAX / GROWTH_MAX,
    text: text.includes("\\") && SUSPECT_ESCAPE.test(text),
  };
}

const UTF8 = new TextEncoder();

/** Returns the bytes of a value as compact JSON in UTF-8. */
function jsonBytes(value: unknown): number {
  return UTF8.encode(JSON.stringify(value)).length;
}

/** Whether a value is a text that PostgreSQL cannot store. */
function isUnstorable(value: unknown): boolean {
  return typeof value === "string" && !isStorable(value);
}

/** Returns the dotted place of the first value that is bad or has a member with a bad name; null: there is none. */
function badPlace(value: unknown, place: string, isBad: (one: unknown) => boolean): string | null {
  if (typeof value !== "object" || value === null) return isBad(value) ? place : null;
  for (const [key, member] of Object.entries(value)) {
    if (isBad(key)) return place;
    const found = badPlace(member, place === "" ? key : `${place}.${key}`, isBad);
    if (found !== null) return found;
  }
  return null;
}

function rejectedAt(code: RejectionCode, message: string, place: string): RejectedEvent {
  const field = place.slice(0, NAME_LENGTH_MAX).toWellFormed().replaceAll("\u0000", "");
  return new RejectedEvent(code, message, field);
}

/** Throws RejectedEvent if a member that is kept as sent contains a number that would be stored as null. */
function checkNumbers(event: Members): void {
  for (const [key, value] of Object.entries(event)) {
    // Known members that are not objects have types of their own, which are checked by the schema.
    if (KNOWN_MEMBERS.has(key) && !isMembers(value)) continue;
    const place = badPlace(value, key, isInfinite);
    const message = "Use a number of at most 1.8e308, or a text.";
    if (place !== null) throw rejectedAt("invalid_type", message, place);
  }
}

/** Checks the size, depth, texts and numbers of a whole event. Throws RejectedEvent. */
export function checkBounds(event: Members, suspicion: Suspicion, bytesMax: number): void {
  for (const [key, value] of Object.entries(event)) {
    const levelsMax = key === "properties" ? NESTING_LEVELS_MAX : EVENT_LEVELS_MAX;
    if (isDeeper(value, levelsMax)) throw tooDeep(levelsMax, key.slice(0, NAME_LENGTH_MAX));
  }
  if (suspicion.text) {
    const place = badPlace(event, "", isUnstorable);
    const message = "Text must not contain NUL characters or lone surrogates.";
    if (place !== null) throw rejectedAt("invalid_text", message, place);
  }
  const bytes = jsonBytesAtMost(event, Infinity);
  if (bytes === Infinity) checkNumbers(event);
  // Serialising an event to measure it takes longer than reading it.
  if (!suspicion.size || bytes <= PROPERTIES_BYTES_MAX) return;
  if (jsonBytes(event) > bytesMax) throw tooLarge(bytesMax);
  if (isMembers(event.properties) && jsonBytes(event.properties) > PROPERTIES_BYTES_MAX) {
    throw new RejectedEvent(
      "properties_too_large",
      `Properties hold at most ${PROPERTIES_BYTES_MAX} bytes as JSON.`,
      "properties",
    );
  }
}

/**
 * Returns Zod's first issue as a rejection with a code of the API.
 * @param nameMember the member that the name was taken from
 */
function rejectionOf(error: z.ZodError, event: Members, nameMember = "name"): RejectedEvent {
  const issue = error.issues[0]!;
  const place = issue.path.join(".");
  const field = place === "name" ? nameMember : place;
  if (field === "eventId") {
    return event.eventId === undefined || event.eventId === null
      ? new RejectedEvent("missing_event_id", "Every event needs an eventId (a UUID).", field)
      : new RejectedEvent("invalid_event_id", "The eventId must be a UUID.", field);
  }
  if (field === "timestamp") return unreadableTimestamp();
  if (issue.code === "too_big") {
    return new RejectedEvent("too_long", `At most ${issue.maximum} characters.`, field);
  }
  const isIdentifier = field === "anonymousId" || field === "userId";
  const code = isIdentifier && issue.code === "custom" ? "invalid_text" : "invalid_type";
  return new RejectedEvent(code, issue.message, field);
}

function unreadableTimestamp(): RejectedEvent {
  return new RejectedEvent(
    "invalid_timestamp",
    "The timestamp must be ISO 8601, such as 2026-01-31T12:00:00Z, or epoch milliseconds.",
    "timestamp",
  );
}

/** Returns the members that are not in `known`, without a prototype, so that `__proto__` is an ordinary name. */
function unknownMembers(from: Members, known: ReadonlySet<string>): Members | null {
  let found: Members | null = null;
  for (const key in from) {
    if (known.has(key) || from[key] === null) continue;
    found ??= Object.create(null) as Members;
    found[key] = from[key];
  }
  return found;
}

function extraOf(event: Members, nameMember: string | undefined): Members | null {
  let extra = unknownMembers(event, KNOWN_MEMBERS);
  if (extra !== null && nameMember !== undefined) {
    delete extra[nameMember];
    if (Object.keys(extra).length === 0) extra = null;
  }
  const contextExtra = isMembers(event.context)
    ? unknownMembers(event.context, KNOWN_CONTEXT)
    : null;
  if (contextExtra !== null) {
    extra ??= Object.create(null) as Members;
    extra.context = contextExtra;
  }
  return extra;
}

/** Reads one member of `events`. Throws RejectedEvent, and nothing else, whatever the value is. */
export function readEvent(
  value: unknown,
  suspicion: Suspicion,
  bytesMax = EVENT_BYTES_MAX,
): EventInput {
  if (!isMembers(value)) throw new RejectedEvent("invalid_event", "An event must be an object.");
  return (suspicion.text ? null : readUsualEvent(value)) ??
    readBySchema(value, suspicion, bytesMax);
}

/** Does the same as `readEvent`, always by the schema. */
export function readBySchema(
  value: Members,
  suspicion: Suspicion,
  bytesMax = EVENT_BYTES_MAX,
): EventInput {
  checkBounds(value, suspicion, bytesMax);
  // Null and "" count as absent, so an empty name does not hide its alias.
  const nameMember = NAME_ALIASES.find((alias) => (value[alias] ?? "") !== "");
  const named = nameMember === undefined || nameMember === "name"
    ? value
    : { ...value, name: value[nameMember] };
  const parsed = EventSchema.safeParse(named, WITH_ADVICE);
  if (!parsed.success) throw rejectionOf(parsed.error, value, nameMember);
  const event = parsed.data;
  const sentAt = event.timestamp ?? null;
  const timestampMs = sentAt === null ? null : parseTimestamp(sentAt);
  if (sentAt !== null && timestampMs === null) throw unreadableTimestamp();
  return inputOf(event, timestampMs, extraOf(value, nameMember));
}

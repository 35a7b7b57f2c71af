import type { Members } from "../json_text.ts";

/** The `context` of an event; its unknown members are in `EventInput.extra`. */
export interface EventContext {
  readonly viewport?: Members | null | undefined;
  readonly screen?: Members | null | undefined;
  readonly locale?: string | null | undefined;
  readonly timezone?: string | null | undefined;
  readonly ip?: string | null | undefined;
  readonly userAgent?: string | null | undefined;
}

/** A valid event: empty texts are null, the id is in lower case, the name is resolved from its aliases. */
export interface EventInput {
  readonly eventId: string;
  readonly name: string;
  readonly timestampMs: number | null;
  readonly anonymousId: string | null;
  readonly userId: string | null;
  readonly sessionId: string | null;
  readonly url: string | null;
  readonly path: string | null;
  readonly referrer: string | null;
  readonly title: string | null;
  readonly properties: Members | null;
  readonly context: EventContext | null;
  readonly extra: Members | null;
}

/** The name of events without a name. */
export const UNNAMED = "event";

/** Whether the event's viewport columns come from its properties instead of its context. */
export function isPointerEvent(name: string): boolean {
  return name === "click" || name === "scroll";
}

/** Events whose names begin with this are technical: they are in no session. */
const TECHNICAL_PREFIX = "$";

/** Whether an event is in a session, unless its sender or an import says otherwise. */
export function isOfSession({ name, properties }: EventInput): boolean {
  return properties?.$session !== false && !name.startsWith(TECHNICAL_PREFIX);
}

const textOrNull = (value: unknown): string | null => (value as string | null | undefined) || null;

/** Makes an EventInput from an event whose members are valid. */
export function inputOf(
  event: Members & { readonly eventId: string },
  timestampMs: number | null,
  extra: Members | null,
): EventInput {
  return {
    eventId: event.eventId.toLowerCase(),
    name: textOrNull(event.name) ?? UNNAMED,
    timestampMs,
    anonymousId: textOrNull(event.anonymousId),
    userId: textOrNull(event.userId),
    sessionId: textOrNull(event.sessionId),
    url: textOrNull(event.url),
    path: textOrNull(event.path),
    referrer: textOrNull(event.referrer),
    title: textOrNull(event.title),
    properties: (event.properties ?? null) as Members | null,
    context: (event.context ?? null) as EventContext | null,
    extra,
  };
}

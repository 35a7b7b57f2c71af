import { type CsvCell, csvText } from "../csv.ts";
import { currentLocale } from "../number_format.ts";

interface Size {
  readonly width: number | null;
  readonly height: number | null;
}

/** What the server adds to an event's properties. */
export interface ServerProperties {
  readonly ip: string | null;
  readonly hash: string | null;
  readonly geo: {
    readonly country: string | null;
    readonly region: string | null;
    readonly city: string | null;
  } | null;
  readonly ingestedAt: string | null;
}

/** A stored event as `GET /v1/events` replies it. */
export interface StoredEvent {
  readonly eventId: string;
  readonly name: string;
  readonly timestamp: string;
  readonly clock: "client" | "corrected" | "clamped" | "received";
  readonly anonymousId: string | null;
  readonly userId: string | null;
  readonly sessionId: string | null;
  readonly url: string | null;
  readonly path: string | null;
  readonly referrer: string | null;
  readonly title: string | null;
  readonly properties: Readonly<Record<string, unknown>> & { readonly server?: ServerProperties };
  readonly context: {
    readonly viewport: Size | null;
    readonly screen: Size | null;
    readonly locale: string | null;
    readonly timezone: string | null;
  };
  readonly campaign: Readonly<Record<string, string | null>>;
  readonly browser: string | null;
  readonly os: string | null;
  readonly device: string | null;
  readonly bot: boolean | null;
  readonly inSession: boolean;
  readonly extra: Readonly<Record<string, unknown>> | null;
}

/** The properties that the event was sent with. */
export function ownProperties({ properties }: StoredEvent): Readonly<Record<string, unknown>> {
  const { server: _, ...own } = properties;
  return own;
}

/** What the server added; null where it added nothing. */
export function serverProperties({ properties }: StoredEvent): ServerProperties | null {
  return properties.server ?? null;
}

/** Width and height as people write them; null where neither is known. */
export function sizeText(size: Size | null): string | null {
  return size === null ? null : `${size.width ?? "?"} × ${size.height ?? "?"}`;
}

/** Members of nested objects by their path, such as `plan.name`; lists stay whole, as JSON. */
export function flattened(
  value: Readonly<Record<string, unknown>>,
  prefix = "",
): readonly (readonly [string, string | number | boolean | null])[] {
  return Object.entries(value).flatMap(([key, member]) => {
    const name = prefix + key;
    if (member === null || ["string", "number", "boolean"].includes(typeof member)) {
      return [[name, member as string | number | boolean | null] as const];
    }
    const isObject = !Array.isArray(member) && Object.keys(member as object).length > 0;
    return isObject
      ? flattened(member as Record<string, unknown>, `${name}.`)
      : [[name, JSON.stringify(member)] as const];
  });
}

/** The time of an event: with the date where that is not today's. */
export function timeLabel(instant: string, timezone: string | null, nowMs: number): string {
  const format = (options: Intl.DateTimeFormatOptions, at: Date) =>
    new Intl.DateTimeFormat(currentLocale(), {
      ...options,
      ...(timezone === null ? {} : { timeZone: timezone }),
    }).format(at);
  const at = new Date(instant);
  const day: Intl.DateTimeFormatOptions = { day: "numeric", month: "short", year: "numeric" };
  const time = format({ hour: "2-digit", minute: "2-digit", second: "2-digit" }, at);
  if (format(day, at) === format(day, new Date(nowMs))) return time;
  return `${format({ day: "numeric", month: "short" }, at)}, ${time}`;
}

/** The columns of an export; what is nested any further is told as JSON. */
const CSV_COLUMNS: readonly (readonly [string, (event: StoredEvent) => CsvCell])[] = [
  ["timestamp", (event) => event.timestamp],
  ["name", (event) => event.name],
  ["path", (event) => event.path],
  ["url", (event) => event.url],
  ["title", (event) => event.title],
  ["referrer", (event) => event.referrer],
  ["userId", (event) => event.userId],
  ["anonymousId", (event) => event.anonymousId],
  ["sessionId", (event) => event.sessionId],
  ["country", (event) => serverProperties(event)?.geo?.country],
  ["region", (event) => serverProperties(event)?.geo?.region],
  ["city", (event) => serverProperties(event)?.geo?.city],
  ["browser", (event) => event.browser],
  ["os", (event) => event.os],
  ["device", (event) => event.device],
  ["bot", (event) => event.bot],
  ["utmSource", (event) => event.campaign.source],
  ["utmMedium", (event) => event.campaign.medium],
  ["utmCampaign", (event) => event.campaign.campaign],
  ["utmTerm", (event) => event.campaign.term],
  ["utmContent", (event) => event.campaign.content],
  ["clickId", (event) => event.campaign.clickId],
  ["viewport", (event) => sizeText(event.context.viewport)],
  ["screen", (event) => sizeText(event.context.screen)],
  ["locale", (event) => event.context.locale],
  ["timezone", (event) => event.context.timezone],
  ["properties", (event) => JSON.stringify(ownProperties(event))],
  ["extra", (event) => event.extra === null ? null : JSON.stringify(event.extra)],
  ["ip", (event) => serverProperties(event)?.ip],
  ["hash", (event) => serverProperties(event)?.hash],
  ["ingestedAt", (event) => serverProperties(event)?.ingestedAt],
  ["clock", (event) => event.clock],
  ["inSession", (event) => event.inSession],
  ["eventId", (event) => event.eventId],
];

/** The first line of an export as CSV. */
export const CSV_HEAD = csvText(CSV_COLUMNS.map(([title]) => title), []);

/** Events as lines of CSV, under `CSV_HEAD`. */
export function csvLines(events: readonly StoredEvent[]): string {
  return csvText([], events.map((event) => CSV_COLUMNS.map(([, value]) => value(event)))).slice(2);
}

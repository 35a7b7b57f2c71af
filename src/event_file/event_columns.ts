import { type CsvCell, csvRecords, csvText } from "./csv.ts";
import { type ExportedEvent, ownProperties } from "./exported_event.ts";

/** The kind of a column's values. Times are ISO 8601 in UTC, JSON is the text of a document. */
export type ColumnKind = "text" | "number" | "boolean" | "time" | "json";

/** A column of files of events. */
export interface EventColumn {
  readonly name: string;
  readonly kind: ColumnKind;
  readonly value: (event: ExportedEvent) => CsvCell;
}

const column = (kind: ColumnKind, name: string, value: EventColumn["value"]): EventColumn => ({
  name,
  kind,
  value,
});
const text = (name: string, value: EventColumn["value"]) => column("text", name, value);
const number = (name: string, value: EventColumn["value"]) => column("number", name, value);
const geo = (event: ExportedEvent) => event.server.geo;

/** The columns of an export as a table; properties and other nested members are JSON. */
export const EVENT_COLUMNS: readonly EventColumn[] = [
  column("time", "timestamp", (event) => event.timestamp),
  text("name", (event) => event.name),
  text("path", (event) => event.path),
  text("url", (event) => event.url),
  text("title", (event) => event.title),
  text("referrer", (event) => event.referrer),
  text("userId", (event) => event.userId),
  text("anonymousId", (event) => event.anonymousId),
  text("sessionId", (event) => event.sessionId),
  text("country", (event) => geo(event)?.country),
  text("region", (event) => geo(event)?.region),
  text("city", (event) => geo(event)?.city),
  text("browser", (event) => event.browser),
  text("os", (event) => event.os),
  text("device", (event) => event.device),
  column("boolean", "bot", (event) => event.bot),
  text("utmSource", (event) => event.campaign.source),
  text("utmMedium", (event) => event.campaign.medium),
  text("utmCampaign", (event) => event.campaign.campaign),
  text("utmTerm", (event) => event.campaign.term),
  text("utmContent", (event) => event.campaign.content),
  text("clickId", (event) => event.campaign.clickId),
  number("viewportWidth", (event) => event.context.viewport?.width),
  number("viewportHeight", (event) => event.context.viewport?.height),
  number("screenWidth", (event) => event.context.screen?.width),
  number("screenHeight", (event) => event.context.screen?.height),
  text("locale", (event) => event.context.locale),
  text("timezone", (event) => event.context.timezone),
  column("json", "properties", (event) => JSON.stringify(ownProperties(event))),
  column("json", "extra", (event) => event.extra === null ? null : JSON.stringify(event.extra)),
  text("ip", (event) => event.server.ip),
  text("hash", (event) => event.server.hash),
  column("time", "ingestedAt", (event) => event.server.ingestedAt),
  text("clock", (event) => event.clock),
  column("time", "sentTimestamp", (event) => event.sentTimestamp),
  column("boolean", "inSession", (event) => event.inSession),
  text("eventId", (event) => event.eventId),
];

/** The first line of an export as CSV. */
export const CSV_HEAD = csvText(EVENT_COLUMNS.map(({ name }) => name), []);

/** Formats events as lines of CSV, under `CSV_HEAD`. */
export function csvLines(events: readonly ExportedEvent[]): string {
  return csvRecords(events.map((event) => EVENT_COLUMNS.map(({ value }) => value(event))));
}

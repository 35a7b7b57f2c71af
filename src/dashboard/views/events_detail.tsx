/// <reference lib="dom" />
import { fieldLabel, valueLabel } from "../filter_fields.ts";
import { addFilter, effectiveTimezone } from "../location_state.ts";
import { dates } from "../number_format.ts";
import { CopyButton } from "../copy_button.tsx";
import { type ExportedEvent, ownProperties } from "../../event_file/exported_event.ts";
import { flattened, readableJson, sizeText } from "./events_record.ts";

/** One line of the detail. With `field`, its value is a button that filters by it. */
interface Entry {
  readonly label: string;
  readonly value: string | number | boolean | null | undefined;
  readonly field?: string;
  /** How it is shown; absent: as the plain value. */
  readonly text?: string;
}

interface Group {
  readonly title: string;
  readonly entries: readonly Entry[];
}

const CLOCKS: Readonly<Record<ExportedEvent["clock"], string>> = {
  client: "as the sender's clock says",
  corrected: "the sender's clock, corrected by the time of sending",
  clamped: "when it was received: the sender's clock was in the future",
  received: "when it was received: the sender gave no time",
};
/** Longer values are not offered as filters. */
const FILTER_LENGTH_MAX = 200;

function exactTime(instant: string): string {
  const timezone = effectiveTimezone.value;
  return dates({
    dateStyle: "medium",
    timeStyle: "long",
    ...(timezone === null ? {} : { timeZone: timezone }),
  }).format(new Date(instant));
}

function field(name: string, value: string | null | undefined): Entry {
  return {
    label: fieldLabel(name),
    value,
    field: name,
    text: value == null ? "" : valueLabel(name, value),
  };
}

function propertyGroup(event: ExportedEvent): Group {
  const entries = flattened(ownProperties(event)).map(([key, value]) => ({
    label: key,
    value,
    // A filter tests a top-level property, not a member of one.
    ...(key in event.properties ? { field: `properties.${key}` } : {}),
  }));
  return { title: "Properties", entries };
}

function personGroup(event: ExportedEvent): Group {
  const { server } = event;
  return {
    title: "Person",
    entries: [
      field("userId", event.userId),
      field("anonymousId", event.anonymousId),
      { label: "Visitor hash", value: server.hash },
      { label: "Visit id, as sent", value: event.sessionId },
      { label: "IP address", value: server.ip },
      field("country", server.geo?.country),
      field("region", server.geo?.region),
      field("city", server.geo?.city),
    ],
  };
}

function deviceGroup({ device, browser, os, bot, context }: ExportedEvent): Group {
  return {
    title: "Device",
    entries: [
      field("device", device),
      field("browser", browser),
      field("os", os),
      { label: "Window", value: sizeText(context.viewport) },
      { label: "Screen", value: sizeText(context.screen) },
      { label: "Language", value: context.locale },
      { label: "Time zone", value: context.timezone },
      { label: "Bot", value: bot, text: bot ? "Yes" : "No" },
    ],
  };
}

function recordGroup(event: ExportedEvent): Group {
  const { timestamp, sentTimestamp, clock, inSession, eventId, name, server } = event;
  return {
    title: "Record",
    entries: [
      field("name", name),
      { label: "Time", value: timestamp, text: `${exactTime(timestamp)}, ${CLOCKS[clock]}` },
      {
        label: "Time, as sent",
        value: sentTimestamp,
        text: sentTimestamp === null ? "" : exactTime(sentTimestamp),
      },
      { label: "Received", value: server.ingestedAt, text: exactTime(server.ingestedAt) },
      { label: "Part of a visit", value: inSession, text: inSession ? "Yes" : "No" },
      { label: "Event id", value: eventId },
    ],
  };
}

function groupsOf(event: ExportedEvent): readonly Group[] {
  const page = [
    field("path", event.path),
    field("title", event.title),
    { label: "Address", value: event.url },
    { label: "Referrer", value: event.referrer },
  ];
  const campaign = Object.entries(event.campaign).map(([key, value]) => ({
    label: key === "clickId" ? "Click id" : fieldLabel(key),
    value,
  }));
  const extra = flattened(event.extra ?? {}).map(([label, value]) => ({ label, value }));
  return [
    propertyGroup(event),
    { title: "Page", entries: page },
    personGroup(event),
    deviceGroup(event),
    { title: "Campaign", entries: campaign },
    { title: "Further members", entries: extra },
    recordGroup(event),
  ];
}

function Value({ label, value, field: name, text = String(value) }: Entry) {
  const isFilter = name !== undefined && value != null &&
    String(value).length <= FILTER_LENGTH_MAX;
  if (!isFilter) return <>{text}</>;
  return (
    <button
      type="button"
      class="link-button events-value"
      title={`Show only events with ${label} ${text}`}
      onClick={() => addFilter(name, value)}
    >
      {text}
    </button>
  );
}

/** Everything stored of one event, in groups; absent members are left out. */
export function EventDetail({ event }: { event: ExportedEvent }) {
  const json = readableJson(event);
  const groups = groupsOf(event)
    .map(({ title, entries }) => ({ title, entries: entries.filter(({ value }) => value != null) }))
    .filter(({ entries }) => entries.length > 0);
  return (
    <div class="events-detail">
      <div class="events-groups">
        {groups.map(({ title, entries }) => (
          <section key={title} class="events-group">
            <h3 class="events-group-title">{title}</h3>
            <dl class="events-entries">
              {entries.map((entry) => (
                <div key={entry.label} class="events-entry">
                  <dt>{entry.label}</dt>
                  <dd>
                    <Value {...entry} />
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <details class="events-raw">
        <summary>Raw JSON</summary>
        <pre class="code" tabIndex={0}>{json}</pre>
      </details>
      <CopyButton text={json} label="Copy as JSON" />
    </div>
  );
}

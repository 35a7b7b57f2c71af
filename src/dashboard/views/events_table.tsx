/// <reference lib="dom" />
import { Fragment } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Icon } from "../icons.tsx";
import { effectiveTimezone } from "../location_state.ts";
import { NOTHING } from "../number_format.ts";
import { PersonLink } from "../person_link.tsx";
import { readablePath } from "../../readable_path.ts";
import { EventDetail } from "./events_detail.tsx";
import type { ExportedEvent } from "../../event_file/exported_event.ts";
import { timeLabel } from "./events_record.ts";
import { placeText, programText } from "./visits_replies.ts";

const COLUMNS = 6;
/** Events that the SDK sends by itself; the site's own are emphasised. */
const AUTOMATIC = ["page_view", "click", "scroll"];

/** The person, linked to everything about them. */
function Person({ event: { userId, anonymousId, server } }: { event: ExportedEvent }) {
  return (
    // Otherwise the row would open.
    <span onClick={(press) => press.stopPropagation()}>
      <PersonLink actor={userId ?? anonymousId ?? server.hash} userId={userId} />
    </span>
  );
}

interface RowProps {
  readonly event: ExportedEvent;
  readonly isOpen: boolean;
  readonly nowMs: number;
  readonly onToggle: () => void;
}

function EventRow({ event, isOpen, nowMs, onToggle }: RowProps) {
  const { eventId, name, path, timestamp, bot, server: { geo } } = event;
  const detailId = `event-${eventId}`;
  const time = timeLabel(timestamp, effectiveTimezone.value, nowMs);
  return (
    <>
      <tr class={isOpen ? "events-row events-row-open" : "events-row"} onClick={onToggle}>
        <th scope="row" class="events-time">
          <button
            type="button"
            class="events-toggle"
            aria-expanded={isOpen}
            aria-controls={detailId}
            aria-label={`${time} ${name}: ${isOpen ? "hide" : "show"} all details`}
            onClick={(press) => {
              // Otherwise the row would toggle it back.
              press.stopPropagation();
              onToggle();
            }}
          >
            <Icon name="down" size={12} /> <time dateTime={timestamp}>{time}</time>
          </button>
        </th>
        <td>
          <span class={AUTOMATIC.includes(name) ? "events-name" : "events-name events-name-own"}>
            {name}
          </span>
          {bot === true && <span class="events-bot">Bot</span>}
          {path !== null && <span class="events-under">{readablePath(path)}</span>}
        </td>
        <td class="minor" title={path ?? undefined}>{readablePath(path ?? NOTHING)}</td>
        <td class="minor">
          <Person event={event} />
        </td>
        <td class="minor">
          {placeText({ country: geo?.country ?? null, city: geo?.city ?? null })}
        </td>
        <td class="minor">{programText(event)}</td>
      </tr>
      {isOpen && (
        <tr id={detailId} class="events-detail-row">
          <td colSpan={COLUMNS}>
            <EventDetail event={event} />
          </td>
        </tr>
      )}
    </>
  );
}

interface TableProps {
  readonly events: readonly ExportedEvent[];
  /** Called with whether any detail is open. */
  readonly onOpen: (isAnyOpen: boolean) => void;
}

/** Events, newest first; each expands to everything stored of it. */
export function EventsTable({ events, onOpen }: TableProps) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const nowMs = Date.now();
  // An expanded event may have left the list since.
  const isAnyOpen = events.some(({ eventId }) => open.has(eventId));
  useEffect(() => {
    onOpen(isAnyOpen);
    return () => onOpen(false);
  }, [isAnyOpen]);
  const toggle = (eventId: string) => {
    const next = new Set(open);
    if (!next.delete(eventId)) next.add(eventId);
    setOpen(next);
  };
  return (
    <div class="table-scroll">
      <table class="events-table">
        <caption class="visually-hidden">Events, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Event</th>
            <th scope="col" class="minor">Page</th>
            <th scope="col" class="minor">Person</th>
            <th scope="col" class="minor">Place</th>
            <th scope="col" class="minor">Device</th>
          </tr>
        </thead>
        <tbody>
          {events.map((event) => (
            <Fragment key={event.eventId}>
              <EventRow
                event={event}
                nowMs={nowMs}
                isOpen={open.has(event.eventId)}
                onToggle={() => toggle(event.eventId)}
              />
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

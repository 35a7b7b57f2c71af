/// <reference lib="dom" />
import { Button } from "../button.tsx";
import { useState } from "preact/hooks";
import { ownProperties } from "../../event_file/exported_event.ts";
import { Icon } from "../icons.tsx";
import { effectiveTimezone } from "../location_state.ts";
import { duration, percent } from "../number_format.ts";
import { readablePath } from "../../readable_path.ts";
import { ViewLink } from "../view_link.tsx";
import { EventDetail } from "./events_detail.tsx";
import { clockLabel, flattened } from "./events_record.ts";
import type { Device } from "./heatmaps_replies.ts";
import { ClickPicture } from "./visits_click_picture.tsx";
import type { StoryEvent } from "./visits_replies.ts";

/** Properties shown beside an event's name; the details have all. */
const PROPERTIES_SHOWN = 4;
const VALUE_LENGTH = 60;
/** A pause that is emphasised. */
const LONG_PAUSE_SECONDS = 300;
const TABLET_PX = 768;
const DESKTOP_PX = 1024;

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

/** The heat map that a click is on, by the width of its window. */
function deviceOf(width: number | null): Device {
  if (width === null || width >= DESKTOP_PX) return "desktop";
  return width >= TABLET_PX ? "tablet" : "mobile";
}

/** What was clicked, the way to the heat map that the click is on, and where on the page it was. */
function Click({ event }: { event: StoryEvent }) {
  const own = ownProperties(event);
  const kind = own.rage === true ? "rage" : own.dead === true ? "dead" : null;
  const words = { rage: "Clicked again and again", dead: "Clicked without effect" };
  const device = deviceOf(number(own.viewportWidth));
  const [x, y] = [number(own.x), number(own.y)];
  return (
    <>
      <strong>{kind === null ? "Clicked" : words[kind]}</strong>{" "}
      {typeof own.selector === "string" && <code class="story-code">{own.selector}</code>}{" "}
      {event.path !== null && (
        <ViewLink
          class="story-link"
          to={{
            view: "heatmaps",
            params: { path: event.path, device: device === "desktop" ? null : device, kind },
          }}
        >
          on the heat map of {readablePath(event.path)}
        </ViewLink>
      )}
      {event.path !== null && x !== null && y !== null && (
        <ClickPicture path={event.path} at={event.timestamp} {...{ device, x, y }} />
      )}
    </>
  );
}

function PageView({ event: { path, title, secondsOnPage } }: { event: StoryEvent }) {
  const shown = path === null ? null : readablePath(path);
  return (
    <>
      <strong>{title ?? shown ?? "A page"}</strong>{" "}
      {title !== null && shown !== null && <span class="muted">{shown}</span>}{" "}
      <span class="muted small">{duration(secondsOnPage)} on the page</span>
    </>
  );
}

function Scroll({ event }: { event: StoryEvent }) {
  const own = ownProperties(event);
  const [depth, height] = [number(own.depthPx), number(own.documentHeight)];
  const isKnown = depth !== null && height !== null && height > 0;
  return (
    <>
      <strong>Scrolled</strong>
      {isKnown && ` to ${percent(Math.min(1, depth / height), 0)} of the page`}
    </>
  );
}

function Custom({ event }: { event: StoryEvent }) {
  const properties = flattened(ownProperties(event)).slice(0, PROPERTIES_SHOWN);
  return (
    <>
      <strong class="events-name-own">{event.name}</strong>{" "}
      {properties.map(([key, value]) => (
        <span key={key} class="small">
          <span class="muted">{key}</span> {String(value).slice(0, VALUE_LENGTH)}
        </span>
      ))}
    </>
  );
}

function What({ event }: { event: StoryEvent }) {
  switch (event.name) {
    case "page_view":
      return <PageView event={event} />;
    case "click":
      return <Click event={event} />;
    case "scroll":
      return <Scroll event={event} />;
    default:
      return <Custom event={event} />;
  }
}

interface StoryLineProps {
  readonly event: StoryEvent;
  /** The titles of the goals that the visit reached, by their slugs. */
  readonly goalTitles: ReadonlyMap<string, string>;
  /** Since the event before; null: it is the first. */
  readonly secondsSince: number | null;
}

/** One event of a story: when, after how long, what, and what was reached by it. */
export function StoryLine({ event, goalTitles, secondsSince }: StoryLineProps) {
  const [isOpen, setOpen] = useState(false);
  const { eventId, name, timestamp, goals } = event;
  const isView = name === "page_view";
  return (
    <li class={isView ? "story-line story-view" : "story-line"}>
      {secondsSince !== null && secondsSince >= 1 && (
        <span class={secondsSince >= LONG_PAUSE_SECONDS ? "story-gap story-pause" : "story-gap"}>
          {duration(secondsSince)} later
        </span>
      )}
      <div class="story-event">
        <time class="story-time" dateTime={timestamp}>
          {clockLabel(timestamp, effectiveTimezone.value)}
        </time>
        <div class="story-what">
          <What event={event} />
          {goals.map((slug) => (
            <span key={slug} class="tag story-goal">
              <Icon name="goals" size={12} /> {goalTitles.get(slug) ?? slug}
            </span>
          ))}
        </div>
        <Button
          icon={isOpen ? "up" : "down"}
          iconSize={12}
          kind="quiet"
          class="story-more"
          aria-expanded={isOpen}
          aria-controls={`story-${eventId}`}
          aria-label={`${isOpen ? "Hide" : "Show"} all details of ${name}`}
          onClick={() => setOpen(!isOpen)}
        />
      </div>
      {isOpen && (
        <div id={`story-${eventId}`}>
          <EventDetail event={event} />
        </div>
      )}
    </li>
  );
}

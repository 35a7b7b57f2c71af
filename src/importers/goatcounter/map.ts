import { browserName, deviceOfSystem, systemName } from "../agent_names.ts";
import { sizeOf, textOf, timeOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";

/** Values of `Referrer scheme`: the meaning of a referrer. */
const HTTP = "h";
const GENERATED = "g";
const CAMPAIGN = "c";

/** Names that GoatCounter uses for several addresses of one site. */
const GENERATED_SITES: Readonly<Record<string, string>> = {
  "Google": "https://www.google.com/",
  "Hacker News": "https://news.ycombinator.com/",
  "Twitter": "https://t.co/",
  "Facebook": "https://www.facebook.com/",
  "Reddit": "https://www.reddit.com/",
  "Instagram": "https://www.instagram.com/",
  "LinkedIn": "https://www.linkedin.com/",
  "YouTube": "https://www.youtube.com/",
  "GitHub": "https://github.com/",
  "Pinterest": "https://www.pinterest.com/",
  "Stack Exchange": "https://stackexchange.com/",
};

const isTrue = (value: unknown) => value === "true" || value === "1";

interface From {
  readonly referrer: string | null;
  readonly source: string | null;
  /** A referrer's name that is no address. */
  readonly named: string | null;
}

function fromOf(row: Members): From {
  const text = textOf(row.Referrer);
  const nothing: From = { referrer: null, source: null, named: null };
  if (text === null) return nothing;
  switch (textOf(row["Referrer scheme"])) {
    case CAMPAIGN:
      return { ...nothing, source: text };
    case GENERATED: {
      const site = Object.hasOwn(GENERATED_SITES, text) ? GENERATED_SITES[text] : undefined;
      return site === undefined ? { ...nothing, named: text } : { ...nothing, referrer: site };
    }
    case HTTP:
      return { ...nothing, referrer: /^https?:\/\//.test(text) ? text : `https://${text}` };
    default:
      return /^[a-z-]+:\/\//.test(text)
        ? { ...nothing, referrer: text }
        : { ...nothing, named: text };
  }
}

/** What stands for no session: `0-0`, in version 1 the nil UUID. */
const NO_SESSION = /^0+(?:-0+)+$/;

/** Without GoatCounter's sessions, visitors cannot be told apart. */
function sessionOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || NO_SESSION.test(text) ? null : text;
}

function botOf(value: unknown): boolean | null {
  const text = textOf(value);
  return text === null ? null : text !== "0";
}

/**
 * The columns that identify a hit. The others are not of the hit alone: the title is the one that the page
 * has at the time of the export, and versions of GoatCounter name browsers and systems in their own ways.
 */
const IDENTIFYING = [
  ...["Path", "Event", "Session", "Bot", "Referrer", "Referrer scheme", "Screen size", "Location"],
  "Date",
] as const;

/** Maps a record of the export of single page views. */
export function map(row: Members, { ids }: MapContext): readonly Mapped[] {
  const path = textOf(row.Path);
  const isEvent = isTrue(row.Event);
  const session = sessionOf(row.Session);
  const screen = sizeOf(row["Screen size"]);
  const os = systemName(row.System);
  const { referrer, source, named } = fromOf(row);
  const [country, region] = textOf(row.Location)?.split("-") ?? [];
  return [{
    event: {
      eventId: ids.fromRow(IDENTIFYING.map((column) => row[column] ?? null)),
      // The path of an event is its name.
      name: isEvent ? path : "page_view",
      timestamp: timeOf(row.Date),
      clock: "client",
      anonymousId: session,
      sessionId: session,
      inSession: session === null ? false : null,
      url: isEvent || path === null ? null : path.startsWith("/") ? path : `/${path}`,
      referrer,
      title: textOf(row.Title),
      properties: named === null ? {} : { referrerName: named },
      context: { screen },
      campaign: source === null ? null : { source },
      server: {
        geo: placeOf(country, region === undefined ? null : `${country}-${region}`, null),
        browser: browserName(row.Browser),
        os,
        device: deviceOfSystem(os, screen),
        bot: botOf(row.Bot),
      },
    },
  }];
}

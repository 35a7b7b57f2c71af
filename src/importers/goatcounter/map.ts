import { browserName, deviceOfSystem, systemName } from "../agent_names.ts";
import { sizeOf, textOf, timeOf } from "../fields.ts";
import type { Members } from "../json_rows.ts";
import { placeOf } from "../places.ts";
import type { MapContext, Mapped } from "../source.ts";

/** Values of `Referrer scheme`, which says what kind of text a referrer is. */
const HTTP = "h";
const GENERATED = "g";
const CAMPAIGN = "c";

/** Addresses for the names by which GoatCounter combines several addresses of a site. */
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

/** Where a visit came from: at most one of these is not null. */
interface Origin {
  readonly referrer: string | null;
  /** The source of a campaign. */
  readonly source: string | null;
  /** The name of a referrer whose address is unknown. */
  readonly named: string | null;
}

function originOf(row: Members): Origin {
  const text = textOf(row.Referrer);
  const nothing: Origin = { referrer: null, source: null, named: null };
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

/** The value of a hit without a session: `0-0`, in version 1 the nil UUID. */
const NO_SESSION = /^0+(?:-0+)+$/;

/** Returns the session; null: the site does not record sessions, so its visitors cannot be distinguished. */
function sessionOf(value: unknown): string | null {
  const text = textOf(value);
  return text === null || NO_SESSION.test(text) ? null : text;
}

function botOf(value: unknown): boolean | null {
  const text = textOf(value);
  return text === null ? null : text !== "0";
}

/**
 * The columns that identify a hit. Others differ between exports of one hit: the title is the page's present one,
 * and versions of GoatCounter name browsers and systems differently.
 */
const IDENTIFYING = [
  ...["Path", "Event", "Session", "Bot", "Referrer", "Referrer scheme", "Screen size", "Location"],
  "Date",
] as const;

/** Maps a row of the export of single page views. */
export function map(row: Members, { ids }: MapContext): readonly Mapped[] {
  const path = textOf(row.Path);
  const isEvent = isTrue(row.Event);
  const session = sessionOf(row.Session);
  const screen = sizeOf(row["Screen size"]);
  const os = systemName(row.System);
  const { referrer, source, named } = originOf(row);
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

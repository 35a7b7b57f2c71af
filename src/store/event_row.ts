import { SCREEN_PIXELS_MAX } from "../limits.ts";

/**
 * One event, as the ingest pipeline makes it and as journal blocks and segments store it. Members are named
 * like their columns. Times are ISO 8601 text in UTC.
 */
export interface EventRow {
  project_id: number;
  /** Lower-case UUID: with `project_id`, the primary key. */
  event_id: string;
  occurred_at: string;
  received_at: string;
  /** Where `occurred_at` comes from: see CLOCK_CODES. */
  clock: string;
  name: string;
  anonymous_id: string | null;
  user_id: string | null;
  session_id: string | null;
  /** 16 bytes, as PostgreSQL's hex text `\x…`. */
  visitor_hash: string;
  ip: string | null;
  /** False for private addresses and unknown peers: they have no `geo` at all. */
  located: boolean;
  country: string | null;
  region: string | null;
  city: string | null;
  host: string | null;
  path: string | null;
  /** The query and fragment of the URL, `?` and `#` included. */
  url_rest: string | null;
  /** The whole URL, only if it differs from `https://` + host + path + url_rest. */
  url: string | null;
  referrer: string | null;
  title: string | null;
  utm_source: string | null;
  utm_medium: string | null;
  utm_campaign: string | null;
  utm_term: string | null;
  utm_content: string | null;
  /** The name of the click id parameter (`gclid`, `fbclid`, …); its value stays in `url_rest`. */
  click_id_kind: string | null;
  browser: string | null;
  os: string | null;
  /** See DEVICE_CODES. */
  device: string | null;
  /** Null: there was no user agent to judge. */
  bot: boolean | null;
  /** False for events that neither open nor extend a session (secret key, `$session: false`, technical names). */
  in_session: boolean;
  /** False: the event undoes no bounce (`$interactive: false`); null: not stated. */
  interactive: boolean | null;
  viewport_width: number | null;
  viewport_height: number | null;
  screen_width: number | null;
  screen_height: number | null;
  locale: string | null;
  timezone: string | null;
  pointer_x: number | null;
  pointer_y: number | null;
  document_width: number | null;
  document_height: number | null;
  depth_px: number | null;
  selector: string | null;
  fixed: boolean | null;
  rage: boolean | null;
  dead: boolean | null;
  /** JSON text: the properties as sent, except those with a column above. */
  properties: string | null;
  /** JSON text: members of the event that Footfall does not know. */
  extra: string | null;
  /** The time that the client sent, if it differs from `occurred_at`; null in events of older versions. */
  sent_at: string | null;
}

const typed = <N extends keyof EventRow>(type: string, ...names: readonly N[]) =>
  Object.fromEntries(names.map((name) => [name, type])) as Record<N, string>;

/** The PostgreSQL type of each column in a table of wide rows. */
export const EVENT_COLUMN_TYPES: { readonly [C in keyof EventRow]: string } = {
  project_id: "int4",
  event_id: "uuid",
  ...typed("timestamptz", "occurred_at", "received_at"),
  clock: '"char"',
  ...typed("text", "name", "anonymous_id", "user_id", "session_id"),
  visitor_hash: "bytea",
  ip: "inet",
  located: "bool",
  ...typed("text", "country", "region", "city", "host", "path", "url_rest", "url"),
  ...typed("text", "referrer", "title", "utm_source", "utm_medium", "utm_campaign"),
  ...typed("text", "utm_term", "utm_content", "click_id_kind", "browser", "os"),
  device: '"char"',
  ...typed("bool", "bot", "in_session", "interactive"),
  ...typed("int4", "viewport_width", "viewport_height", "screen_width", "screen_height"),
  ...typed("text", "locale", "timezone"),
  ...typed("float8", "pointer_x", "pointer_y"),
  ...typed("int4", "document_width", "document_height", "depth_px"),
  selector: "text",
  ...typed("bool", "fixed", "rage", "dead"),
  ...typed("jsonb", "properties", "extra"),
  sent_at: "timestamptz",
};

export const EVENT_COLUMNS = Object.keys(EVENT_COLUMN_TYPES) as readonly (keyof EventRow)[];

/** Returns whole pixels, as columns hold them; null for a size that no screen has. */
export function pixels(value: unknown): number | null {
  return typeof value === "number" && value >= 0 && value <= SCREEN_PIXELS_MAX
    ? Math.round(value)
    : null;
}

/** One letter each in stored events; replies spell them out. */
export const CLOCK_CODES = { client: "c", corrected: "x", clamped: "l", received: "r" } as const;
export const DEVICE_CODES = { desktop: "d", tablet: "t", mobile: "m", other: "o" } as const;

export type Clock = keyof typeof CLOCK_CODES;
export type Device = keyof typeof DEVICE_CODES;

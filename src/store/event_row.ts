/**
 * One event, as the ingest pipeline fills it and journal blocks and segments hold it. Members have the
 * names of their columns. Times are ISO 8601 text in UTC.
 */
export interface EventRow {
  project_id: number;
  /** Lower-case UUID: with `project_id`, the primary key. */
  event_id: string;
  occurred_at: string;
  received_at: string;
  /** How `occurred_at` was found: see CLOCK_CODES. */
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
  /** The whole URL, only where it is not `https://` + host + path + url_rest. */
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
  /** Null where there was no user agent to judge. */
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
  /** JSON text: the properties as sent, without those that have a column above. */
  properties: string | null;
  /** JSON text: members of the event that Footfall does not know. */
  extra: string | null;
  /** The time that the client sent, where `occurred_at` differs from it; null in events of older versions. */
  sent_at: string | null;
}

/** The PostgreSQL type of each column in a table of wide rows. */
export const EVENT_COLUMN_TYPES: { readonly [C in keyof EventRow]: string } = {
  project_id: "int4",
  event_id: "uuid",
  occurred_at: "timestamptz",
  received_at: "timestamptz",
  clock: '"char"',
  name: "text",
  anonymous_id: "text",
  user_id: "text",
  session_id: "text",
  visitor_hash: "bytea",
  ip: "inet",
  located: "bool",
  country: "text",
  region: "text",
  city: "text",
  host: "text",
  path: "text",
  url_rest: "text",
  url: "text",
  referrer: "text",
  title: "text",
  utm_source: "text",
  utm_medium: "text",
  utm_campaign: "text",
  utm_term: "text",
  utm_content: "text",
  click_id_kind: "text",
  browser: "text",
  os: "text",
  device: '"char"',
  bot: "bool",
  in_session: "bool",
  interactive: "bool",
  viewport_width: "int4",
  viewport_height: "int4",
  screen_width: "int4",
  screen_height: "int4",
  locale: "text",
  timezone: "text",
  pointer_x: "float8",
  pointer_y: "float8",
  document_width: "int4",
  document_height: "int4",
  depth_px: "int4",
  selector: "text",
  fixed: "bool",
  rage: "bool",
  dead: "bool",
  properties: "jsonb",
  extra: "jsonb",
  sent_at: "timestamptz",
};

/** One letter each in stored events; replies spell them out. */
export const CLOCK_CODES = { client: "c", corrected: "x", clamped: "l", received: "r" } as const;
export const DEVICE_CODES = { desktop: "d", tablet: "t", mobile: "m", other: "o" } as const;

export type Clock = keyof typeof CLOCK_CODES;
export type Device = keyof typeof DEVICE_CODES;

import type { EventRow } from "../store/event_row.ts";

type CampaignColumn =
  | `utm_${"source" | "medium" | "campaign" | "term" | "content"}`
  | "click_id_kind";

/** The columns of a campaign. `click_id_kind` is one of CLICK_ID_PARAMETERS. */
export type Campaign = Readonly<Pick<EventRow, CampaignColumn>>;

/**
 * Parameters by which advertising networks mark a click, strongest first: all but the last mark paid clicks
 * only; Facebook adds `fbclid` to every outgoing link. Google's `gad_source` is left out: it names a kind
 * of placement, and comes with one of Google's own ids.
 */
export const CLICK_ID_PARAMETERS: readonly string[] = [
  "gclid",
  "gbraid",
  "wbraid",
  "dclid",
  "msclkid",
  "ttclid",
  "twclid",
  "li_fat_id",
  "rdt_cid",
  "sccid",
  "epik",
  "qclid",
  "yclid",
  "fbclid",
];

const EMPTY: Campaign = Object.freeze({
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
  click_id_kind: null,
});

const PARAMETERS = new Set([
  ...Object.keys(EMPTY).filter((name) => name.startsWith("utm_")),
  ...CLICK_ID_PARAMETERS,
]);
/** Matches addresses that may name a campaign; others, which are most, are not parsed. Names may be percent-encoded. */
const PERHAPS = new RegExp(["utm_", "%", ...CLICK_ID_PARAMETERS].join("|"), "i");
const ENCODED = /[%+]/;

/**
 * Reads the campaign that an address names. `rest` is its query and fragment as sent (`?…#…`); only the
 * query is read. Names match in any case, the first parameter of a name counts, and an empty value counts
 * as absent. Values are decoded as URLSearchParams does.
 */
export function readCampaign(rest: string | null): Campaign {
  if (rest === null || !rest.startsWith("?") || !PERHAPS.test(rest)) return EMPTY;
  const found = new Map<string, string | null>();
  const end = rest.indexOf("#");
  for (const pair of rest.slice(1, end < 0 ? undefined : end).split("&")) {
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals)).toLowerCase();
    if (!PARAMETERS.has(name) || found.has(name)) continue;
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    // PostgreSQL's text cannot hold NUL.
    found.set(name, value === "" || value.includes("\0") ? null : value);
  }
  if (found.size === 0) return EMPTY;
  return {
    utm_source: found.get("utm_source") ?? null,
    utm_medium: found.get("utm_medium") ?? null,
    utm_campaign: found.get("utm_campaign") ?? null,
    utm_term: found.get("utm_term") ?? null,
    utm_content: found.get("utm_content") ?? null,
    click_id_kind: CLICK_ID_PARAMETERS.find((name) => (found.get(name) ?? null) !== null) ?? null,
  };
}

function decode(text: string): string {
  return ENCODED.test(text) ? new URLSearchParams(`_=${text}`).get("_") ?? "" : text;
}

import type { EventRow } from "../../src/store/event_row.ts";
import { classifyTraffic, type Traffic } from "../../src/attribution/channels.ts";
import { kindOfSource } from "../../src/attribution/source_lists.ts";

/** Click ids that only an advertisement carries, and whose it is. */
const ADVERTISERS: Readonly<Record<string, string>> = { gclid: "google", msclkid: "bing" };
/** What a known referrer's medium is called. */
const MEDIA: Readonly<Record<string, string>> = { search: "organic", social: "social" };

/** Where a session came from. Source and medium are worked out here, the channel by the server's rules. */
export function trafficOf(row: EventRow, siteHost: string | null): Traffic {
  const referrerHost = hostOf(row.referrer);
  const traffic = classifyTraffic({
    utmSource: row.utm_source,
    utmMedium: row.utm_medium,
    utmCampaign: row.utm_campaign,
    utmTerm: row.utm_term,
    utmContent: row.utm_content,
    clickIdKind: row.click_id_kind,
    referrerHost,
    host: row.host,
  }, siteHost);
  return { ...traffic, ...originOf(row, foreign(referrerHost, [row.host, siteHost])) };
}

function originOf(row: EventRow, referrer: string | null): Pick<Traffic, "source" | "medium"> {
  const { utm_source, utm_medium, utm_campaign, click_id_kind } = row;
  const advertiser = ADVERTISERS[click_id_kind ?? ""];
  const ofAdvertisement = advertiser === undefined ? null : "cpc";
  if (utm_source !== null) return { source: utm_source, medium: utm_medium ?? ofAdvertisement };
  if (advertiser !== undefined) return { source: advertiser, medium: "cpc" };
  if (utm_medium !== null || utm_campaign !== null) return { source: null, medium: utm_medium };
  if (referrer !== null) {
    return { source: referrer, medium: MEDIA[kindOfSource(referrer) ?? ""] ?? "referral" };
  }
  return click_id_kind === "fbclid"
    ? { source: "facebook", medium: "social" }
    : { source: null, medium: null };
}

const withoutWww = (host: string) => host.replace(/^www\./, "");

/** Without `www.`; null where it is one of the own hosts, with or without it. */
function foreign(host: string | null, own: readonly (string | null)[]): string | null {
  if (host === null) return null;
  const bare = withoutWww(host);
  return own.some((one) => one !== null && withoutWww(one) === bare) ? null : bare;
}

/** In lower case and without a port; null for what has none. */
export function hostOf(address: string | null): string | null {
  if (address === null) return null;
  return URL.parse(address)?.hostname.toLowerCase().replace(/\.$/, "") || null;
}

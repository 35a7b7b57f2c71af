import { classifyTraffic } from "../../attribution/channels.ts";
import type { ImportedDimension } from "../../imported/imported_sums.ts";

/** Where visits came from, as another product states it; null: not stated. */
interface TrafficTold {
  /** That product's name of the source; used only without tags and referrer. */
  readonly source: string | null;
  /** A host, with or without a path and a scheme. */
  readonly referrer: string | null;
  readonly utmSource: string | null;
  readonly utmMedium: string | null;
  readonly utmCampaign: string | null;
  readonly utmTerm: string | null;
  readonly utmContent: string | null;
}

function hostOf(referrer: string | null): string | null {
  if (referrer === null) return null;
  const [host = ""] = referrer.replace(/^[a-z][a-z0-9+.-]*:\/\//i, "").split(/[/?#]/);
  return host === "" ? null : host.toLowerCase();
}

/** Returns the traffic dimensions that Footfall's own rules give such visits. */
export function trafficValues(
  told: TrafficTold,
  siteHost: string | null,
): readonly (readonly [ImportedDimension, string | null])[] {
  const { utmMedium, utmCampaign, utmTerm, utmContent } = told;
  const referrerHost = hostOf(told.referrer);
  const isUntold = told.utmSource === null && utmMedium === null && utmCampaign === null &&
    referrerHost === null;
  const traffic = classifyTraffic({
    utmSource: isUntold ? told.source : told.utmSource,
    utmMedium,
    utmCampaign,
    utmTerm,
    utmContent,
    clickIdKind: null,
    referrerHost,
    host: null,
  }, siteHost);
  return [
    ["channel", traffic.channel],
    ["source", traffic.source],
    ["medium", traffic.medium],
    ["campaign", traffic.campaign],
    ["term", traffic.term],
    ["content", traffic.content],
    ["referrer", traffic.referrer],
  ];
}

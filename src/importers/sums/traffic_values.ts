import { classifyTraffic } from "../../attribution/channels.ts";
import type { ImportedDimension } from "../../imported/imported_sums.ts";

/** Where visits came from, as another product states it; null: not stated. */
interface StatedTraffic {
  /** The product's name for the source; used only if there are neither tags nor a referrer. */
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

/** Returns the values of traffic dimensions that Footfall's own rules give such visits. */
export function trafficValues(
  { source, referrer, utmSource, utmMedium, utmCampaign, utmTerm, utmContent }: StatedTraffic,
  siteHost: string | null,
): readonly (readonly [ImportedDimension, string | null])[] {
  const referrerHost = hostOf(referrer);
  const isUntagged = utmSource === null && utmMedium === null && utmCampaign === null;
  const traffic = classifyTraffic({
    utmSource: isUntagged && referrerHost === null ? source : utmSource,
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

import { isWithin } from "../site_hosts.ts";

/** Hosts, with all their subdomains, that count visitors: a capture is not one. */
export const ANALYTICS_HOSTS: readonly string[] = [
  ...["google-analytics.com", "googletagmanager.com", "analytics.google.com", "doubleclick.net"],
  ...["googlesyndication.com", "googleadservices.com", "connect.facebook.net", "hotjar.com"],
  ...["hotjar.io", "clarity.ms", "bat.bing.com", "segment.com", "segment.io", "mixpanel.com"],
  ...["mxpnl.com", "amplitude.com", "heapanalytics.com", "heap-api.com", "fullstory.com"],
  ...["mouseflow.com", "crazyegg.com", "luckyorange.com", "luckyorange.net", "smartlook.com"],
  ...["logrocket.io", "lr-ingest.io", "plausible.io", "usefathom.com", "simpleanalytics.com"],
  ...["simpleanalyticscdn.com", "cloudflareinsights.com", "matomo.cloud", "piwik.pro"],
  ...["goatcounter.com", "umami.is", "posthog.com", "i.posthog.com", "pendo.io", "quantserve.com"],
  ...["scorecardresearch.com", "chartbeat.com", "chartbeat.net", "parsely.com", "omtrdc.net"],
  ...["demdex.net", "2o7.net", "adobedtm.com", "nr-data.net", "mc.yandex.ru", "etracker.com"],
  ...["etracker.de", "statcounter.com", "histats.com", "snap.licdn.com", "px.ads.linkedin.com"],
  ...["analytics.tiktok.com", "ct.pinterest.com", "sc-static.net", "ads-twitter.com", "criteo.com"],
  ...["criteo.net", "taboola.com", "outbrain.com", "adnxs.com", "vwo.com", "hs-analytics.net"],
];
/** Hosts of the browser's vendor, which parts of the browser contact although no page refers to them. */
export const VENDOR_HOSTS: readonly string[] = [
  ...["update.googleapis.com", "safebrowsing.googleapis.com", "clients2.google.com"],
  ...[
    "clientservices.googleapis.com",
    "optimizationguide-pa.googleapis.com",
    "redirector.gvt1.com",
  ],
  ...["content-autofill.googleapis.com", "edgedl.me.gvt1.com"],
];
/** The end of the path to which events of this product are sent, on any host. */
const INGESTION_PATH = "/v1/events";

/**
 * Returns patterns of addresses that are blocked in the browser of a capture: ingestion of this product, the
 * server's own endpoints for events, and analytics, unless the site is one of theirs.
 */
export function blockedUrlPatterns(siteHost: string, ownEndpoints: readonly string[]): string[] {
  return [
    `*${INGESTION_PATH}`,
    `*${INGESTION_PATH}?*`,
    ...ownEndpoints.flatMap((endpoint) => [endpoint, `${endpoint}?*`]),
    ...ANALYTICS_HOSTS.filter((host) => !isWithin(siteHost, host))
      .flatMap((host) => [`*://${host}/*`, `*://*.${host}/*`]),
    "file:*",
    "ftp:*",
  ];
}

/** Whether the browser of a capture must not connect to a host. */
export function isBlockedHost(siteHost: string, host: string): boolean {
  return [...ANALYTICS_HOSTS, ...VENDOR_HOSTS].some((blocked) =>
    isWithin(host, blocked) && !isWithin(siteHost, blocked)
  );
}

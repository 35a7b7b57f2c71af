import { json } from "../../http/reply.ts";
import { assertAnyStored } from "../any_stored.ts";
import type { ClientOutcome } from "../client_event.ts";

/** The `status` that PostHog's clients read, with the events that were not stored. */
export function captured(outcome: ClientOutcome): Response {
  assertAnyStored(outcome);
  const { rejected } = outcome;
  return json({ status: 1, ...(rejected.length === 0 ? {} : { rejected }) });
}

/**
 * What posthog-js asks for as it starts. Footfall has no flags, recordings, surveys or the like, so
 * that the page loads none of the scripts behind them. `surveys` is left out: for `false` too
 * posthog-js would ask this server for a script that is not here.
 */
const REMOTE_CONFIG = {
  // So that pages that wait for their flags are told that there are none.
  hasFeatureFlags: true,
  supportedCompression: ["gzip", "gzip-js"],
  analytics: { endpoint: "/i/v0/e/" },
  defaultIdentifiedOnly: true,
  elementsChainAsString: true,
  autocapture_opt_out: false,
  autocaptureExceptions: false,
  capturePerformance: false,
  captureDeadClicks: false,
  conversations: false,
  errorTracking: { autocaptureExceptions: false, suppressionRules: [] },
  heatmaps: false,
  logs: { captureConsoleLogs: false },
  productTours: false,
  sessionRecording: false,
  siteApps: [],
  isAuthenticated: false,
  toolbarParams: {},
  config: { enable_collect_everything: true },
};

/** The reply to recordings, which are dropped unread. */
export function dropped(): Response {
  return json({ status: 1 });
}

/** `GET /array/{key}/config` */
export function remoteConfig(): Response {
  return json(REMOTE_CONFIG);
}

/** A value as JavaScript that is safe inside a page's script too. */
const literal = (value: unknown) => JSON.stringify(value).replaceAll("<", "\\u003c");

/** `GET /array/{key}/config.js`: the same for posthog-js that was loaded by its snippet. */
export function remoteConfigScript(key: string): Response {
  const config = { config: REMOTE_CONFIG, siteApps: [] };
  const text =
    "(function(){var c=window._POSTHOG_REMOTE_CONFIG=window._POSTHOG_REMOTE_CONFIG||{};" +
    `c[${literal(key)}]=${literal(config)};})();\n`;
  return new Response(text, {
    headers: {
      "Content-Type": "text/javascript; charset=utf-8",
      "Cache-Control": "no-store",
      "Cross-Origin-Resource-Policy": "cross-origin",
    },
  });
}

/** `/flags/` and `/decide/`: there are no flags, and none failed to be computed. */
export function noFlags(): Response {
  return json({
    ...REMOTE_CONFIG,
    flags: {},
    featureFlags: {},
    featureFlagPayloads: {},
    errorsWhileComputingFlags: false,
    quotaLimited: [],
    requestId: crypto.randomUUID(),
  });
}

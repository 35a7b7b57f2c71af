/// <reference lib="dom" />
import { createAnalytics } from "./analytics.ts";
import type { Analytics } from "./sdk.d.ts";

/**
 * The script tag: `<script defer src="…/sdk.js" data-api-key="pk_…"></script>` leaves the client at
 * `window.footfall`. Optional: `data-endpoint`, `data-debug`, `data-autocapture="false"`, `data-vitals`.
 */
const tag = document.currentScript as HTMLScriptElement | null;
const { apiKey, endpoint, debug = "false", autocapture, vitals } = tag?.dataset ?? {};
const server = tag?.src.replace(/sdk\.js([?#].*)?$/, "");

// A page has one: two tags, of a theme and of a tag manager, say, would count each view twice.
const page = globalThis as { footfall?: Analytics };
if (!page.footfall?.track) {
  page.footfall = createAnalytics({
    apiKey,
    endpoint: endpoint ?? server,
    debug: debug !== "false",
    autocapture: autocapture !== "false",
  });
}
// A page without it is measured less, and works as well.
if (vitals !== undefined) import(server + "sdk-vitals.js").catch(() => {});

/// <reference lib="dom" />
import { createAnalytics } from "./analytics.ts";
import type { Analytics } from "./sdk.d.ts";

/**
 * The script tag: `<script defer src="…/sdk.js" data-api-key="pk_…"></script>` leaves the client at
 * `window.footfall`. Optional: `data-endpoint`, `data-debug`, `data-autocapture="false"`.
 */
const page = window as { footfall?: Analytics };
const tag = document.currentScript as HTMLScriptElement | null;
const { apiKey, endpoint, debug, autocapture } = tag?.dataset ?? {};

page.footfall ??= createAnalytics({
  apiKey,
  endpoint: endpoint ?? tag?.src.replace(/\/sdk\.js([?#].*)?$/, "") + "/",
  debug: debug !== undefined && debug !== "false",
  autocapture: autocapture !== "false",
});

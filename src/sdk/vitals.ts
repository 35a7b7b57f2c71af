/// <reference lib="dom" />
import { onCLS, onFCP, onINP, onLCP, onTTFB } from "web-vitals";
import type { Analytics } from "./sdk.d.ts";

/**
 * Web vitals, in a file of their own: `data-vitals` on the tag of sdk.js loads it, as does a script tag or
 * an `import`. Each client records a page's measurements as one technical event when the page is first
 * hidden: it may never run again.
 */
const NAME = "$web_vitals";
const LOCATION_LENGTH_MAX = 2048;
const page = globalThis as { _footfall?: Map<string, Analytics>; _footfallVitals?: boolean };

type Measured = Record<string, number | string>;

function watchVitals() {
  let measured: Measured = {};
  let isRecorded = false;
  /** The address that was loaded, which was measured, whatever the navigation within the document since. */
  let url = performance.getEntriesByType("navigation")[0]?.name ?? location.href;

  for (const watch of [onTTFB, onFCP, onLCP, onCLS, onINP]) {
    watch(({ name, value, navigationType }) => {
      // Milliseconds are whole numbers, the layout shift score has four decimals.
      const digits = name === "CLS" ? 1e4 : 1;
      measured[name.toLowerCase()] = Math.round(value * digits) / digits;
      measured.navigation = navigationType;
    }, { reportAllChanges: true });
  }

  // At the document, while capturing: before the clients' listeners, which send as the page is hidden, and after all
  // of the library's at the window, which measure a last time: one more for each interaction until the page is idle.
  document.addEventListener("visibilitychange", () => {
    const clients = page._footfall;
    if (!document.hidden || isRecorded || !measured.navigation || !clients?.size) return;
    isRecorded = true;
    for (const client of clients.values()) {
      client.track(NAME, measured, { url: url.slice(0, LOCATION_LENGTH_MAX) });
    }
    measured = {};
  }, true);

  // A page that returns from the back/forward cache is a new page view, with new measurements.
  addEventListener("pageshow", (event) => {
    if (!(event as PageTransitionEvent).persisted) return;
    isRecorded = false;
    url = location.href;
  }, true);
}

if (!page._footfallVitals) {
  page._footfallVitals = true;
  watchVitals();
}

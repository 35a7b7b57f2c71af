/// <reference lib="dom" />
import { onCLS, onFCP, onINP, onLCP, onTTFB } from "web-vitals";
import type { Analytics } from "./sdk.d.ts";

/**
 * Web vitals, in a file of their own: `data-vitals` on the tag of sdk.js loads it, a script tag or an
 * `import` does as well. What was measured of a page is one technical event of each client there is,
 * recorded as the page goes out of sight for the first time: it may never run again.
 */
const NAME = "$web_vitals";
const LOCATION_LENGTH_MAX = 2048;
const page = globalThis as { _footfall?: Map<string, Analytics>; _footfallVitals?: boolean };

type Measured = Record<string, number | string>;

function watchVitals() {
  let measured: Measured = {};
  let isRecorded = false;
  /** The page as it was loaded: that is what was slow, wherever one has navigated within it since. */
  let url = performance.getEntriesByType("navigation")[0]?.name ?? location.href;

  for (const watch of [onTTFB, onFCP, onLCP, onCLS, onINP]) {
    watch(({ name, value, navigationType }) => {
      // Milliseconds are told whole, the score of shifts to four decimals.
      const digits = name === "CLS" ? 1e4 : 1;
      measured[name.toLowerCase()] = Math.round(value * digits) / digits;
      measured.navigation = navigationType;
    }, { reportAllChanges: true });
  }

  // On its way down, so that the clients, which send as the page is hidden, find the event in their
  // queues; and behind the listeners of the library, which look a last time.
  addEventListener("visibilitychange", () => {
    const clients = page._footfall;
    if (!document.hidden || isRecorded || !measured.navigation || !clients?.size) return;
    isRecorded = true;
    for (const client of clients.values()) {
      client.track(NAME, measured, { url: url.slice(0, LOCATION_LENGTH_MAX) });
    }
    measured = {};
  }, true);

  // Back from the back/forward cache it is another page view, of which all is measured anew.
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

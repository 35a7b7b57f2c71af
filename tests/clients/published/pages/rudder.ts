/// <reference lib="dom" />
/** A page that reports by RudderStack's browser library. `load` starts it, `track` reports some events. */
import { RudderAnalytics } from "@rudderstack/analytics-js/bundled";

const mistakes: string[] = [];
const analytics = new RudderAnalytics();
// The library reports to the console alone; what it tries again is a warning.
console.error = (...said: unknown[]) => void mistakes.push(said.map(String).join(" "));

Object.assign(globalThis, {
  mistakes,
  load(writeKey: string, url: string, batching: boolean) {
    const batch = { enabled: true, maxItems: 20, flushInterval: 200 };
    analytics.load(writeKey, url, {
      configUrl: url,
      logLevel: "ERROR",
      sendAdblockPage: false,
      ...(batching ? { queueOptions: { batch } } : {}),
    });
    return new Promise<void>((resolve) => analytics.ready(resolve));
  },
  track(from: number, count: number) {
    for (let i = from; i < from + count; i++) analytics.track("Clicked", { number: i });
  },
  others() {
    analytics.page("Home", { section: "a" });
    analytics.identify("user-7", { plan: "b" });
  },
});

/// <reference lib="dom" />
/** A page that reports by Segment's browser library. `load` starts it, `track` reports some events. */
import { AnalyticsBrowser } from "@segment/analytics-next";

const mistakes: string[] = [];
let analytics: AnalyticsBrowser;

Object.assign(globalThis, {
  mistakes,
  async load(writeKey: string, cdnURL: string, batching: boolean) {
    const deliveryStrategy = batching
      ? { strategy: "batching" as const, config: { size: 20, timeout: 200 } }
      : { strategy: "standard" as const, config: { priority: "auto" as const } };
    analytics = AnalyticsBrowser.load(
      { writeKey, cdnURL },
      { integrations: { "Segment.io": { deliveryStrategy } } },
    );
    analytics.on("error", (error) => void mistakes.push(JSON.stringify(error)));
    await analytics.ready();
  },
  track(from: number, count: number) {
    for (let i = from; i < from + count; i++) void analytics.track("Clicked", { number: i });
  },
  async others() {
    await analytics.page("Home", { section: "a" });
    await analytics.identify("user-7", { plan: "b" });
  },
});

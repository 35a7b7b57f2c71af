/// <reference lib="dom" />
/** A page that reports by `posthog-js`. `load` starts it, `track` reports some events. */
import { posthog } from "posthog-js";

const mistakes: string[] = [];

Object.assign(globalThis, {
  mistakes,
  load(token: string, url: string, batching: boolean) {
    return new Promise<void>((resolve) => {
      posthog.init(token, {
        api_host: url,
        request_batching: batching,
        request_queue_config: { flush_interval_ms: 250 },
        // A page that reports a thousand events in a row, in a browser that a program drives.
        rate_limiting: { events_per_second: 1_000, events_burst_limit: 10_000 },
        opt_out_useragent_filter: true,
        on_request_error({ statusCode }) {
          if (statusCode >= 400 && statusCode < 500) mistakes.push(String(statusCode));
        },
        loaded: () => resolve(),
      });
    });
  },
  track(from: number, count: number) {
    for (let i = from; i < from + count; i++) posthog.capture("Clicked", { number: i });
  },
  async others() {
    await new Promise<void>((resolve) => void posthog.onFeatureFlags(() => resolve()));
    if (posthog.getFeatureFlag("checkout", { send_event: false })) mistakes.push("a flag");
    posthog.identify("user-7", { plan: "b" });
  },
});

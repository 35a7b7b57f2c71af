/// <reference lib="dom" />
/** A page with PostHog's snippet: `load` leaves what it leaves, and lets its published script take over. */
const mistakes: string[] = [];

interface Snippet extends Array<readonly unknown[]> {
  __SV?: number;
  _i?: readonly unknown[];
}
interface Loaded {
  capture(name: string, properties: Record<string, unknown>): void;
}
const page = globalThis as unknown as { posthog: Snippet & Loaded };

Object.assign(globalThis, {
  mistakes,
  async load(token: string, url: string) {
    const config = {
      api_host: url,
      opt_out_useragent_filter: true,
      request_queue_config: { flush_interval_ms: 250 },
      on_request_error: ({ statusCode }: { statusCode: number }) =>
        void mistakes.push(String(statusCode)),
    };
    const queued = [["capture", "Queued", { number: 0 }]];
    page.posthog = Object.assign(queued, { __SV: 1, _i: [[token, config, "posthog"]] }) as never;
    await import("posthog-js/dist/array.js");
  },
  track(from: number, count: number) {
    for (let i = from; i < from + count; i++) page.posthog.capture("Clicked", { number: i });
  },
  others() {},
});

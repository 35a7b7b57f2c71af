/// <reference lib="dom" />
/** A page that reports by `@amplitude/analytics-browser`. `load` starts it, `track` reports some events. */
import * as amplitude from "@amplitude/analytics-browser";

const mistakes: string[] = [];

type Result = Awaited<ReturnType<typeof amplitude.track>["promise"]>;

function note({ code, message }: Result): void {
  if (code !== 200) mistakes.push(`${code} ${message}`);
}

Object.assign(globalThis, {
  mistakes,
  async load(key: string, url: string, batching: boolean) {
    await amplitude.init(key, {
      serverUrl: `${url}/${batching ? "batch" : "2/httpapi"}`,
      remoteConfig: { fetchRemoteConfig: true, serverUrl: `${url}/config` },
      flushIntervalMillis: 200,
      flushQueueSize: batching ? 25 : 5,
      autocapture: {
        pageViews: true,
        sessions: true,
        attribution: false,
        elementInteractions: false,
      },
    }).promise;
  },
  track(from: number, count: number) {
    for (let i = from; i < from + count; i++) {
      void amplitude.track("Clicked", { number: i }).promise.then(note);
    }
  },
  async others() {
    amplitude.setUserId("user-7");
    note(await amplitude.identify(new amplitude.Identify().set("plan", "b")).promise);
  },
});

/// <reference lib="dom" />
/**
 * A page that reports by Plausible's tracker. `load` starts it, `track` reports some events, and tries
 * again what failed: the tracker does not.
 */
import { init, track } from "@plausible-analytics/tracker";

const mistakes: string[] = [];
console.error = console.warn = (...said: unknown[]) => void mistakes.push(said.join(" "));
/** Browsers refuse more than 64 KiB of such requests at once. */
const STREAMS = 8;
const PATIENCE = 5;
const DELIVERED = 202;

type Result = { readonly status: number } | { readonly error: unknown } | undefined;

function send(number: number): Promise<boolean> {
  return new Promise((resolve) =>
    track("Clicked", {
      props: { number: String(number) },
      interactive: number % 2 === 0,
      ...(number % 5 === 0 ? { revenue: { amount: number, currency: "EUR" } } : {}),
      callback: (result: Result) =>
        resolve(result !== undefined && "status" in result && result.status === DELIVERED),
    })
  );
}

Object.assign(globalThis, {
  mistakes,
  failures: 0,
  load(domain: string, url: string) {
    // It takes a browser that is driven for a bot, unless it is told so.
    Object.assign(globalThis, { __plausible: true });
    init({ domain, endpoint: `${url}/api/event`, captureOnLocalhost: true });
  },
  async track(from: number, count: number) {
    let next = from;
    const page = globalThis as unknown as { failures: number };
    const streams = Array.from({ length: STREAMS }, async () => {
      for (let i = next++; i < from + count; i = next++) {
        let tries = 0;
        while (tries < PATIENCE && !await send(i)) tries++;
        page.failures += tries;
        if (tries === PATIENCE) mistakes.push(`event ${i} never arrived`);
      }
    });
    await Promise.all(streams);
  },
  others() {},
});

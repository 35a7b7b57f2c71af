/// <reference lib="dom" />
import type { Entry, Queue } from "./queue.ts";
import type { AnalyticsOptions } from "./sdk.d.ts";
import type { Store } from "./store.ts";

const BATCH_EVENTS_MAX = 100;
/** Browsers refuse `keepalive` requests past 64 KiB, all of a page that are under way together. */
const KEEPALIVE_BYTES_MAX = 60_000;
/** The most bytes of a request's body besides its events. */
const ENVELOPE_BYTES = 300;

/** Where events go, and how. */
export interface Destination extends AnalyticsOptions {
  readonly apiKey: string;
  /** The whole address. */
  readonly endpoint: string;
  readonly log: (...what: unknown[]) => void;
  readonly settled: (text: string) => string;
}

/**
 * Sends a batch of the queue, if there is one.
 * @param outlives whether the request shall outlive the page, as far as browsers let it
 * @returns how many events are done with; undefined: the rest shall wait
 */
export type Send = (
  outlives: boolean,
  isLeaving?: boolean,
) => Promise<number | undefined> | undefined;

/** Sends batches, and handles the answers. */
export function openSend(
  queue: Queue,
  store: Store,
  to: Destination,
  succeeded: () => void,
  failed: (retryAfter?: string | null) => undefined,
): Send {
  const { apiKey, endpoint, log, settled, timeoutMs = 15_000 } = to;
  let keepaliveBytes = 0;
  let batchEventsMax = BATCH_EVENTS_MAX;

  function settle(batch: Entry[], { status, headers }: Response, text: string) {
    log(status, text);
    // How many events the reply accounts for: the accepted ones, and each refused one by its index.
    const told = (status === 200 && JSON.parse(text).accepted) +
      text.split('"index":').length - 1;
    if (status === 401 || status === 403) return void store.set(`stop|${apiKey}`, endpoint);
    // A Wi-Fi login page also answers 200.
    if (!((status === 200 || status === 400 || status === 413) && told >= 0)) {
      return failed(headers.get("Retry-After"));
    }
    if (batch[1] && told !== batch.length) {
      // The batch is too large, or has a text that is not JSON: others can write to the store, too.
      batchEventsMax = batch.length >> 1;
      return 0;
    }
    batchEventsMax = Math.min(batchEventsMax * 2, BATCH_EVENTS_MAX);
    // Each event was stored, or refused for good.
    succeeded();
    queue.delete(batch);
    return batch.length;
  }

  /** While the page is left, requests avoid the preflight, which may not outlive the page. */
  async function post(batch: Entry[], outlives: boolean, isLeaving?: boolean) {
    const body = `${
      JSON.stringify({ sentAt: Date.now(), apiKey: isLeaving && apiKey }).slice(0, -1)
    },"events":[${batch.map((entry) => settled(entry.text))}]}`;
    const size = new TextEncoder().encode(body).length;
    const bytes = outlives && size + keepaliveBytes <= KEEPALIVE_BYTES_MAX ? size : 0;
    keepaliveBytes += bytes;
    try {
      const response = await fetch(endpoint, {
        method: "POST",
        body,
        keepalive: bytes > 0,
        credentials: "omit",
        signal: AbortSignal.timeout?.(timeoutMs),
        // Without any it goes as text/plain, which needs no preflight.
        headers: isLeaving ? {} : { "Content-Type": "application/json", "X-API-Key": apiKey },
      });
      return settle(batch, response, await response.text());
    } catch (error) {
      log(error);
      // Also after an immediate failure the batch stays busy for now: `leave` would take it again at once.
      await failed();
    } finally {
      keepaliveBytes -= bytes;
      batch.forEach((entry) => entry.busy = false);
    }
  }

  return (outlives, isLeaving) => {
    const batch = queue.take(batchEventsMax, KEEPALIVE_BYTES_MAX - ENVELOPE_BYTES);
    return batch[0] && post(batch, outlives, isLeaving);
  };
}

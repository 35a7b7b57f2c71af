/// <reference lib="dom" />
import type { Queue } from "./queue.ts";
import { type Destination, openSend } from "./requests.ts";
import type { Store } from "./store.ts";

/** Bundled as plain numbers, which is shorter. */
const enum Limit {
  BACKOFF_MS_MIN = 1_000,
  BACKOFF_MS_MAX = 300_000,
  RETRY_AFTER_MS_MAX = 86_400_000,
  /** A longer pause was stored by a clock that was ahead. */
  PAUSE_MS_MAX = 100_000_000,
}

/** Decides when queued events are sent. */
export interface Delivery {
  /** After events were added or failed: sends them at once if they are enough, else sets the timer. */
  wake(): void;
  /** Sends all that is queued now, batch after batch; resolves when that was tried. */
  flush(): Promise<void>;
  /** Sends all at once, in requests that outlive the page: it may never run again. */
  leave(): void;
  /** The network is back. */
  retry(): void;
}

/** Node.js has no global `addEventListener`. */
type Listener = { addEventListener?: Window["addEventListener"] };

/** Seconds or a date (RFC 9110, 10.2.3). */
const lastsMs = (retryAfter: string) =>
  Math.min(
    +retryAfter * 1000 || Date.parse(retryAfter) - Date.now() || 0,
    Limit.RETRY_AFTER_MS_MAX,
  ) + Math.random() * 500;

export function openDelivery(queue: Queue, store: Store, to: Destination): Delivery {
  const { apiKey, endpoint, flushAt = 10, flushIntervalMs = 5_000, log } = to;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let flushes = Promise.resolve();
  let isFlushing = false;
  let failures = 0;
  let backoffMs = 0;
  let isForbidden = false;

  // The page's Content-Security-Policy, which lasts until the page is reloaded.
  (globalThis as Listener).addEventListener?.("securitypolicyviolation", (event) => {
    isForbidden ||= event.disposition === "enforce" && event.blockedURI === endpoint;
  });

  // The rest of a `Retry-After` that any page of the origin received. 401 and 403 are final: this key
  // is never tried again at this endpoint.
  const pauseMs = () => {
    const leftMs = +store.get(`pause|${apiKey}`)! - Date.now();
    const isOver = isForbidden || store.get(`stop|${apiKey}`) === endpoint;
    return isOver ? Infinity : leftMs > 0 && leftMs < Limit.PAUSE_MS_MAX ? leftMs : 0;
  };
  const forget = () => failures = backoffMs = 0;
  const send = openSend(queue, store, to, forget, (retryAfter) => {
    // Tries again later: after the time that the server asks for, else after a growing, random one.
    const ceilingMs = Math.min(Limit.BACKOFF_MS_MIN * 2 ** failures++, Limit.BACKOFF_MS_MAX);
    backoffMs = ceilingMs * (0.5 + Math.random() / 2);
    // The timer was set earlier, for a shorter wait.
    stopTimer();
    if (retryAfter) store.set(`pause|${apiKey}`, Date.now() + lastsMs(retryAfter));
  });
  const stopTimer = () => timer = clearTimeout(timer) as undefined;

  function wake() {
    const waiting = queue.size();
    const waitMs = Math.max(backoffMs, pauseMs());
    if (waiting && waitMs < Infinity) {
      if (!waitMs && waiting >= flushAt && !isFlushing) flush();
      else timer ??= setTimeout(flush, waitMs || flushIntervalMs);
    }
  }

  function flush() {
    stopTimer();
    // It is over. Timers may fire within the last millisecond of a pause: `wake` then waits for the rest.
    backoffMs = 0;
    isFlushing = true;
    return flushes = flushes.then(async () => {
      // What is added meanwhile waits for its own time.
      let left = queue.size();
      while (left > 0 && !pauseMs()) left -= await send(!failures) ?? Infinity;
    }).catch(log).then(() => {
      isFlushing = false;
      wake();
    });
  }

  return {
    wake,
    flush,
    leave() {
      if (pauseMs()) return;
      // A failure may have set the timer, for a longer wait than is needed now.
      for (let sent; (sent = send(true, true));) sent.then(stopTimer).then(wake);
    },
    retry() {
      forget();
      flush();
    },
  };
}

/// <reference lib="dom" />
import type { Entry, Queue } from "./queue.ts";
import type { AnalyticsOptions } from "./sdk.d.ts";
import type { Store } from "./store.ts";

const BATCH_EVENTS_MAX = 100;
/** Browsers refuse `keepalive` requests past 64 KiB, all of a page that are under way together. */
const KEEPALIVE_BYTES_MAX = 60_000;
/** What a request's body holds beside its events, at most. */
const ENVELOPE_BYTES = 300;
const BACKOFF_MS_MIN = 1_000;
const BACKOFF_MS_MAX = 300_000;
const RETRY_AFTER_MS_MAX = 86_400_000;

interface Destination extends AnalyticsOptions {
  readonly apiKey: string;
  readonly endpoint: string;
  readonly log: (...what: unknown[]) => void;
  readonly settled: (text: string) => string;
}

/** What becomes of the rest of the queue after a batch; `AGAIN`: some of the batch is back in it. */
const enum Next {
  WAIT,
  GO_ON,
  AGAIN,
}

/** Sends what the queue holds: when to, in which batches, and what an answer means for them. */
export class Delivery {
  readonly #queue: Queue;
  readonly #store: Store;
  readonly #to: Destination;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #flushes = Promise.resolve();
  #isFlushing = false;
  #failures = 0;
  #backoffUntilMs = 0;
  #keepaliveBytes = 0;
  #batchEventsMax = BATCH_EVENTS_MAX;

  constructor(queue: Queue, store: Store, to: Destination) {
    this.#queue = queue;
    this.#store = store;
    this.#to = to;
  }

  /** After events were added or failed: sends them at once if they are enough, else sets the timer. */
  wake(): void {
    const waiting = this.#queue.size();
    const blockedMs = this.#blockedMs();
    if (!waiting || blockedMs === Infinity) return;
    if (!blockedMs && waiting >= (this.#to.flushAt ?? 10) && !this.#isFlushing) {
      this.flush();
    } else {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        // It may have been set before a failure, which asks for more patience.
        if (this.#blockedMs()) this.wake();
        else this.flush();
      }, blockedMs || (this.#to.flushIntervalMs ?? 5_000));
    }
  }

  /** Sends all that is queued now, batch after batch; resolves when that was tried. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#isFlushing = true;
    return this.#flushes = this.#flushes.then(async () => {
      let batch, rest, next = Next.AGAIN;
      while (next > (rest === 0 ? Next.GO_ON : Next.WAIT) && !this.#pauseMs()) {
        batch = this.#take();
        rest = this.#queue.size();
        next = batch.length ? await this.#send(batch) : Next.WAIT;
      }
    }).catch(this.#to.log).then(() => {
      this.#isFlushing = false;
      this.wake();
    });
  }

  /** Sends all at once, in requests that outlive the page: it may never run again. */
  leave(): void {
    if (this.#pauseMs()) return;
    for (let batch; (batch = this.#take()).length;) {
      this.#send(batch, true).then(() => this.wake());
    }
  }

  /** The network is back. */
  retry(): void {
    this.#failures = this.#backoffUntilMs = 0;
    this.flush();
  }

  /**
   * What is left of a `Retry-After`, whichever page of the origin was told. 401 and 403 are for
   * good: this key is never tried again at this endpoint. So does `optOut` end what was queued.
   */
  #pauseMs(): number {
    return this.#store.get(`stop|${this.#to.apiKey}`) === this.#to.endpoint ||
        this.#store.get("optOut")
      ? Infinity
      : Math.max(+this.#store.get(`pause|${this.#to.apiKey}`)! - Date.now(), 0) || 0;
  }

  #blockedMs(): number {
    return Math.max(this.#backoffUntilMs - Date.now(), this.#pauseMs());
  }

  #take(): Entry[] {
    return this.#queue.take(this.#batchEventsMax, KEEPALIVE_BYTES_MAX - ENVELOPE_BYTES);
  }

  /** A preflight may not outlive the page, so in the background goes a request without it. */
  async #send(batch: Entry[], inBackground = false): Promise<Next> {
    const { apiKey, endpoint, log, settled } = this.#to;
    const body = new TextEncoder().encode(
      `{"sentAt":${Date.now()},${
        inBackground ? `"apiKey":${JSON.stringify(apiKey)},` : ""
      }"events":[${batch.map((entry) => settled(entry.text))}]}`,
    );
    const keepalive = body.length + this.#keepaliveBytes <= KEEPALIVE_BYTES_MAX &&
      (inBackground || !this.#failures);
    const bytes = keepalive ? body.length : 0;
    this.#keepaliveBytes += bytes;
    try {
      const response = await fetch(`${endpoint}/v1/events`, {
        method: "POST",
        body,
        keepalive,
        credentials: "omit",
        signal: AbortSignal.timeout?.(this.#to.timeoutMs ?? 15_000),
        headers: inBackground
          ? { "Content-Type": "text/plain" }
          : { "Content-Type": "application/json", "X-API-Key": apiKey },
      });
      const text = await response.text();
      log(response.status, text);
      return this.#settle(batch, response, text);
    } catch (error) {
      log(error);
      return this.#putOff();
    } finally {
      this.#keepaliveBytes -= bytes;
      batch.forEach((entry) => entry.busy = false);
    }
  }

  #settle(batch: Entry[], { status, headers }: Response, text: string): Next {
    if (status === 200) {
      // A Wi-Fi login page also answers 200.
      if (!(JSON.parse(text).accepted >= 0)) throw text;
      this.#queue.delete(batch);
      this.#batchEventsMax = Math.min(this.#batchEventsMax * 2, BATCH_EVENTS_MAX);
      this.#failures = this.#backoffUntilMs = 0;
      return Next.GO_ON;
    }
    if (status === 401 || status === 403) {
      this.#store.set(`stop|${this.#to.apiKey}`, this.#to.endpoint);
      return Next.WAIT;
    }
    if (status === 413 && batch.length > 1) {
      this.#batchEventsMax = batch.length >> 1;
      return Next.AGAIN;
    }
    if (status === 400 || status === 413) {
      // No event of it is valid, or it is one that is too large: never worth another try.
      this.#queue.delete(batch);
      return Next.GO_ON;
    }
    return this.#putOff(headers.get("Retry-After"));
  }

  /** Tries again later: after the time that the server asks for, else after a growing, random one. */
  #putOff(retryAfter?: string | null): Next {
    const ceilingMs = Math.min(BACKOFF_MS_MIN * 2 ** this.#failures++, BACKOFF_MS_MAX);
    this.#backoffUntilMs = Date.now() + ceilingMs * (0.5 + Math.random() / 2);
    if (retryAfter) {
      const untilMs = Date.now() + Math.random() * 500 + Math.min(
        // Seconds or a date (RFC 9110, 10.2.3).
        +retryAfter * 1000 || Date.parse(retryAfter) - Date.now() || 0,
        RETRY_AFTER_MS_MAX,
      );
      this.#store.set(`pause|${this.#to.apiKey}`, `${untilMs}`);
    }
    return Next.WAIT;
  }
}

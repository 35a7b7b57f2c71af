/// <reference lib="dom" />
import { type Capture, startCapture } from "./capture.ts";
import { openIdentity } from "./identity.ts";
import { eventId } from "./event_id.ts";
import { type Delivery, openDelivery } from "./delivery.ts";
import { currentPage } from "./page.ts";
import { openQueue, type Queue } from "./queue.ts";
import type { Record } from "./record.ts";
import type { Analytics, AnalyticsOptions, Autocapture } from "./sdk.d.ts";
import { openStore, type Store } from "./store.ts";

/** Bundled as plain numbers, which is shorter. */
const enum Limit {
  IDENTIFIER_LENGTH = 200,
  /** A killed page keeps its lock for about a second; other pages may die at any time later. */
  ADOPTIONS_MS = 2_000,
}

/** Options that only the scripts for pages of other products use. */
interface Options extends AnalyticsOptions {
  /** `JSON.stringify` calls it with the event, under an empty name, and with each value within it. */
  readonly told?: (name: string, value: unknown) => unknown;
  /** Keeps the identity and the queue. Default: one in localStorage. */
  readonly store?: Store;
}

interface Client extends Analytics {
  capture(wanted: AnalyticsOptions["autocapture"]): void;
}

/** Clients of this page or process, shared by all copies of the SDK, so that no visit counts twice. */
const clients = (globalThis as { _footfall?: Map<string, Client> })._footfall ??= new Map();

/** Ties the client to the page's life. Pages die without notice, so every chance is taken. */
function watchPage(
  queue: Queue,
  delivery: Delivery,
  capture: () => Capture | undefined,
  optedOut: () => unknown,
): void {
  // Only a page's single client takes over events of a refused key, and not before others may have come.
  const adopt = (isLate?: boolean) =>
    optedOut() ? queue.clear() : queue.adopt(isLate && clients.size < 2).then(delivery.wake);
  addEventListener("pagehide", () => {
    capture()?.end();
    delivery.leave();
    queue.release();
  });
  addEventListener("pageshow", (event) => {
    if (!(event as PageTransitionEvent).persisted) return;
    queue.resume();
    capture()?.begin();
    adopt();
  });
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) return;
    capture()?.end(true);
    delivery.leave();
  });
  addEventListener("online", delivery.retry);
  adopt();
  setInterval(adopt, Limit.ADOPTIONS_MS, true);
}

/**
 * Runs in a page if there is a document that works; server-side rendering may define a stub of one.
 * @param apiKey "": the client does nothing
 * @param endpoint the whole address that events go to
 */
function createClient(apiKey: string, endpoint: string, options: Options): Client {
  const inPage = apiKey && globalThis.document?.addEventListener;
  const log = (...what: unknown[]) => options.debug && console.info("[footfall]", ...what);
  const store = options.store ?? openStore(inPage);
  const identity = openIdentity(store);
  const queue = openQueue(store, apiKey);
  const delivery = openDelivery(queue, store, { ...options, ...identity, apiKey, endpoint, log });
  let capture: Capture | undefined;

  /** The page comes first: it never sees an error. */
  function attempt(work: () => void) {
    try {
      if (apiKey && !identity.optedOut()) work();
    } catch (error) {
      log(error);
    }
  }

  const record: Record = (name, properties, details, id = eventId(), isDraft) =>
    attempt(() => {
      const page = (inPage && currentPage()) as ReturnType<typeof currentPage> | undefined;
      const json = JSON.stringify({
        timestamp: Date.now(),
        ...page && identity.get(),
        ...page,
        ...details,
        eventId: id,
        name: `${name}`.slice(0, Limit.IDENTIFIER_LENGTH),
        properties,
        context: { ...page?.context, ...details?.context },
      }, options.told)
        // Databases cannot store NUL or lone surrogates, which JSON writes as escapes.
        .replace(/(\\\\)|\\u(?:0000|d[89a-f]..)/g, "$1");
      if (isDraft) return queue.draft(id, json);
      log(json);
      queue.add(id, json);
      delivery.wake();
    });

  if (inPage) watchPage(queue, delivery, () => capture, identity.optedOut);
  return {
    track: (name, properties, details) => record(name, properties, details),
    page(properties, details) {
      // Pages call it as they navigate, before or after they have scrolled.
      capture?.end(false, true);
      record("page_view", properties, details);
      capture?.begin(true, true);
    },
    identify(userId) {
      log("identify", userId);
      attempt(() => {
        // As text every object is the same, which would merge all users into one person.
        const id = typeof userId === "object" ? "" : `${userId ?? ""}`;
        // On a server one client serves many users: each event names its own.
        const isUsable = id && id !== "." && id !== ".." && id.length <= Limit.IDENTIFIER_LENGTH;
        if (isUsable && inPage) identity.identify(id);
      });
    },
    reset: identity.reset,
    flush: delivery.flush,
    optOut() {
      identity.optOut();
      queue.clear();
    },
    optIn: identity.optIn,
    capture(wanted) {
      if (wanted && inPage) capture ??= startCapture(wanted as Autocapture, record);
    },
  };
}

/** Implements the declaration of the same name in sdk.d.ts. Never throws. */
export function createAnalytics(options: Options): Analytics {
  try {
    const apiKey = options.apiKey!.trim();
    const endpoint = options.endpoint!.trim();
    if (apiKey && endpoint) {
      // Resolved, so that all spellings of an address share a client.
      const to = new Request(endpoint.replace(/\/*$/, "/v1/events")).url;
      const name = `${apiKey} ${to}`;
      const client = clients.get(name) ?? createClient(apiKey, to, options);
      clients.set(name, client);
      client.capture(options.autocapture);
      return client;
    }
  } catch {
    // The key or the endpoint is missing or not a text, or the endpoint is not an address.
  }
  return createClient("", "", Object(options));
}

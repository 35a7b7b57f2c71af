import { openClaims } from "./claims.ts";
import { eventId } from "./event_id.ts";
import type { Store } from "./store.ts";

/** Bundled as a plain number, which is shorter. */
const enum Limit {
  /** All events together, in UTF-16 units. Beyond it the oldest goes; browsers give an origin 5 M. */
  LENGTH = 2_000_000,
}

/** A queued event, as it will be sent. */
export interface Entry {
  readonly text: string;
  /** The queue it is in, in the shared store; falsy: only this page sees it. */
  readonly queue: string | false | undefined;
  /** Its name in the store. */
  readonly name: string;
  /** Identifies the last opt-out before it; null: none is known, as after a page cleared its storage. */
  readonly era: string | null;
  busy?: boolean;
}

/** The API key and the queue in the name of a stored event. */
const parse = (name: string) => /^event\|(.*)\|(.+)\|/.exec(name);

/**
 * Events waiting to be sent. Each page has a queue of its own in the shared store, one text per
 * event, so that pages never write the same text; a queue whose page is gone is taken over whole.
 * A page also keeps its events in memory, so that clearing its storage loses none.
 */
export interface Queue {
  add(id: string, text: string): void;
  /**
   * Stores an event in case this page dies; `add` with the same id replaces it.
   * @returns whether others see it
   */
  draft(id: string, text: string): boolean | undefined;
  /** How many events are not being sent yet. */
  size(): number;
  /**
   * Takes the oldest waiting events and marks them as being sent.
   * @param bytesMax of the batch in UTF-8; a larger event comes alone
   */
  take(eventsMax: number, bytesMax: number): Entry[];
  /** Removes events that were sent, or never can be. */
  delete(entries: readonly Entry[]): void;
  /** Forgets every event, those of other pages too. */
  clear(): void;
  /**
   * Takes over the queues of pages that are gone.
   * @param isHeir also those of keys that were refused
   */
  adopt(isHeir?: boolean): Promise<void>;
  /** Frees the queue for others: the page is left, perhaps for the back/forward cache. */
  release(): void;
  /** Claims the queue again: the page is back. Others may have sent its events meanwhile. */
  resume(): void;
}

function taken(waiting: Entry[], eventsMax: number, bytesMax: number): Entry[] {
  const batch: Entry[] = [];
  for (const entry of waiting) {
    bytesMax -= new TextEncoder().encode(entry.text).length + 1;
    if (batch.length === eventsMax || batch[0] && bytesMax < 0) break;
    entry.busy = true;
    batch.push(entry);
  }
  return batch;
}

export function openQueue(store: Store, apiKey: string): Queue {
  const claims = openClaims(store);
  const entries = new Map<string, Entry>();
  let own = eventId();
  let length = 0;

  const nameOf = (id: string) => `event|${apiKey}|${own}|${id}`;
  /** Whether this page may send the queue's events; its own even before the claim is granted. */
  const holds = (queue: Entry["queue"]) => !queue || queue === own || claims.has(queue);
  const draft = (id: string, text: string) => store.set(nameOf(id), text);
  function drop(entry: Entry) {
    if (entries.delete(entry.name)) length -= entry.text.length;
  }
  function remove(entry: Entry) {
    store.delete(entry.name);
    drop(entry);
  }

  /** Events not being sent. Drops those from before an opt-out, and those that others took over. */
  function waiting(): Entry[] {
    const era = store.get("era");
    const idle = [...entries.values()].filter((entry) => !entry.busy);
    return idle.filter((it) => (!era || it.era === era) && holds(it.queue) || drop(it));
  }

  function hold(name: string, text: string, queue: Entry["queue"]) {
    entries.set(name, { text, queue, name, era: store.get("era") });
    length += text.length;
    for (const oldest of entries.values()) {
      if (length <= Limit.LENGTH) break;
      if (!oldest.busy) remove(oldest);
    }
  }

  claims.claim(own);
  return {
    add: (id, text) => hold(nameOf(id), text, draft(id, text) && own),
    draft,
    size: () => waiting().length,
    take: (eventsMax, bytesMax) => taken(waiting(), eventsMax, bytesMax),
    delete: (gone) => gone.forEach(remove),
    clear() {
      entries.forEach(remove);
      store.keys().filter(parse).forEach(store.delete);
    },
    async adopt(isHeir) {
      const left = new Set<string>();
      for (const name of store.keys()) {
        const [, key, queue] = parse(name) ?? [];
        const isOurs = key === apiKey || isHeir && store.get(`stop|${key}`);
        if (isOurs && !holds(queue!)) left.add(queue!);
      }
      for (const queue of left) if (!await claims.claim(queue)) left.delete(queue);
      for (const name of store.keys()) {
        const [, , queue] = parse(name) ?? [];
        const text = left.has(queue!) && store.get(name);
        // One that is here already has been under way since before the page was cached.
        if (text && !entries.has(name)) hold(name, text, queue);
      }
    },
    release() {
      claims.release();
      own = eventId();
    },
    resume() {
      waiting();
      claims.claim(own);
    },
  };
}

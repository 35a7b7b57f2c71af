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
  /** The queue that it stands in, where others see it. */
  readonly queue: string | false | undefined;
  /** Its name in the store. */
  readonly name: string;
  /** The last opt-out before it: none is known once a page has cleared its storage. */
  readonly era: string | null;
  busy?: boolean;
}

/** The API key and the queue in the name of a stored event. */
const parse = (name: string) => /^event\|(.*)\|(.+)\|/.exec(name);

/**
 * Events waiting to be sent. Each page has a queue of its own in the shared store, one text per
 * event, so that pages never write the same text; a queue whose page is gone is taken over whole.
 * What a page holds it keeps in memory too, so a page that clears its storage loses nothing.
 */
export interface Queue {
  add(id: string, text: string): void;
  /**
   * Stores an event for the case that this page dies; `add` with the same id replaces it.
   * @returns whether others see it
   */
  draft(id: string, text: string): boolean | undefined;
  /** How many events are not on their way. */
  size(): number;
  /**
   * Takes the oldest waiting events and marks them as on their way.
   * @param bytesMax of the batch in UTF-8; a larger event comes alone
   */
  take(eventsMax: number, bytesMax: number): Entry[];
  /** These were sent, or can never be. */
  delete(entries: readonly Entry[]): void;
  /** Forgets every event, those of other pages too. */
  clear(): void;
  /**
   * Takes over what pages left behind that are gone.
   * @param isHeir of keys that were refused, too
   */
  adopt(isHeir?: boolean): Promise<void>;
  /** The page goes, perhaps into the back/forward cache: its queue is free for others. */
  release(): void;
  /** The page is back. Others may have sent its events meanwhile. */
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
  /** Nobody else sees what is in none, or knows the own queue before its claim was granted. */
  const holds = (queue: Entry["queue"]) => !queue || queue === own || claims.has(queue);
  const draft = (id: string, text: string) => store.set(nameOf(id), text);
  function drop(entry: Entry) {
    if (entries.delete(entry.name)) length -= entry.text.length;
  }
  function remove(entry: Entry) {
    store.delete(entry.name);
    drop(entry);
  }

  /** What is not on its way. What is of before an opt-out, or was taken over meanwhile, is dropped. */
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
        // What is here already is on its way, since before the page rested.
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

import { type Claims, openClaims } from "./claims.ts";
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
  /** The queue that it stands in. */
  readonly queue: string;
  /** Its name in the store. */
  readonly name: string;
  readonly stored: boolean;
  busy?: boolean;
}

/** The API key and the queue in the name of a stored event. */
const parse = (name: string) => /^event\|(.*)\|(.+)\|/.exec(name);

/**
 * Events waiting to be sent. Each page has a queue of its own in the shared store, one text per
 * event, so that pages never write the same text; a queue whose page is gone is taken over whole.
 * What a page holds it keeps in memory too, so a page that clears its storage loses nothing.
 */
export class Queue {
  readonly #store: Store;
  readonly #apiKey: string;
  readonly #claims: Claims;
  readonly #entries = new Map<string, Entry>();
  #own = eventId();
  #length = 0;

  constructor(store: Store, apiKey: string) {
    this.#store = store;
    this.#apiKey = apiKey;
    this.#claims = openClaims(store);
    this.#claims.claim(this.#own);
  }

  add(id: string, text: string): void {
    this.#hold({ text, queue: this.#own, name: this.#name(id), stored: this.draft(id, text) });
  }

  /**
   * Stores an event for the case that this page dies; `add` with the same id replaces it.
   * @returns whether others see it
   */
  draft(id: string, text: string): boolean {
    return this.#store.set(this.#name(id), text);
  }

  /** How many events are not on their way. */
  size(): number {
    return this.#waiting().length;
  }

  /**
   * Takes the oldest waiting events and marks them as on their way.
   * @param bytesMax of the batch in UTF-8; a larger event comes alone
   */
  take(eventsMax: number, bytesMax: number): Entry[] {
    const taken: Entry[] = [];
    for (const entry of this.#waiting()) {
      bytesMax -= new TextEncoder().encode(entry.text).length + 1;
      if (taken.length === eventsMax || taken.length && bytesMax < 0) break;
      entry.busy = true;
      taken.push(entry);
    }
    return taken;
  }

  /** These were sent, or can never be. */
  delete(entries: Iterable<Entry>): void {
    for (const entry of entries) {
      this.#store.remove(entry.name);
      this.#remove(entry);
    }
  }

  /** Forgets every event, those of other pages too. */
  clear(): void {
    this.delete(this.#entries.values());
    this.#store.keys().filter(parse).forEach(this.#store.remove);
  }

  /**
   * Takes over what pages left behind that are gone.
   * @param isHeir of keys that were refused, too
   */
  async adopt(isHeir?: boolean): Promise<void> {
    const left = new Set<string>();
    for (const name of this.#store.keys()) {
      const [, key, queue] = parse(name) ?? [];
      if (
        queue && !this.#holds(queue) &&
        (key === this.#apiKey || isHeir && this.#store.get(`stop|${key}`))
      ) left.add(queue);
    }
    for (const queue of left) {
      if (!await this.#claims.claim(queue)) continue;
      for (const name of this.#store.keys()) {
        const text = parse(name)?.[2] === queue && this.#store.get(name);
        // What is here already is on its way, since before the page rested.
        if (text && !this.#entries.has(name)) this.#hold({ text, queue, name, stored: true });
      }
    }
  }

  /** The page goes, perhaps into the back/forward cache: its queue is free for others. */
  release(): void {
    this.#claims.release();
    this.#own = eventId();
  }

  /** The page is back. Others may have sent its events meanwhile. */
  resume(): void {
    this.#waiting();
    this.#claims.claim(this.#own);
  }

  #name(id: string): string {
    return `event|${this.#apiKey}|${this.#own}|${id}`;
  }

  /** Nobody else knows the own queue before its claim was granted. */
  #holds(queue: string): boolean {
    return queue === this.#own || this.#claims.has(queue);
  }

  /** The events that are not on their way, but for those that others have taken over meanwhile. */
  #waiting(): Entry[] {
    for (const entry of this.#entries.values()) {
      if (entry.stored && !entry.busy && !this.#holds(entry.queue)) this.#remove(entry);
    }
    return [...this.#entries.values()].filter((entry) => !entry.busy);
  }

  #hold(entry: Entry): void {
    this.#entries.set(entry.name, entry);
    this.#length += entry.text.length;
    for (const oldest of this.#entries.values()) {
      if (this.#length <= Limit.LENGTH) break;
      if (!oldest.busy) this.delete([oldest]);
    }
  }

  #remove(entry: Entry): void {
    if (this.#entries.delete(entry.name)) this.#length -= entry.text.length;
  }
}

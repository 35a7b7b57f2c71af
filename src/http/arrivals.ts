/** How long a body may send nothing, and how long it may take in all. */
export interface ArrivalLimits {
  readonly idleMsMax: number;
  readonly totalMsMax: number;
}

/** A body that is still arriving. */
export class Arrival {
  readonly #limits: ArrivalLimits;
  readonly startedAtMs = performance.now();
  #lastByteAtMs = this.startedAtMs;
  /** Why it was given up: it took too long, or others need its room; null: it was not. */
  givenUpFor: "time" | "room" | null = null;

  constructor(limits: ArrivalLimits, readonly giveUp: () => void) {
    this.#limits = limits;
  }

  /** Notes that bytes have arrived. */
  noteBytes(): void {
    this.#lastByteAtMs = performance.now();
  }

  /** The time at which the body is given up unless more bytes arrive. */
  get dueAtMs(): number {
    const { idleMsMax, totalMsMax } = this.#limits;
    return Math.min(this.#lastByteAtMs + idleMsMax, this.startedAtMs + totalMsMax);
  }
}

/**
 * The bodies that are still arriving, with one timer for all: it fires when the first body may be due,
 * checks all, and is set again. One timer per body took 0.4 of the 30 µs of an event.
 */
export class Arrivals {
  readonly #arriving = new Set<Arrival>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #wakesAtMs = Infinity;

  /** Watches a body until `end`; calls `giveUp` if the body takes too long. */
  begin(limits: ArrivalLimits, giveUp: () => void): Arrival {
    const arrival = new Arrival(limits, giveUp);
    this.#arriving.add(arrival);
    this.#wakeBy(arrival.dueAtMs);
    return arrival;
  }

  end(arrival: Arrival): void {
    this.#arriving.delete(arrival);
  }

  /** Gives up every body that is still arriving. */
  giveUpAll(): void {
    for (const { giveUp } of this.#arriving) giveUp();
  }

  /** Gives up the body that has been arriving for longest. @returns false if none has for `msMin` */
  crowdOut(msMin: number): boolean {
    const [oldest] = this.#arriving;
    if (oldest === undefined || performance.now() - oldest.startedAtMs < msMin) return false;
    oldest.givenUpFor = "room";
    this.#arriving.delete(oldest);
    oldest.giveUp();
    return true;
  }

  #wakeBy(dueAtMs: number): void {
    if (dueAtMs >= this.#wakesAtMs) return;
    clearTimeout(this.#timer);
    this.#wakesAtMs = dueAtMs;
    this.#timer = setTimeout(() => this.#look(), Math.max(0, dueAtMs - performance.now()));
    // The connections that it waits for keep the process alive by themselves.
    Deno.unrefTimer(this.#timer);
  }

  #look(): void {
    this.#wakesAtMs = Infinity;
    const nowMs = performance.now();
    let nextAtMs = Infinity;
    for (const arrival of this.#arriving) {
      if (arrival.dueAtMs > nowMs) nextAtMs = Math.min(nextAtMs, arrival.dueAtMs);
      else {
        arrival.givenUpFor = "time";
        this.#arriving.delete(arrival);
        arrival.giveUp();
      }
    }
    this.#wakeBy(nextAtMs);
  }
}

import {
  KEYED_BODIES_IN_FLIGHT_BYTES_MAX,
  SMALL_BODIES_SHARE,
  SMALL_BODY_BYTES,
} from "../limits.ts";
import { Problem } from "../problem.ts";
import { Arrivals } from "./arrivals.ts";
import { Lane, Turns } from "./turns.ts";

/** For replies after which the rest of the body is not read: the connection cannot be used again. */
export const CLOSE = { "Connection": "close" } as const;

/** How long a body of an unknown sender may be arriving before it can be given up for another one. */
export const SLOW_BODY_MS_MIN = 1_000;

/**
 * What all bodies share: a limit on their bytes in memory, so that many large requests cannot exhaust it;
 * their turns; and a way to give up the bodies that are still arriving when the server stops.
 */
export class BodyBudget {
  #bytes = 0;
  readonly #closing = new AbortController();
  /** The bodies that are still arriving. */
  readonly arrivals = new Arrivals();
  /** Turns for the slices of long work. */
  readonly turns = new Turns();
  /** Lets one body above LARGE_BODY_BYTES through at a time, until it is answered. */
  readonly large = new Lane();
  #keyed: BodyBudget | null = null;
  readonly #beside: BodyBudget[] = [];

  constructor(
    readonly bytesMax: number,
    readonly retryAfterS: number,
    readonly whole: BodyBudget | null = null,
  ) {}

  /** The part of this budget for bodies that contain their key: a flood of them leaves room for others. */
  get keyed(): BodyBudget {
    this.#keyed ??= new BodyBudget(KEYED_BODIES_IN_FLIGHT_BYTES_MAX, this.retryAfterS, this);
    return this.#keyed;
  }

  /** Makes an independent budget, which closes with this one. */
  beside(bytesMax: number): BodyBudget {
    const budget = new BodyBudget(bytesMax, this.retryAfterS);
    this.closing.addEventListener("abort", () => budget.close(), { once: true });
    this.#beside.push(budget);
    return budget;
  }

  /** Answers every body that is still arriving with `shutting_down`. */
  close(): void {
    this.#closing.abort();
    this.arrivals.giveUpAll();
    this.#keyed?.arrivals.giveUpAll();
  }

  get closing(): AbortSignal {
    return this.whole?.closing ?? this.#closing.signal;
  }

  /**
   * Takes `bytes` more for a body, which then has `held`. Large bodies leave a share to small ones, and do not
   * crowd others out to get more. Throws `overloaded`.
   */
  take(bytes: number, held: number): void {
    const largeMax = this.bytesMax * (1 - SMALL_BODIES_SHARE);
    if (held > SMALL_BODY_BYTES && this.#bytes + bytes > largeMax) throw this.overloaded();
    while (this.#bytes + bytes > this.bytesMax) {
      if (!this.#crowdOut()) throw this.overloaded();
    }
    this.whole?.take(bytes, held);
    this.#bytes += bytes;
  }

  /**
   * Gives up the body that has been arriving for longest, if this is the budget of unknown senders: a few who
   * send slowly would keep all others out. @returns false if there is none
   */
  #crowdOut(): boolean {
    return this.whole !== null && this.arrivals.crowdOut(SLOW_BODY_MS_MIN);
  }

  overloaded(): Problem {
    return new Problem(
      "overloaded",
      "Too many bodies are being read at once. Try again shortly.",
      { headers: { ...CLOSE, "Retry-After": String(this.retryAfterS) } },
    );
  }

  give(bytes: number): void {
    this.whole?.give(bytes);
    this.#bytes -= bytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The bytes of this budget and of those beside it. */
  get bytesInAll(): number {
    return this.#beside.reduce((sum, { bytes }) => sum + bytes, this.#bytes);
  }
}

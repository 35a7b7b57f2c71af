import { PAGE_VIEW } from "../reserved_terms.ts";
import type { TimedEvent } from "../store/timed_events.ts";
import type { ActorChange, StoredActor } from "./actor_days.ts";
import type { LocalDays } from "./local_days.ts";
import type { SessionPart } from "./session_parts.ts";
import type { ValueNumbers } from "./value_numbers.ts";

/** A project's rollups: the local days they count by, and the numbers of values in them. */
export interface Rollups {
  readonly projectId: number;
  readonly days: LocalDays;
  readonly values: ValueNumbers;
}

/** The changes of one transaction, which the rollups follow. */
export interface Changes {
  readonly totals: EventTotals;
  /** Sessions that are deleted or replaced, and the sessions stored instead. */
  readonly gone: readonly SessionPart[];
  readonly came: readonly SessionPart[];
  /** The rows of all touched actors as stored before. */
  readonly stored: ReadonlyMap<number, StoredActor>;
  readonly actors: readonly ActorChange[];
  /** Actors without any stored data so far. */
  readonly newActors: ReadonlySet<number>;
}

/** Numbers of events and page views by local day, except those of bots and technical names. */
export class EventTotals {
  readonly #totals = new Map<number, [events: number, pageviews: number]>();

  constructor(readonly days: LocalDays, readonly technical: ReadonlySet<number>) {}

  add(event: TimedEvent, sign: 1 | -1): void {
    if (event.context <= 0 || this.technical.has(event.name)) return;
    const day = this.days.dayAt(event.ms);
    let total = this.#totals.get(day);
    if (total === undefined) this.#totals.set(day, total = [0, 0]);
    total[0] += sign;
    if (event.name === PAGE_VIEW) total[1] += sign;
  }

  [Symbol.iterator](): Iterator<[day: number, [events: number, pageviews: number]]> {
    return this.#totals[Symbol.iterator]();
  }
}

import { RecentCache } from "../recent_cache.ts";
import {
  BATCH_SIZES_KNOWN_MAX,
  PROJECTION_AIM_EVENTS_MIN,
  PROJECTION_MS_MAX,
} from "./projection_limits.ts";

/** A transaction takes at most this many times the events of the one before. */
const GROWTH_MAX = 2;

interface Size {
  readonly events: number;
  /** How many of the next events failed together; one of them may be the cause. */
  readonly suspects: number;
  /** How often the first event failed by itself. */
  readonly failuresAlone: number;
}

/**
 * Decides how many events of each project the next transaction takes, by the duration and result of the last
 * ones. After a failure, halves are tried until the event that causes it is found.
 */
export class BatchSizes {
  readonly #sizes = new RecentCache<number, Size>(BATCH_SIZES_KNOWN_MAX);

  /** @param first the size for a project that was not projected lately */
  constructor(readonly eventsMax: number, readonly first: number, readonly aimMs: number) {}

  sizeOf(projectId: number): number {
    return this.#sizes.get(projectId)?.events ?? this.first;
  }

  #set(projectId: number, events: number, suspects: number): void {
    this.#sizes.set(projectId, { events: Math.max(1, events), suspects, failuresAlone: 0 });
  }

  /** To be called after `events` were projected in `ms`. */
  done(projectId: number, events: number, ms: number): void {
    const size = this.sizeOf(projectId);
    const suspects = (this.#sizes.get(projectId)?.suspects ?? 0) - events;
    if (suspects > 0) this.#set(projectId, Math.min(size, Math.floor(suspects / 2)), suspects);
    else if (ms > this.aimMs && events > PROJECTION_AIM_EVENTS_MIN) {
      const aimed = Math.floor(events * this.aimMs / ms);
      this.#set(projectId, Math.max(PROJECTION_AIM_EVENTS_MIN, Math.min(size, aimed)), 0);
    } else if (events >= size && (ms < this.aimMs || this.#isBelowAim(size, ms))) {
      const growth = this.#isBelowAim(size, ms)
        ? GROWTH_MAX
        : Math.min(GROWTH_MAX, this.aimMs / ms);
      this.#set(projectId, Math.min(this.eventsMax, Math.floor(size * growth)), 0);
    }
  }

  /**
   * Whether the size left by a failure may grow although the transaction took longer than its aim: most of
   * the time for a few events is spent on reading their block, again for each transaction.
   */
  #isBelowAim(size: number, ms: number): boolean {
    return size < PROJECTION_AIM_EVENTS_MIN && 2 * GROWTH_MAX * ms < PROJECTION_MS_MAX;
  }

  /** To be called when `events` could not be projected together; the next size is half of them. */
  failed(projectId: number, events: number): void {
    this.#set(projectId, Math.floor(events / 2), events);
  }

  /** To be called when a single event could not be projected. @returns how often it has failed */
  failedAlone(projectId: number): number {
    const failuresAlone = (this.#sizes.get(projectId)?.failuresAlone ?? 0) + 1;
    this.#sizes.set(projectId, { events: 1, suspects: 0, failuresAlone });
    return failuresAlone;
  }

  /**
   * To be called when the failing event is set aside. The size grows from one event again, so that the next
   * failing event, if any, is among few.
   */
  setAside(projectId: number): void {
    this.#set(projectId, 1, 0);
  }
}

import { select } from "../../scans/medians.ts";

/** Moments between two looks at which of them are still wanted, at least. */
const CROWD_MIN = 100;

/**
 * The newest moments of those that are met: as many as are wanted, and all of the last one's millisecond.
 * What else is known of each stands beside them.
 */
export abstract class NewestMoments {
  readonly ms: number[] = [];
  #crowd: number;

  /**
   * @param edgeMs moments of this millisecond, the last that may be met, are wanted beside the `rows`
   * @param floorMs what is older is not wanted
   */
  constructor(
    readonly rows: number,
    readonly edgeMs: number,
    public floorMs = -Infinity,
  ) {
    this.#crowd = 2 * rows + CROWD_MIN;
  }

  /** A moment that is not older than `floorMs`; what else is known of it is kept already. */
  protected met(ms: number): void {
    this.ms.push(ms);
    if (this.ms.length >= this.#crowd) this.thin();
  }

  /** Lets go of what is not among the newest. */
  thin(): void {
    const { ms } = this;
    const first = ms.length - this.rows - this.#ofEdge();
    if (first > 0) {
      const ordered = Float64Array.from(ms);
      select(ordered, 0, ordered.length, first);
      this.floorMs = ordered[first]!;
      this.keepFrom(this.floorMs);
    }
    this.#crowd = 2 * ms.length + CROWD_MIN;
  }

  #ofEdge(): number {
    const { ms, edgeMs } = this;
    return Number.isNaN(edgeMs) ? 0 : ms.reduce((n, at) => n + Number(at === edgeMs), 0);
  }

  /** Lets go of what is older, here and in what is known of each. */
  protected abstract keepFrom(floorMs: number): void;
}

import { select } from "../scans/medians.ts";

/** Moments between two looks at which of them are still wanted, at least. */
const CROWD_MIN = 100;

/**
 * The newest moments of those that are met: as many as are wanted, and all of the last one's millisecond.
 * What else is known of each stands in columns beside them.
 */
export class NewestMoments {
  readonly ms: number[] = [];
  readonly #columns: readonly number[][];
  #crowd: number;

  /**
   * @param edgeMs moments of this millisecond, the last that may be met, are wanted beside the `rows`
   * @param floorMs what is older is not wanted
   */
  constructor(
    readonly rows: number,
    readonly edgeMs: number,
    public floorMs: number,
    columns: readonly number[][],
  ) {
    this.#columns = columns;
    this.#crowd = 2 * rows + CROWD_MIN;
  }

  /** A moment that is not older than `floorMs`; what is known of it stands in the columns already. */
  protected met(ms: number): void {
    this.ms.push(ms);
    if (this.ms.length >= this.#crowd) this.thin();
  }

  /** Lets go of what is not among the newest. */
  thin(): void {
    const { ms } = this;
    const ofEdge = ms.reduce((count, at) => count + Number(at === this.edgeMs), 0);
    const first = ms.length - this.rows - ofEdge;
    if (first > 0) {
      const ordered = Float64Array.from(ms);
      select(ordered, 0, ordered.length, first);
      const floorMs = this.floorMs = ordered[first]!;
      this.keep((place) => ms[place]! >= floorMs);
    }
    this.#crowd = 2 * ms.length + CROWD_MIN;
  }

  protected keep(isKept: (place: number) => boolean): void {
    const { ms } = this;
    let kept = 0;
    for (let i = 0; i < ms.length; i++) {
      if (!isKept(i)) continue;
      ms[kept] = ms[i]!;
      for (const column of this.#columns) column[kept] = column[i]!;
      kept++;
    }
    for (const column of [ms, ...this.#columns]) column.length = kept;
  }
}

import { select } from "../../scans/medians.ts";

/** At least this many moments are added before older ones are dropped again. */
const CROWD_MIN = 100;

/**
 * Keeps the newest moments: at least `rows`, and all of the oldest one's millisecond. Subclasses keep more
 * about each moment, in columns of the same length.
 */
export abstract class NewestMoments {
  readonly ms: number[] = [];
  protected readonly columns: readonly number[][];
  /** With this many moments, older ones are dropped. */
  #crowd: number;

  /**
   * @param columnCount how many columns the subclass has
   * @param edgeMs all moments of this millisecond, the last that may be added, are wanted beside the `rows`
   * @param floorMs older moments are not wanted
   */
  constructor(
    columnCount: number,
    readonly rows: number,
    readonly edgeMs: number,
    public floorMs = -Infinity,
  ) {
    this.columns = Array.from({ length: columnCount }, () => []);
    this.#crowd = 2 * rows + CROWD_MIN;
  }

  /** Adds a moment that is not older than `floorMs`, after the subclass has added what it keeps about it. */
  protected addMoment(ms: number): void {
    this.ms.push(ms);
    if (this.ms.length >= this.#crowd) this.thin();
  }

  /** Drops all but the newest. */
  thin(): void {
    const { ms } = this;
    const first = ms.length - this.rows - this.#ofEdge();
    if (first > 0) {
      const ordered = Float64Array.from(ms);
      select(ordered, 0, ordered.length, first);
      this.floorMs = ordered[first]!;
      this.#keepFrom(this.floorMs);
    }
    this.#crowd = 2 * ms.length + CROWD_MIN;
  }

  #ofEdge(): number {
    const { ms, edgeMs } = this;
    return Number.isNaN(edgeMs) ? 0 : ms.reduce((n, at) => n + Number(at === edgeMs), 0);
  }

  /** Drops older moments. */
  #keepFrom(floorMs: number): void {
    const { ms, columns } = this;
    let kept = 0;
    for (let i = 0; i < ms.length; i++) {
      if (ms[i]! < floorMs) continue;
      ms[kept] = ms[i]!;
      for (const column of columns) column[kept] = column[i]!;
      kept++;
    }
    for (const column of [ms, ...columns]) column.length = kept;
  }
}

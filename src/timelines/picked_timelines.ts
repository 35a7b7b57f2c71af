import type { LoadedSegment } from "./loaded_segment.ts";
import type { RunBits } from "./timeline.ts";
import { ActorTimelines, type TimelineColumns, type Timelines } from "./timeline_table.ts";

/** Actors whose slices are picked together: their offsets stay in the processor's cache. */
const ACTORS_PICKED = 4_096;

/** The timelines of a scan, whose segments may be some of those that the columns refer to. */
export interface ScannedTimelines {
  readonly columns: TimelineColumns;
  /**
   * By the place of a segment in the columns, its place in the scan; -1: it is not scanned. Null: all are, in
   * the same order.
   */
  readonly placeOf: Int32Array | null;
}

/**
 * The timelines of all actors in some segments, picked out of those in more. A few thousand actors are
 * picked as a scan comes to them: so its threads share the work, where making columns of them
 * took a single thread 40 ms of a scan of 100 (seven days of ten million events in thirty).
 */
class PickedTimelines implements Timelines {
  first = 0;
  end = 0;
  segmentOf = new Int32Array(0);
  starts = new Int32Array(0);
  ends = new Int32Array(0);
  nameBits = new Int32Array(0);
  readonly #all: TimelineColumns;
  readonly #placeOf: Int32Array;
  /** The actors from `#from` to before `#to` are picked; by actor from there, where the slices begin. */
  #from = 0;
  #to = 0;
  readonly #offsets = new Int32Array(ACTORS_PICKED + 1);

  constructor(
    readonly segments: readonly LoadedSegment[],
    all: TimelineColumns,
    placeOf: Int32Array,
  ) {
    this.#all = all;
    this.#placeOf = placeOf;
  }

  goTo(actor: number): boolean {
    if (actor < this.#from || actor >= this.#to) this.#pick(actor, actor + 1);
    this.first = this.#offsets[actor - this.#from]!;
    this.end = this.#offsets[actor - this.#from + 1]!;
    return this.first < this.end;
  }

  next(from: number, to: number, { names, paths }: RunBits): number {
    const offsets = this.#offsets;
    for (let actor = from; actor < to;) {
      if (actor < this.#from || actor >= this.#to) {
        this.#pick(actor, Math.min(to, actor + ACTORS_PICKED));
      }
      const { nameBits } = this;
      const [fromPicked, toPicked] = [this.#from, Math.min(to, this.#to)];
      for (let i = offsets[actor - fromPicked]!; actor < toPicked; actor++) {
        for (const end = offsets[actor - fromPicked + 1]!; i < end; i++) {
          const bits = nameBits[i]!;
          if ((bits & names) !== 0 && (bits & paths) !== 0) return actor;
        }
      }
    }
    return to;
  }

  actorAt(actor: number): number {
    return actor;
  }

  /** Copies the slices of these actors that lie in the scan's segments. */
  #pick(from: number, to: number): void {
    const { offsets, segmentOf, starts, ends, nameBits } = this.#all;
    const placeOf = this.#placeOf;
    const [own, picked] = [this.#room(offsets[to]! - offsets[from]!), this.#offsets];
    let at = 0;
    for (let actor = from, i = offsets[from]!; actor < to; actor++) {
      picked[actor - from] = at;
      for (const end = offsets[actor + 1]!; i < end; i++) {
        const place = placeOf[segmentOf[i]!]!;
        if (place < 0) continue;
        own.segmentOf[at] = place;
        own.starts[at] = starts[i]!;
        own.ends[at] = ends[i]!;
        own.nameBits[at++] = nameBits[i]!;
      }
    }
    picked[to - from] = at;
    this.#from = from;
    this.#to = to;
  }

  /** Makes room for so many slices. */
  #room(slices: number) {
    if (this.starts.length < slices) {
      const column = () => new Int32Array(2 * slices);
      this.segmentOf = column();
      this.starts = column();
      this.ends = column();
      this.nameBits = column();
    }
    const { segmentOf, starts, ends, nameBits } = this;
    return { segmentOf, starts, ends, nameBits };
  }
}

/** Returns the timelines of a scan of these segments. */
export function timelinesIn(
  segments: readonly LoadedSegment[],
  { columns, placeOf }: ScannedTimelines,
): Timelines {
  return placeOf === null
    ? new ActorTimelines(segments, columns)
    : new PickedTimelines(segments, columns, placeOf);
}

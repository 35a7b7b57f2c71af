import { placeFrom } from "./ascending.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import type { RunBits } from "./timeline.ts";
import {
  ActorTimelines,
  CUT_EVENTS,
  isVisited,
  type TimelineColumns,
  type Timelines,
} from "./timeline_table.ts";
import type { TouchedTimelines } from "./touched_timelines.ts";

/** Actors whose slices are picked together; their offsets fit the processor's cache. */
const ACTORS_PICKED = 4_096;

/** The timelines of a scan: columns of its segments, or what is picked out of columns of others. */
export interface ScannedTimelines {
  readonly columns: TimelineColumns;
  /**
   * By the place of a segment in the columns, its place in the scan; -1: it is not scanned. Null: all are, in
   * the same order.
   */
  readonly placeOf: Int32Array | null;
  /** The actors with events that the columns do not have; null: the columns have all. */
  readonly touched: TouchedTimelines | null;
}

/**
 * The timelines of all actors in some segments, picked out of columns of more. A few thousand actors are
 * picked whenever the scan reaches them, so that its threads share the work. Making columns first would take
 * a single thread 40 ms of a scan of 100 (seven days of ten million events in thirty).
 */
class PickedTimelines implements Timelines {
  first = 0;
  end = 0;
  segmentOf = new Int32Array(0);
  starts = new Int32Array(0);
  ends = new Int32Array(0);
  runBits = new Int32Array(0);
  /** The actors from `#from` to before `#to` are picked; their slices begin at `#offsets`. */
  #from = 0;
  #to = 0;
  readonly #offsets = new Int32Array(ACTORS_PICKED + 1);

  constructor(
    readonly segments: readonly LoadedSegment[],
    private readonly all: TimelineColumns,
    private readonly placeOf: Int32Array,
    private readonly touched: TouchedTimelines,
    private readonly visited: readonly Uint8Array[],
  ) {}

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
      const { runBits } = this;
      const [fromPicked, toPicked] = [this.#from, Math.min(to, this.#to)];
      for (let i = offsets[actor - fromPicked]!; actor < toPicked; actor++) {
        for (const end = offsets[actor - fromPicked + 1]!; i < end; i++) {
          const bits = runBits[i]!;
          if ((bits & names) !== 0 && (bits & paths) !== 0) return actor;
        }
      }
    }
    return to;
  }

  actorAt(actor: number): number {
    return actor;
  }

  /** Copies the slices of these actors, if they are visited, that are in the scan's segments. */
  #pick(from: number, to: number): void {
    const { offsets, segmentOf, starts, ends, runBits } = this.all;
    const placeOf = this.placeOf;
    const { touched, visited } = this;
    // Actors newer than the columns have no slices in them.
    const known = offsets.length - 1;
    let number = placeFrom(touched.actors, from);
    const ofTouched = touched.offsets[placeFrom(touched.actors, to)]! - touched.offsets[number]!;
    const ofAll = offsets[Math.min(to, known)]! - offsets[Math.min(from, known)]!;
    const [own, picked] = [this.#room(ofAll + ofTouched), this.#offsets];
    let at = 0;
    for (let actor = from; actor < to; actor++) {
      picked[actor - from] = at;
      const isTouched = touched.actors[number] === actor;
      if (isTouched) number++;
      if (!isVisited(visited, actor)) continue;
      if (isTouched) {
        const [first, end] = [touched.offsets[number - 1]!, touched.offsets[number]!];
        own.segmentOf.set(touched.segmentOf.subarray(first, end), at);
        own.starts.set(touched.starts.subarray(first, end), at);
        own.ends.set(touched.ends.subarray(first, end), at);
        own.runBits.set(touched.runBits.subarray(first, end), at);
        at += end - first;
      } else if (actor < known) {
        const end = offsets[actor + 1]!;
        for (let i = offsets[actor]!; i < end; i++) {
          const place = placeOf[segmentOf[i]!]!;
          if (place < 0) continue;
          own.segmentOf[at] = place;
          own.starts[at] = starts[i]!;
          own.ends[at] = ends[i]!;
          own.runBits[at++] = runBits[i]!;
        }
      }
    }
    picked[to - from] = at;
    this.#from = from;
    this.#to = to;
  }

  #room(slices: number) {
    if (this.starts.length < slices) {
      const column = () => new Int32Array(2 * slices);
      this.segmentOf = column();
      this.starts = column();
      this.ends = column();
      this.runBits = column();
    }
    const { segmentOf, starts, ends, runBits } = this;
    return { segmentOf, starts, ends, runBits };
  }
}

const NOBODY: TouchedTimelines = {
  actors: new Int32Array(0),
  offsets: new Int32Array(1),
  segmentOf: new Int32Array(0),
  starts: new Int32Array(0),
  ends: new Int32Array(0),
  runBits: new Int32Array(0),
};

/**
 * Returns the timelines of a scan of these segments.
 * @param visited see `isVisited`; the timelines of other actors may be empty
 */
export function timelinesIn(
  segments: readonly LoadedSegment[],
  { columns, placeOf, touched }: ScannedTimelines,
  visited: readonly Uint8Array[] = [],
): Timelines {
  return placeOf === null
    ? new ActorTimelines(segments, columns)
    : new PickedTimelines(segments, columns, placeOf, touched ?? NOBODY, visited);
}

/** The most touched actors in a range before the first cut, or after the last one. */
const RANGE_TOUCHED_MAX = 1_024;

/** Cuts some of the touched actors into ranges, as `cutsOf` does. @returns the first actor of each */
function* touchedCuts(
  { actors, offsets, starts, ends }: TouchedTimelines,
  first: number,
  end: number,
): Generator<number> {
  let [events, begun] = [Infinity, first];
  for (let number = first; number < end; number++) {
    if (events >= CUT_EVENTS || number - begun >= RANGE_TOUCHED_MAX) {
      yield actors[number]!;
      [events, begun] = [0, number];
    }
    for (let i = offsets[number]!; i < offsets[number + 1]!; i++) events += ends[i]! - starts[i]!;
  }
}

/** Returns the actors that cut a scan's timelines into ranges; the last entry is the end. */
export function scanCuts({ columns: { cuts }, touched }: ScannedTimelines): readonly number[] {
  if (touched === null || touched.actors.length === 0) return [...cuts];
  const { actors } = touched;
  const before = touchedCuts(touched, 0, placeFrom(actors, cuts[0]!));
  const after = [...touchedCuts(touched, placeFrom(actors, cuts.at(-1)!), actors.length)];
  const end = after.length > 0 ? [actors.at(-1)! + 1] : [];
  // A set, as new actors may begin where the columns end.
  return [...new Set([...before, ...cuts, ...after, ...end])];
}

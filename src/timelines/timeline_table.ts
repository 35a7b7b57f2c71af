import type { LoadedSegment } from "./loaded_segment.ts";
import type { RunBits, Timeline } from "./timeline.ts";

/** Events between two cuts, where a range of actors may begin. */
export const CUT_EVENTS = 16_384;

/**
 * The timelines of all actors, one after the other. They refer to segments by place in a list, so that they
 * can stay cached while segments are evicted.
 */
export interface TimelineColumns {
  /** By actor, where the slices begin; they end where the next actor's begin. */
  readonly offsets: Int32Array;
  /** By slice, as in `Timeline`. */
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly runBits: Int32Array;
  /** Actors that cut the timelines into ranges of about `CUT_EVENTS` events; the last entry is the end. */
  readonly cuts: Int32Array;
}

/**
 * Cuts the actors from `first` to before `end` into ranges, none of which has many more events than another.
 * @returns the first actor of each range, then the end
 */
export function cutsOf(
  { offsets, starts, ends }: Pick<TimelineColumns, "offsets" | "starts" | "ends">,
  first: number,
  end: number,
): Int32Array {
  const cuts = [first];
  let events = 0;
  for (let actor = first; actor < end; actor++) {
    for (let i = offsets[actor]!; i < offsets[actor + 1]!; i++) events += ends[i]! - starts[i]!;
    if (events < CUT_EVENTS) continue;
    events = 0;
    cuts.push(actor + 1);
  }
  if (cuts.at(-1)! < end) cuts.push(end);
  return Int32Array.from(cuts);
}

/** Whether all columns have 1 at the place of an actor. */
export function isVisited(columns: readonly Uint8Array[], actor: number): boolean {
  for (let i = 0; i < columns.length; i++) if (columns[i]![actor] !== 1) return false;
  return true;
}

/** A numbered list of timelines for a scan, of which a task visits a range. */
export interface Timelines extends Timeline {
  /** Makes this the timeline with a number. @returns false if it is empty */
  goTo(number: number): boolean;
  /** Returns the first timeline from `from` to before `to` that has a run with these bits; `to`: none. */
  next(from: number, to: number, bits: RunBits): number;
  actorAt(number: number): number;
}

/**
 * The timelines of all actors. Going to an actor only sets the first slice and the end; copying each timeline
 * would take twice as long.
 */
export class ActorTimelines implements Timelines {
  first = 0;
  end = 0;
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly runBits: Int32Array;
  readonly #offsets: Int32Array;

  constructor(readonly segments: readonly LoadedSegment[], columns: TimelineColumns) {
    this.#offsets = columns.offsets;
    this.segmentOf = columns.segmentOf;
    this.starts = columns.starts;
    this.ends = columns.ends;
    this.runBits = columns.runBits;
  }

  goTo(actor: number): boolean {
    this.first = this.#offsets[actor]!;
    this.end = this.#offsets[actor + 1]!;
    return this.first < this.end;
  }

  next(from: number, to: number, { names, paths }: RunBits): number {
    const [offsets, runBits] = [this.#offsets, this.runBits];
    for (let actor = from, i = offsets[from]!; actor < to; actor++) {
      for (const end = offsets[actor + 1]!; i < end; i++) {
        const bits = runBits[i]!;
        if ((bits & names) !== 0 && (bits & paths) !== 0) return actor;
      }
    }
    return to;
  }

  actorAt(actor: number): number {
    return actor;
  }
}

/** Zeros for the places of the only segment of all `RunTimelines`; never written. */
let onlyPlaces = new Int32Array(0);

/**
 * The runs of one segment, each as a timeline. They need not be built, and suffice where the actor's other
 * events do not matter.
 */
export class RunTimelines implements Timelines {
  first = 0;
  end = 0;
  readonly segments: readonly LoadedSegment[];
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly runBits: Int32Array;
  readonly #identities: Int32Array;

  constructor(segment: LoadedSegment, private readonly actorOf: Int32Array) {
    const { identities, starts, ends, runBits } = segment;
    this.segments = [segment];
    if (onlyPlaces.length < identities.length) onlyPlaces = new Int32Array(identities.length);
    this.segmentOf = onlyPlaces;
    // A segment has fewer than 2^31 events, so unsigned and signed numbers are the same.
    this.starts = new Int32Array(starts.buffer, starts.byteOffset, identities.length);
    this.ends = new Int32Array(ends.buffer, ends.byteOffset, identities.length);
    this.runBits = runBits;
    this.#identities = identities;
  }

  goTo(run: number): boolean {
    this.first = run;
    this.end = run + 1;
    return true;
  }

  next(from: number, to: number, { names, paths }: RunBits): number {
    const { runBits } = this;
    for (let run = from; run < to; run++) {
      const bits = runBits[run]!;
      if ((bits & names) !== 0 && (bits & paths) !== 0) return run;
    }
    return to;
  }

  actorAt(run: number): number {
    return this.actorOf[this.#identities[run]!]!;
  }
}

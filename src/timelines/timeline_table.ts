import type { LoadedSegment } from "./loaded_segment.ts";
import type { RunBits, Timeline } from "./timeline.ts";

/** Events between two places where the actors may be cut into ranges. */
export const CUT_EVENTS = 16_384;

/**
 * The timelines of all actors, one behind the other. Segments are told by their place in a list, so
 * that this may be kept while they are forgotten.
 */
export interface TimelineColumns {
  /** The slices of an actor begin here, and end where those of the next one begin. */
  readonly offsets: Int32Array;
  /** Of each slice what a timeline tells of it. */
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly nameBits: Int32Array;
  /** Actors from which on about `CUT_EVENTS` events follow, up to the next of them; then the end. */
  readonly cuts: Int32Array;
}

/** What they weigh in memory. */
export function bytesOfTimelines(columns: TimelineColumns): number {
  const { offsets, segmentOf, starts, ends, nameBits, cuts } = columns;
  return [offsets, segmentOf, starts, ends, nameBits, cuts]
    .reduce((bytes, { byteLength }) => bytes + byteLength, 0);
}

/**
 * Where ranges of actors, from `first` to before `end`, may begin, so that none has many more events
 * than another.
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

/** What a scan hands over, one timeline after the other: what a task may be a range of. */
export interface Timelines extends Timeline {
  /** Goes to a timeline by its number. @returns false where it is empty */
  goTo(number: number): boolean;
  /** The first timeline from a number on that has a run with these bits; `to`: none before it has. */
  next(from: number, to: number, bits: RunBits): number;
  /** Whose it is. */
  actorAt(number: number): number;
}

/**
 * A timeline of everybody: who wants to see an actor's has but to say where it begins and ends.
 * Copying each took twice as long.
 */
export class ActorTimelines implements Timelines {
  first = 0;
  end = 0;
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly nameBits: Int32Array;
  readonly #offsets: Int32Array;

  constructor(readonly segments: readonly LoadedSegment[], columns: TimelineColumns) {
    this.#offsets = columns.offsets;
    this.segmentOf = columns.segmentOf;
    this.starts = columns.starts;
    this.ends = columns.ends;
    this.nameBits = columns.nameBits;
  }

  goTo(actor: number): boolean {
    this.first = this.#offsets[actor]!;
    this.end = this.#offsets[actor + 1]!;
    return this.first < this.end;
  }

  next(from: number, to: number, { names, paths }: RunBits): number {
    const [offsets, nameBits] = [this.#offsets, this.nameBits];
    for (let actor = from, i = offsets[from]!; actor < to; actor++) {
      for (const end = offsets[actor + 1]!; i < end; i++) {
        const bits = nameBits[i]!;
        if ((bits & names) !== 0 && (bits & paths) !== 0) return actor;
      }
    }
    return to;
  }

  actorAt(actor: number): number {
    return actor;
  }
}

/**
 * The runs of a segment, each for itself: what one identity did there. Quicker to have than actors'
 * timelines, where it does not matter what the actor did elsewhere.
 */
export class RunTimelines implements Timelines {
  first = 0;
  end = 0;
  readonly segments: readonly LoadedSegment[];
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly nameBits: Int32Array;
  readonly #identities: Int32Array;
  readonly #actorOf: Int32Array;

  constructor(segment: LoadedSegment, actorOf: Int32Array) {
    const { identities, starts, nameBits } = segment;
    const { buffer, byteOffset } = starts;
    this.segments = [segment];
    this.segmentOf = new Int32Array(identities.length);
    // Fewer events than 2^31 lie in a segment.
    this.starts = new Int32Array(buffer, byteOffset, identities.length);
    this.ends = new Int32Array(buffer, byteOffset + 4, identities.length);
    this.nameBits = nameBits;
    this.#identities = identities;
    this.#actorOf = actorOf;
  }

  goTo(run: number): boolean {
    this.first = run;
    this.end = run + 1;
    return true;
  }

  next(from: number, to: number, { names, paths }: RunBits): number {
    const { nameBits } = this;
    for (let run = from; run < to; run++) {
      const bits = nameBits[run]!;
      if ((bits & names) !== 0 && (bits & paths) !== 0) return run;
    }
    return to;
  }

  actorAt(run: number): number {
    return this.#actorOf[this.#identities[run]!]!;
  }
}

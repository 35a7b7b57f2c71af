import type { ActorWay } from "./actor_way.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import { Pace } from "./pace.ts";

/** Actors between two looks at the clock. */
const ACTORS_UNTIMED = 1_000;

/**
 * Which runs are whose: a run is what one identity did in one segment, and those of an actor lie side
 * by side, in the order of the segments. Segments are told by their place in a list, so that this may
 * be kept while they are forgotten.
 */
export interface Runs {
  /** The runs of an actor begin here, and end where those of the next one begin. */
  readonly offsets: Int32Array;
  /** 1: each run of the actor ends before the next begins. */
  readonly isInOrder: Uint8Array;
  /** Of each run what a way tells of its stretches. */
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly nameBits: Int32Array;
}

/** What they weigh in memory. */
export function bytesOfRuns(runs: Runs): number {
  const { offsets, isInOrder, segmentOf, starts, ends, nameBits } = runs;
  return [offsets, isInOrder, segmentOf, starts, ends, nameBits]
    .reduce((bytes, { byteLength }) => bytes + byteLength, 0);
}

/**
 * A way of all runs of everybody: who wants to see an actor's has but to say where they begin and
 * end. Copying each into a way of its own took twice as long.
 */
export class RunTable implements ActorWay {
  first = 0;
  end = 0;
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly nameBits: Int32Array;
  readonly #offsets: Int32Array;

  constructor(readonly segments: readonly LoadedSegment[], runs: Runs) {
    this.#offsets = runs.offsets;
    this.segmentOf = runs.segmentOf;
    this.starts = runs.starts;
    this.ends = runs.ends;
    this.nameBits = runs.nameBits;
  }

  /** Goes to the runs of an actor. @returns false where there are none */
  goTo(actor: number): boolean {
    this.first = this.#offsets[actor]!;
    this.end = this.#offsets[actor + 1]!;
    return this.first < this.end;
  }
}

/** How many runs are whose, summed up. */
async function offsetsOf(
  segments: readonly LoadedSegment[],
  actorOf: Int32Array,
  pace: Pace,
): Promise<Int32Array> {
  const offsets = new Int32Array(actorOf.length + 1);
  for (const { identities } of segments) {
    for (let i = 0; i < identities.length; i++) offsets[actorOf[identities[i]!]! + 1]!++;
    if (pace.isOver()) await pace.pause();
  }
  for (let actor = 0; actor < actorOf.length; actor++) offsets[actor + 1]! += offsets[actor]!;
  return offsets;
}

/** By segment: 1 where all of its events are later than those of all segments before it. */
function areLater(segments: readonly LoadedSegment[]): Uint8Array {
  let lastMs = -Infinity;
  return Uint8Array.from(segments, ({ fromMs, toMs }) => {
    const isLater = fromMs > lastMs;
    lastMs = Math.max(lastMs, toMs);
    return Number(isLater);
  });
}

/** Sets `isInOrder` of each actor. */
async function findOrder(
  segments: readonly LoadedSegment[],
  { offsets, isInOrder, segmentOf, starts, ends }: Runs,
  pace: Pace,
): Promise<void> {
  const isLater = areLater(segments);
  const follows = (run: number): boolean => {
    const [before, here] = [segmentOf[run - 1]!, segmentOf[run]!];
    // Segments are mostly of one time after the other: then times, which lie far, need no look.
    if (here !== before && isLater[here] === 1) return true;
    const [last, next] = [segments[before]!, segments[here]!];
    const lastMs = last.fromMs + last.times[ends[run - 1]! - 1]!;
    return next.fromMs + next.times[starts[run]!]! > lastMs;
  };
  for (let actor = 0; actor < isInOrder.length; actor++) {
    let run = offsets[actor]! + 1;
    const end = offsets[actor + 1]!;
    while (run < end && follows(run)) run++;
    isInOrder[actor] = Number(run >= end);
    if (actor % ACTORS_UNTIMED === 0 && pace.isOver()) await pace.pause();
  }
}

/** The runs of all segments; `actorOf`: of each identity. Others have their turn about every 10 ms. */
export async function findRuns(
  segments: readonly LoadedSegment[],
  actorOf: Int32Array,
): Promise<Runs> {
  const pace = new Pace();
  const offsets = await offsetsOf(segments, actorOf, pace);
  const column = () => new Int32Array(offsets.at(-1)!);
  const runs: Runs = {
    offsets,
    isInOrder: new Uint8Array(actorOf.length),
    segmentOf: column(),
    starts: column(),
    ends: column(),
    nameBits: column(),
  };
  const next = offsets.slice();
  for (const [segment, { identities, starts, nameBits }] of segments.entries()) {
    for (let run = 0; run < identities.length; run++) {
      const at = next[actorOf[identities[run]!]!]!++;
      runs.segmentOf[at] = segment;
      runs.starts[at] = starts[run]!;
      runs.ends[at] = starts[run + 1]!;
      runs.nameBits[at] = nameBits[run]!;
    }
    if (pace.isOver()) await pace.pause();
  }
  await findOrder(segments, runs, pace);
  return runs;
}

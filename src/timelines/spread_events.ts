import { type DecodedBlocks, type LoadedSegment, slicedSegment } from "./loaded_segment.ts";
import type { MemoryScope } from "./shared_memory.ts";

/**
 * What actors did whose identities lie in several ranges, gathered while the ranges are read. They are
 * few as a rule, one event in a hundred, but they are everywhere: gathering them afterwards reads
 * nearly all blocks a second time.
 */
export class SpreadEvents {
  /** How many events each of these actors has, in what was added. */
  readonly eventsOf = new Map<number, number>();
  readonly #actorOf: Int32Array;
  readonly #isSpread: Uint8Array;
  readonly #eventsMax: number;
  readonly #memory: MemoryScope;
  #events = 0;
  #segments: LoadedSegment[] | null = [];

  /**
   * @param isSpread 1 at each of these actors
   * @param eventsMax of all of them; of more, only their numbers are known
   * @param memory where they lie
   */
  constructor(
    actorOf: Int32Array,
    isSpread: Uint8Array,
    eventsMax: number,
    memory: MemoryScope,
  ) {
    this.#actorOf = actorOf;
    this.#isSpread = isSpread;
    this.#eventsMax = eventsMax;
    this.#memory = memory;
  }

  /** Adds what these actors did by the identities from `from` to before `to`. */
  add(decoded: DecodedBlocks, from: number, to: number): void {
    const actorOf = this.#actorOf;
    const isSpread = this.#isSpread;
    const { identities, starts } = decoded.columns;
    const keeps = (identity: number) =>
      identity >= from && identity < to && isSpread[actorOf[identity]!] === 1;
    let events = 0;
    for (let run = 0; run < identities.length; run++) {
      if (!keeps(identities[run]!)) continue;
      const actor = actorOf[identities[run]!]!;
      const own = starts[run + 1]! - starts[run]!;
      this.eventsOf.set(actor, (this.eventsOf.get(actor) ?? 0) + own);
      events += own;
    }
    if (events === 0 || this.#segments === null) return;
    this.#events += events;
    if (this.#events > this.#eventsMax) {
      this.#segments = null;
      this.#memory.release();
      return;
    }
    this.#segments.push(slicedSegment(decoded, keeps, this.#memory.take)!);
  }

  /** All of them, in the order of the segments' first events; null: they are too many. */
  get segments(): readonly LoadedSegment[] | null {
    if (this.#segments === null) return null;
    return this.#segments.toSorted((a, b) => a.fromMs - b.fromMs || a.segmentId - b.segmentId);
  }
}

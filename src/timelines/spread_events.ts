import type { DecodedBlocks } from "./block_decoding.ts";
import { type LoadedSegment, slicedSegment } from "./loaded_segment.ts";
import { pickedColumns } from "./segment_slice.ts";
import type { MemoryScope } from "./shared_memory.ts";

/**
 * Collects the events of spread actors, whose identities are in several ranges, while the ranges are read.
 * Such events are usually few, one in a hundred, but in nearly every block: collecting them afterwards would
 * read nearly all blocks a second time.
 */
export class SpreadEvents {
  /** How many of the added events each spread actor has. */
  readonly eventsOf = new Map<number, number>();
  readonly #actorOf: Int32Array;
  readonly #isSpread: Uint8Array;
  readonly #eventsMax: number;
  readonly #memory: MemoryScope;
  #events = 0;
  #segments: LoadedSegment[] | null = [];

  /**
   * @param isSpread 1 at each spread actor
   * @param eventsMax if there are more events, only their numbers are kept
   * @param memory where the events are kept
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

  /** Adds the spread actors' events by identities from `from` to before `to`. */
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
      const count = starts[run + 1]! - starts[run]!;
      this.eventsOf.set(actor, (this.eventsOf.get(actor) ?? 0) + count);
      events += count;
    }
    if (events === 0 || this.#segments === null) return;
    this.#events += events;
    if (this.#events > this.#eventsMax) {
      this.#segments = null;
      this.#memory.release();
      return;
    }
    this.#segments.push(slicedSegment(decoded, keeps, this.#memory.take, pickedColumns)!);
  }

  /** All collected events, as segments ordered by their first events; null: there are too many. */
  get segments(): readonly LoadedSegment[] | null {
    if (this.#segments === null) return null;
    return this.#segments.toSorted((a, b) => a.fromMs - b.fromMs || a.segmentId - b.segmentId);
  }
}

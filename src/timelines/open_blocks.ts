import type { WantedBlocks } from "../store/stored_segments.ts";
import type { DecodedBlocks } from "./block_decoding.ts";
import type { MemoryScope } from "./shared_memory.ts";

/**
 * Decoded blocks with identities of both this range and the next. Each range cuts a block of each segment in
 * two: of sixty million events, half would be fetched and decoded twice.
 */
export class OpenBlocks {
  #events = 0;
  readonly #bySegment = new Map<number, DecodedBlocks>();

  /**
   * @param eventsMax the most events in kept blocks; other blocks are decoded again
   * @param memory the scope of kept blocks
   */
  constructor(private readonly eventsMax: number, private readonly memory: MemoryScope) {}

  /** Returns the block that the wanted blocks begin with; null: it was not kept. */
  find({ segmentId, blocks }: WantedBlocks): DecodedBlocks | null {
    const open = this.#bySegment.get(segmentId);
    return open?.wanted.blocks.first === blocks.first ? open : null;
  }

  /**
   * Keeps the blocks of this range that the next one needs. All others, including those that were kept before,
   * go to the scope of this range: the previous range may still be visited, but ends no later than this one.
   */
  settle(
    decoded: readonly DecodedBlocks[],
    isOpen: (wanted: WantedBlocks) => boolean,
    part: MemoryScope,
  ): void {
    const before = new Set(this.#bySegment.values());
    this.#bySegment.clear();
    this.#events = 0;
    for (const one of decoded) {
      const { wanted, columns: { times } } = one;
      if (!isOpen(wanted) || this.#events + times.length > this.eventsMax) continue;
      this.#events += times.length;
      this.#bySegment.set(wanted.segmentId, one);
      if (!before.delete(one)) part.handOver(times, this.memory);
    }
    for (const { columns: { times } } of before) this.memory.handOver(times, part);
  }
}

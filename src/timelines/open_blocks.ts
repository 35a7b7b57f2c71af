import type { WantedBlocks } from "../store/stored_segments.ts";
import type { DecodedBlocks } from "./block_decoding.ts";
import type { MemoryScope } from "./shared_memory.ts";

/**
 * Decoded blocks whose identities go on in the next range: the range cuts a block of each segment in
 * two, and of sixty million events half as many again were fetched and decoded twice.
 */
export class OpenBlocks {
  readonly #eventsMax: number;
  readonly #memory: MemoryScope;
  #events = 0;
  readonly #bySegment = new Map<number, DecodedBlocks>();

  /**
   * @param eventsMax of all blocks that are kept; what goes beyond is decoded again
   * @param memory where blocks that are kept lie
   */
  constructor(eventsMax: number, memory: MemoryScope) {
    this.#eventsMax = eventsMax;
    this.#memory = memory;
  }

  /** The blocks in the way of those that are wanted, if they are kept: they begin the same. */
  find({ segmentId, blocks }: WantedBlocks): DecodedBlocks | null {
    const open = this.#bySegment.get(segmentId);
    return open?.wanted.blocks.first === blocks.first ? open : null;
  }

  /**
   * Keeps what the next range needs of the blocks of this one, which lie in `part` or here; what it does
   * not need goes with `part`. The range before, which may be visited still, is so for no longer.
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
      if (!isOpen(wanted) || this.#events + times.length > this.#eventsMax) continue;
      this.#events += times.length;
      this.#bySegment.set(wanted.segmentId, one);
      if (!before.delete(one)) part.handOver(times, this.#memory);
    }
    for (const { columns: { times } } of before) this.#memory.handOver(times, part);
  }
}

import type { WantedBlocks } from "../store/stored_segments.ts";
import type { DecodedBlocks } from "./loaded_segment.ts";

/**
 * Decoded blocks whose identities go on in the next range: the range cuts a block of each segment in
 * two, and of sixty million events half as many again were fetched and decoded twice.
 */
export class OpenBlocks {
  readonly #eventsMax: number;
  #events = 0;
  readonly #bySegment = new Map<number, DecodedBlocks>();

  /** @param eventsMax of all blocks that are kept; what goes beyond is decoded again */
  constructor(eventsMax: number) {
    this.#eventsMax = eventsMax;
  }

  /** The blocks in the way of those that are wanted, if they are kept: they begin the same. */
  take({ segmentId, blocks }: WantedBlocks): DecodedBlocks | null {
    const open = this.#bySegment.get(segmentId);
    if (open === undefined) return null;
    this.#bySegment.delete(segmentId);
    this.#events -= open.columns.times.length;
    return open.wanted.blocks.first === blocks.first ? open : null;
  }

  keep(decoded: DecodedBlocks): void {
    const { wanted: { segmentId }, columns: { times } } = decoded;
    if (this.#events + times.length > this.#eventsMax) return;
    this.#events += times.length;
    this.#bySegment.set(segmentId, decoded);
  }
}

import { SCROLL } from "../reserved_terms.ts";
import { GrowingList } from "../store/growing_list.ts";
import type { SegmentReader } from "../store/segment_reader.ts";

/** The columns of a segment that `readDepths` reads. */
export const DEPTH_COLUMNS = ["names", "depth_px", "document_height"] as const;

/**
 * Reads how deep scrolls went, as a fraction of their pages. Returns pairs of an event's place and its depth,
 * ascending, since only one event in ten is a scroll; scrolls of unknown depth are left out. Throws
 * SegmentUnreadable.
 */
export function readDepths(reader: SegmentReader): Float64Array {
  const pairs = new GrowingList(new Float64Array(1_024));
  // Block by block in the same memory: whole columns would be 16 bytes of garbage for each event.
  const longest = Math.min(reader.head.blockEvents, reader.events);
  const [depths, heights] = [new Float64Array(longest), new Float64Array(longest)];
  for (const block of reader.inBlocks()) {
    const from = block.firstPlace - reader.firstPlace;
    const names = block.integers("names");
    const depthsPx = block.numbers("depth_px", depths.subarray(0, names.length));
    const heightsPx = block.numbers("document_height", heights.subarray(0, names.length));
    for (let at = 0; at < names.length; at++) {
      if (names[at] !== SCROLL || !(heightsPx[at]! > 0) || Number.isNaN(depthsPx[at]!)) continue;
      pairs.add(from + at);
      pairs.add(Math.min(1, depthsPx[at]! / heightsPx[at]!));
    }
  }
  return pairs.all();
}

/** Returns the index of the first pair whose event is at `start` or later. */
export function firstDepthFrom(depths: Float64Array, start: number): number {
  let low = 0;
  let high = depths.length >> 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (depths[2 * middle]! < start) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}

/** Returns the depths of the picked events, renumbered from 0. @param picked their places, ascending */
export function pickedDepths(depths: Float64Array, picked: Uint32Array): Float64Array {
  const pairs: number[] = [];
  for (let pair = 0, i = 0; pair < depths.length; pair += 2) {
    while (picked[i]! < depths[pair]!) i++;
    if (picked[i] === depths[pair]) pairs.push(i, depths[pair + 1]!);
  }
  return Float64Array.from(pairs);
}

import type { DecodedBlocks } from "./block_decoding.ts";
import { type LoadedSegment, slicedSegment } from "./loaded_segment.ts";
import { pickedColumns } from "./segment_slice.ts";
import type { MemoryScope } from "./shared_memory.ts";

/**
 * Collects the events of spread actors, whose identities are in several ranges, while the ranges are read.
 * Such events are usually few, one in a hundred, but in nearly every block: collecting them afterwards would
 * read nearly all blocks a second time.
 * @param isSpread 1 at each spread actor
 * @param eventsMax if there are more events, only their numbers are kept
 * @param memory where the events are kept
 */
export function spreadEvents(
  actorOf: Int32Array,
  isSpread: Uint8Array,
  eventsMax: number,
  memory: MemoryScope,
) {
  /** How many of the added events each actor has. */
  const counts = new Int32Array(actorOf.length);
  let events = 0;
  let segments: LoadedSegment[] | null = [];
  /** Adds the spread actors' events by identities from `from` to before `to`. */
  const add = (decoded: DecodedBlocks, from: number, to: number): void => {
    const { identities, starts } = decoded.columns;
    const keeps = (identity: number) =>
      identity >= from && identity < to && isSpread[actorOf[identity]!] === 1;
    const before = events;
    for (let run = 0; run < identities.length; run++) {
      const identity = identities[run]!;
      if (identity < from || identity >= to) continue;
      const actor = actorOf[identity]!;
      if (isSpread[actor] !== 1) continue;
      const count = starts[run + 1]! - starts[run]!;
      counts[actor]! += count;
      events += count;
    }
    if (events === before || segments === null) return;
    if (events > eventsMax) {
      segments = null;
      memory.release();
    } else segments.push(slicedSegment(decoded, keeps, memory.take, pickedColumns)!);
  };
  /** Returns all collected events, as segments ordered by their first events; null: there are too many. */
  const collected = (): readonly LoadedSegment[] | null =>
    segments?.toSorted((a, b) => a.fromMs - b.fromMs || a.segmentId - b.segmentId) ?? null;
  /** Returns how many of the added events each spread actor has, in the order of the actors. */
  const eventsOf = (): [actor: number, events: number][] => {
    const found: [number, number][] = [];
    for (let actor = 0; actor < counts.length; actor++) {
      if (counts[actor]! > 0) found.push([actor, counts[actor]!]);
    }
    return found;
  };
  return { eventsOf, add, collected };
}

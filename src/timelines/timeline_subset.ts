import { yielding } from "../store/yielding.ts";
import { cutsOf, type TimelineColumns } from "./timeline_table.ts";

/** Actors between two checks of the clock. */
const ACTORS_UNTIMED = 10_000;

/**
 * Derives the timelines of some segments from those of more segments, whose slices keep their order. For ten
 * million events this takes a third of the time of building them.
 * @param placeOf by the place of a segment in `all`, its place among the remaining ones; -1: not one of them
 */
export async function subsetTimelines(
  all: TimelineColumns,
  placeOf: Int32Array,
): Promise<TimelineColumns> {
  let count = 0;
  for (let i = 0; i < all.segmentOf.length; i++) count += Number(placeOf[all.segmentOf[i]!]! >= 0);
  const offsets = new Int32Array(all.offsets.length);
  const column = () => new Int32Array(count);
  const [segmentOf, starts, ends, nameBits] = [column(), column(), column(), column()];
  const yieldIfDue = yielding();
  const actors = offsets.length - 1;
  let [at, first, end] = [0, actors, 0];
  for (let actor = 0; actor < actors; actor++) {
    for (let i = all.offsets[actor]!; i < all.offsets[actor + 1]!; i++) {
      const place = placeOf[all.segmentOf[i]!]!;
      if (place < 0) continue;
      segmentOf[at] = place;
      starts[at] = all.starts[i]!;
      ends[at] = all.ends[i]!;
      nameBits[at++] = all.nameBits[i]!;
    }
    offsets[actor + 1] = at;
    if (at > offsets[actor]!) {
      first = Math.min(first, actor);
      end = actor + 1;
    }
    if (actor % ACTORS_UNTIMED === 0) await yieldIfDue();
  }
  const cuts = cutsOf({ offsets, starts, ends }, Math.min(first, end), end);
  return { offsets, segmentOf, starts, ends, nameBits, cuts };
}

import { setImmediate } from "node:timers";
import { HISTORY_WALK_MS } from "../limits.ts";
import type { Histories } from "./histories.ts";
import type { LoadedSegment } from "./loaded_segment.ts";

/** Events between two looks at the clock. */
const EVENTS_UNTIMED = 20_000;

/**
 * Visits every run: what one identity did in one segment, from the event `start` to before `end`, in
 * order. The runs of an actor are not visited together; where that does not matter, this is quicker
 * than to follow actors. Others have their turn about every 10 ms. Throws what `visit` throws.
 */
export async function walkRuns(
  { segments, actorOf }: Histories,
  visit: (actor: number, segment: LoadedSegment, start: number, end: number) => void,
): Promise<void> {
  let resumedMs = performance.now();
  let untimed = 0;
  for (const segment of segments) {
    const { identities, starts } = segment;
    for (let run = 0; run < identities.length; run++) {
      const [start, end] = [starts[run]!, starts[run + 1]!];
      visit(actorOf[identities[run]!]!, segment, start, end);
      untimed += end - start;
      if (untimed < EVENTS_UNTIMED) continue;
      untimed = 0;
      if (performance.now() - resumedMs < HISTORY_WALK_MS) continue;
      await new Promise<void>((resolve) => setImmediate(resolve));
      resumedMs = performance.now();
    }
  }
}

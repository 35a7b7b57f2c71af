import type { Histories, HistoryPart } from "./histories.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import { Pace } from "./pace.ts";

/** Events between two looks at the clock. */
const EVENTS_UNTIMED = 20_000;

/** Visits what an actor did in a segment, from the event `start` to before `end`. */
export type VisitRun = (
  actor: number,
  segment: LoadedSegment,
  start: number,
  end: number,
) => void;

/** `walkRuns`, of a part. */
export async function walkPartRuns(
  { actorOf }: Pick<Histories, "actorOf">,
  { segments }: HistoryPart,
  visit: VisitRun,
): Promise<void> {
  const pace = new Pace();
  let untimed = 0;
  for (const segment of segments) {
    const { identities, starts } = segment;
    for (let run = 0; run < identities.length; run++) {
      const [start, end] = [starts[run]!, starts[run + 1]!];
      visit(actorOf[identities[run]!]!, segment, start, end);
      untimed += end - start;
      if (untimed < EVENTS_UNTIMED) continue;
      untimed = 0;
      if (pace.isOver()) await pace.pause();
    }
  }
}

/**
 * Visits every run: what one identity did in one segment, from the event `start` to before `end`, in
 * order. The runs of an actor are not visited together; where that does not matter, this is quicker
 * than to follow actors. Others have their turn about every 10 ms. Throws what `visit` throws.
 */
export async function walkRuns(histories: Histories, visit: VisitRun): Promise<void> {
  for await (const part of histories.parts()) await walkPartRuns(histories, part, visit);
}

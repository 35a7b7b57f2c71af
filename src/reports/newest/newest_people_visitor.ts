import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { EventTest } from "../../scans/event_test.ts";
import type { VisitorKind } from "../../scans/visitor.ts";
import type { NewestInputs } from "./newest_events.ts";
import { type FoundMoments, joinMoments, NewestActors } from "./newest_actors.ts";

/** People are wanted whose last selected event before `endMs` is in `span`. */
interface NewestPeopleInputs extends NewestInputs {
  /** The end of the read's range. */
  readonly endMs: number;
}

/** Finds the people who were seen last; scans whole timelines or run by run. */
export const NEWEST_PEOPLE: VisitorKind<NewestPeopleInputs, FoundMoments> = {
  name: "newest people",
  create: (inputs, words) => {
    const { rows, edgeMs, span, endMs } = inputs;
    const newest = new NewestActors(rows, edgeMs, span.fromMs, { isOnce: true });
    const test = new EventTest(inputs.test, words);
    /** Returns the time of the last selected event of a slice; null: there is none, or it is too old. */
    const lastMs = (segment: LoadedSegment, start: number, end: number, actor: number) => {
      const { fromMs, times, names, paths, contexts, filterBits } = segment;
      const floorTime = newest.floorMs - fromMs;
      const endTime = endMs - fromMs;
      for (let at = end - 1; at >= start; at--) {
        const time = times[at]!;
        if (time < floorTime) return null;
        if (time >= endTime) continue;
        if (test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) {
          return fromMs + time;
        }
      }
      return null;
    };
    const visit = (actor: number, timeline: Timeline) => {
      if (test.actors !== null && test.actors[actor] !== 1) return;
      const { segments, segmentOf, starts, ends } = timeline;
      for (let i = timeline.end - 1; i >= timeline.first; i--) {
        const ms = lastMs(segments[segmentOf[i]!]!, starts[i]!, ends[i]!, actor);
        if (ms === null) continue;
        // An actor who was last seen after the span is not wanted.
        if (ms < span.toMs) newest.add(ms, actor);
        return;
      }
    };
    return {
      visit,
      wants: (lastMs) => lastMs >= newest.floorMs,
      result: () => newest.found(),
    };
  },
  merge: joinMoments,
};

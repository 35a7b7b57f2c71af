import { EventTest } from "../../scans/event_test.ts";
import { runVisitor, type VisitorKind } from "../../scans/visitor.ts";
import {
  type FoundEvents,
  mergedEvents,
  NewestEvents,
  type NewestInputs,
} from "../newest/newest_events.ts";

/** `edgeMs` is negated where times are: see `sign`. */
interface PersonEventsInputs extends NewestInputs {
  readonly actor: number;
  /** Whether only events of sessions are listed. */
  readonly ofSessions: boolean;
  /** 1: the newest events are wanted; -1: the oldest, for which times are negated. */
  readonly sign: 1 | -1;
}

/** Finds the newest or the oldest events of one actor. */
export const PERSON_EVENTS: VisitorKind<PersonEventsInputs, FoundEvents> = {
  name: "person's events",
  create: (inputs, words) => {
    const { actor: wanted, span, ofSessions, sign, rows, edgeMs } = inputs;
    const newest = new NewestEvents(rows, edgeMs);
    const test = new EventTest(inputs.test, words);
    return runVisitor((actor, segment, start, end) => {
      if (actor !== wanted) return;
      const { fromMs, times, names, paths, contexts, traffics, filterBits, segmentId } = segment;
      for (let at = start; at < end; at++) {
        const ms = fromMs + times[at]!;
        if (ms < span.fromMs || ms >= span.toMs || ofSessions && traffics[at] === 0) continue;
        if (sign * ms < newest.floorMs) continue;
        if (!test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) continue;
        newest.add(sign * ms, segmentId, segment.storedPlace(at));
      }
    }, () => newest.found());
  },
  merge: mergedEvents,
};

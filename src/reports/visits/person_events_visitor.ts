import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import type { Visitor, VisitorKind } from "../../scans/visitor.ts";
import { type FoundEvents, mergedEvents, NewestEvents } from "../newest/newest_events.ts";
import { runVisitor } from "../visitors/run_visitor.ts";

interface PersonEventsInputs {
  readonly actor: number;
  readonly span: Span;
  readonly test: EventPasses;
  /** Whether only events of sessions are listed. */
  readonly ofSessions: boolean;
  /** 1: the newest events are wanted; -1: the oldest, and times have their sign turned. */
  readonly sign: 1 | -1;
  /** How many events are wanted, and the (signed) millisecond whose events are all wanted: see `NewestEvents`. */
  readonly rows: number;
  readonly edgeMs: number;
}

function personEventsVisitor(
  inputs: PersonEventsInputs,
  words: readonly Int32Array[],
): Visitor<FoundEvents> {
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
      newest.meet(sign * ms, segmentId, segment.storedPlace(at));
    }
  }, () => newest.found());
}

/** Finds the newest or the oldest events of one actor. */
export const PERSON_EVENTS: VisitorKind<PersonEventsInputs, FoundEvents> = {
  name: "person's events",
  create: personEventsVisitor,
  merge: mergedEvents,
};

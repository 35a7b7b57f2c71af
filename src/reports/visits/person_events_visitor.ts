import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { followRuns, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { type FoundEvents, mergedEvents, NewestEvents } from "../newest_events.ts";

interface PersonEventsInputs {
  readonly actor: number;
  readonly span: Span;
  readonly test: EventPasses;
  /** Whether events of sessions alone are meant. */
  readonly ofSessions: boolean;
  /** 1: the newest are wanted; -1: the oldest, and then times are told with their sign turned. */
  readonly sign: 1 | -1;
  /** How many are wanted, and the (signed) millisecond of which all are: see `NewestEvents`. */
  readonly rows: number;
  readonly edgeMs: number;
}

/** Finds the newest or the oldest events of one actor. */
class PersonEventsVisitor implements Visitor<FoundEvents> {
  readonly #inputs: PersonEventsInputs;
  readonly #newest: NewestEvents;
  readonly #test: EventTest;

  constructor(inputs: PersonEventsInputs, words: readonly Int32Array[]) {
    this.#inputs = inputs;
    this.#newest = new NewestEvents(inputs.rows, inputs.edgeMs);
    this.#test = new EventTest(inputs.test, words);
  }

  visit(actor: number, timeline: Timeline): void {
    if (actor === this.#inputs.actor) followRuns(actor, timeline, this.#follow);
  }

  result(): FoundEvents {
    return this.#newest.found();
  }

  readonly #follow = (actor: number, segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs, times, names, paths, contexts, traffics, filterBits, segmentId } = segment;
    const { span, ofSessions, sign } = this.#inputs;
    for (let at = start; at < end; at++) {
      const ms = fromMs + times[at]!;
      if (ms < span.fromMs || ms >= span.toMs || ofSessions && traffics[at] === 0) continue;
      if (!this.#test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) {
        continue;
      }
      this.#newest.add({
        ms: [sign * ms],
        segmentIds: [segmentId],
        places: [segment.storedPlace(at)],
      });
    }
  };
}

export const PERSON_EVENTS: VisitorKind<PersonEventsInputs, FoundEvents> = {
  name: "person's events",
  create: (inputs, words) => new PersonEventsVisitor(inputs, words),
  merge: mergedEvents,
};

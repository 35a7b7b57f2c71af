import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { runVisitor, type VisitorKind } from "../../scans/visitor.ts";
import { ID_BYTES, uuidOf } from "../../store/id_codec.ts";

/** Only events in these milliseconds are tested. */
type Inputs = { readonly test: EventPasses; readonly atMs: ReadonlySet<number> };

/** Collects the ids of the events that pass. */
export const PASSING_IDS: VisitorKind<Inputs, string[]> = {
  name: "passing ids",
  create: (inputs, words) => {
    const { atMs } = inputs;
    const test = new EventTest(inputs.test, words);
    const passing: string[] = [];
    return runVisitor((actor, segment, start, end) => {
      const { fromMs, times, names, paths, contexts, filterBits } = segment;
      for (let at = start; at < end; at++) {
        if (!atMs.has(fromMs + times[at]!)) continue;
        if (!test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) continue;
        passing.push(uuidOf(segment.eventIds, ID_BYTES * at));
      }
    }, () => passing);
  },
  merge: (ids, more) => [...ids, ...more],
};

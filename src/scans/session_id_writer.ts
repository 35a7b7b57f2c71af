import type { IntegerColumn } from "../store/integer_codec.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { runBitsOf, type Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type MatchPasses, MatchTests, UNMATCHED } from "./match_tests.ts";
import { SessionScan } from "./session_scan.ts";
import { MADE_IDS } from "./value_ids.ts";
import type { VisitorKind } from "./visitor.ts";

interface Inputs {
  /** The id of the session that is written. */
  readonly of: "traffic" | "entryPath" | "exitPath";
  /** Sessions must lie whole in it. */
  readonly reach: Span;
  /** Ids are written for sessions with an event in it. */
  readonly span: Span;
  /** Only actors with an event whose name a match takes need ids. */
  readonly matches: MatchPasses;
}

/** Whether any match may take an event. For a rare name, this skips most actors. */
function mayMatch({ groupOf, bits }: MatchTests, timeline: Timeline): boolean {
  if ((runBitsOf(timeline) & bits.names) === 0) return false;
  const { segments, segmentOf, starts, ends } = timeline;
  for (let i = timeline.first; i < timeline.end; i++) {
    const { names } = segments[segmentOf[i]!]!;
    const end = ends[i]!;
    for (let at = starts[i]!; at < end; at++) if (groupOf[names[at]!]! > UNMATCHED) return true;
  }
  return false;
}

/**
 * Writes an id of its session for each event that is in one, into the column `MADE_IDS`. Several threads
 * may write into a column: each sets the numbers of its own actors' events.
 */
export const SESSION_ID_WRITER: VisitorKind<Inputs, null> = {
  name: "session ids",
  create: ({ of, reach, span: { fromMs, toMs }, matches }, words) => {
    const tests = new MatchTests(matches, words);
    let id = 0;
    const write = (segment: LoadedSegment, start: number, end: number): void => {
      const ids = segment.column(MADE_IDS) as IntegerColumn;
      const { traffics } = segment;
      for (let at = start; at < end; at++) if (traffics[at] !== 0) ids[at] = id;
    };
    const scan = new SessionScan(reach, (session) => {
      if (!session.hasOwn || session.lastMs < fromMs || session.startMs >= toMs) return;
      id = session[of];
      session.forEachSlice(write);
    });
    const visit = (actor: number, timeline: Timeline): void => {
      if (mayMatch(tests, timeline)) scan.visit(actor, timeline);
    };
    return { visit, result: () => null };
  },
  merge: () => null,
};

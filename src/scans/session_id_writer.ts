import type { IntegerColumn } from "../store/integer_codec.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { runBitsOf, type Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type MatchPasses, MatchTests, UNMATCHED } from "./match_tests.ts";
import { type ScannedSession, SessionScan } from "./session_scan.ts";
import { MADE_IDS } from "./value_ids.ts";
import type { Visitor, VisitorKind } from "./visitor.ts";

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

/**
 * Writes an id of its session for each event that is in one, into the column `MADE_IDS`. Several threads
 * may write into a column: each sets the numbers of its own actors' events.
 */
class SessionIdWriter implements Visitor<null> {
  readonly #tests: MatchTests;
  readonly #scan: SessionScan;
  #id = 0;
  readonly #visitSlice = (segment: LoadedSegment, start: number, end: number) =>
    this.#write(segment, start, end);

  constructor(private readonly inputs: Inputs, words: readonly Int32Array[]) {
    this.#tests = new MatchTests(inputs.matches, words);
    this.#scan = new SessionScan(inputs.reach, (session) => this.#visitSession(session));
  }

  visit(actor: number, timeline: Timeline): void {
    if (this.#mayMatch(timeline)) this.#scan.visit(actor, timeline);
  }

  result(): null {
    return null;
  }

  /** Whether any match may take an event. For a rare name, this skips most actors. */
  #mayMatch(timeline: Timeline): boolean {
    const { groupOf, bits } = this.#tests;
    if ((runBitsOf(timeline) & bits.names) === 0) return false;
    const { segments, segmentOf, starts, ends } = timeline;
    for (let i = timeline.first; i < timeline.end; i++) {
      const { names } = segments[segmentOf[i]!]!;
      const end = ends[i]!;
      for (let at = starts[i]!; at < end; at++) if (groupOf[names[at]!]! > UNMATCHED) return true;
    }
    return false;
  }

  #visitSession(session: ScannedSession): void {
    const { of, span: { fromMs, toMs } } = this.inputs;
    if (session.traffic === 0 || session.lastMs < fromMs || session.startMs >= toMs) return;
    this.#id = session[of];
    session.forEachSlice(this.#visitSlice);
  }

  #write(segment: LoadedSegment, start: number, end: number): void {
    const ids = segment.column(MADE_IDS) as IntegerColumn;
    const { traffics } = segment;
    const id = this.#id;
    for (let at = start; at < end; at++) if (traffics[at] !== 0) ids[at] = id;
  }
}

/** Writes into a column of the part; it has no counts. */
export const SESSION_ID_WRITER: VisitorKind<Inputs, null> = {
  name: "session ids",
  create: (inputs, words) => new SessionIdWriter(inputs, words),
  merge: () => null,
};

import type { IntegerColumn } from "../store/integer_codec.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { nameBitsOf, type Timeline } from "../timelines/timeline.ts";
import type { Span } from "../query/selection.ts";
import { type MatchPasses, MatchTests, UNMATCHED } from "./match_tests.ts";
import { type ScannedSession, SessionScan } from "./session_scan.ts";
import { MADE_IDS } from "./value_ids.ts";
import type { Visitor, VisitorKind } from "./visitor.ts";

interface Inputs {
  /** Which id of the session is written. */
  readonly of: "traffic" | "entryPath" | "exitPath";
  /** Sessions must lie whole in it. */
  readonly reach: Span;
  /** Of sessions with an event in it. */
  readonly span: Span;
  /** Events of which any match may be asked. */
  readonly matches: MatchPasses;
}

/**
 * Writes an id of its session beside each event that is in one, into `MADE_IDS`. Events of different
 * actors are different numbers of the column.
 */
class SessionIdWriter implements Visitor<null> {
  readonly #inputs: Inputs;
  readonly #tests: MatchTests;
  readonly #scan: SessionScan;
  #id = 0;
  readonly #visitSlice = (segment: LoadedSegment, start: number, end: number) =>
    this.#write(segment, start, end);

  constructor(inputs: Inputs, words: readonly Int32Array[]) {
    this.#inputs = inputs;
    this.#tests = new MatchTests(inputs.matches, words);
    this.#scan = new SessionScan(inputs.reach, (session) => this.#visitSession(session));
  }

  visit(actor: number, timeline: Timeline): void {
    if (this.#isAsked(timeline)) this.#scan.visit(actor, timeline);
  }

  result(): null {
    return null;
  }

  /** Whether any match may take an event: most actors need not be followed for a seldom name. */
  #isAsked(timeline: Timeline): boolean {
    const { groupOf, bits } = this.#tests;
    if ((nameBitsOf(timeline) & bits.names) === 0) return false;
    const { segments, segmentOf, starts, ends } = timeline;
    for (let i = timeline.first; i < timeline.end; i++) {
      const { names } = segments[segmentOf[i]!]!;
      const end = ends[i]!;
      for (let at = starts[i]!; at < end; at++) if (groupOf[names[at]!]! > UNMATCHED) return true;
    }
    return false;
  }

  #visitSession(session: ScannedSession): void {
    const { of, span: { fromMs, toMs } } = this.#inputs;
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

/** Counts nothing. */
export const SESSION_ID_WRITER: VisitorKind<Inputs, null> = {
  name: "session ids",
  create: (inputs, words) => new SessionIdWriter(inputs, words),
  merge: () => null,
};

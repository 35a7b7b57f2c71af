import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import type { Visitor, VisitorKind } from "../../scans/visitor.ts";
import { type FoundMoments, joinMoments, NewestActors } from "../newest_actors.ts";

interface NewestVisitsInputs {
  /** Visits that start in it are looked for. */
  readonly span: Span;
  /** In which all of them lie whole. */
  readonly reach: Span;
  /** Events of which a visit must hold one. */
  readonly selected: EventPasses;
  /** Events of which it must hold one too; null: any. */
  readonly converting: EventPasses | null;
  /** Whose visits; null: everybody's. */
  readonly actor: number | null;
  /** How many are wanted, and the millisecond of which all are: see `NewestActors`. */
  readonly rows: number;
  readonly edgeMs: number;
}

/** Follows actors through their sessions, and notes when the selected ones start. */
class NewestVisitsVisitor implements Visitor<FoundMoments> {
  readonly #inputs: NewestVisitsInputs;
  readonly #newest: NewestActors;
  readonly #selected: EventTest;
  readonly #converting: EventTest | null;
  readonly #scan: SessionScan;
  #actor = 0;
  #isSelected = false;
  #isConverting = false;

  constructor(inputs: NewestVisitsInputs, words: readonly Int32Array[]) {
    const { rows, edgeMs, span, converting } = inputs;
    this.#inputs = inputs;
    this.#newest = new NewestActors(rows, edgeMs, span.fromMs);
    this.#selected = new EventTest(inputs.selected, words);
    this.#converting = converting === null ? null : new EventTest(converting, words);
    this.#scan = new SessionScan(inputs.reach, (session) => this.#visitSession(session));
  }

  visit(actor: number, timeline: Timeline): void {
    const { actor: wanted } = this.#inputs;
    if (wanted !== null && actor !== wanted) return;
    const { actors } = this.#selected;
    if (actors !== null && actors[actor] !== 1) return;
    this.#actor = actor;
    this.#scan.visit(actor, timeline);
  }

  result(): FoundMoments {
    return this.#newest.found();
  }

  #visitSession(session: ScannedSession): void {
    const { traffic, startMs, actor } = session;
    if (traffic === 0 || startMs < this.#newest.floorMs || startMs >= this.#inputs.span.toMs) {
      return;
    }
    this.#isSelected = false;
    this.#isConverting = this.#converting === null;
    session.forEachSlice(this.#seek);
    if (this.#isSelected && this.#isConverting) this.#newest.add(startMs, actor);
  }

  readonly #seek = (segment: LoadedSegment, start: number, end: number): void => {
    const { names, paths, contexts, traffics, filterBits } = segment;
    const [actor, converting] = [this.#actor, this.#converting];
    for (let at = start; at < end; at++) {
      if (this.#isSelected && this.#isConverting) return;
      if (traffics[at] === 0) continue;
      const [name, path] = [names[at]!, paths[at]!];
      const [context, bits] = [contexts[at]!, filterBits[at]!];
      this.#isSelected ||= this.#selected.passes(name, path, context, actor, bits);
      this.#isConverting ||= converting!.passes(name, path, context, actor, bits);
    }
  };
}

export const NEWEST_VISITS: VisitorKind<NewestVisitsInputs, FoundMoments> = {
  name: "newest visits",
  create: (inputs, words) => new NewestVisitsVisitor(inputs, words),
  merge: joinMoments,
};

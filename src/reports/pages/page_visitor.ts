import { isBounce } from "../../store/bounce.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { nameBit } from "../../timelines/run_bits.ts";
import { firstDepthFrom } from "../../timelines/scroll_depths.ts";
import { ANY_RUN, type Timeline } from "../../timelines/timeline.ts";
import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW, SCROLL } from "../../reserved_terms.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { type SampleChunk, Samples } from "../../scans/medians.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import {
  addColumns,
  followRuns,
  type Visitor,
  type VisitorKind,
  zeroColumns,
} from "../../scans/visitor.ts";

/** Runs that may have scrolls. */
const SCROLLED = { ...ANY_RUN, names: nameBit(SCROLL) };

interface PageInputs {
  readonly test: EventPasses;
  readonly span: Span;
  /** From the longest pause of a session before the span to the end of the sessions that cross its end. */
  readonly reach: Span;
}

const SUMS = ["visitors", "pageviews", "entries", "bounces", "exits"] as const;

/** Counts of pages by path id; 0 stands for events without a path. */
type PageSums = Readonly<Record<typeof SUMS[number], Int32Array>>;

export interface PageCounts {
  readonly sums: PageSums;
  readonly onPageMs: readonly SampleChunk[];
  readonly depths: readonly SampleChunk[];
}

/** Follows actors through their sessions, and counts the views, entries and exits of pages. */
class PageVisitor implements Visitor<PageCounts> {
  readonly #tally: PageSums;
  readonly #onPageMs: Samples;
  readonly #depths: Samples;
  readonly #span: Span;
  readonly #test: EventTest;
  readonly #scan: SessionScan;
  readonly #visitSlice = (segment: LoadedSegment, start: number, end: number) =>
    this.#follow(segment, start, end);
  /** By path: the last actor who was counted as visitor. */
  readonly #lastActors: Int32Array;

  /** Whether the current session has a selected event. */
  #isSelected = false;
  /** The path of the last page view, whose time on page is not known yet; 0: it is not needed. */
  #openPath = 0;
  #openMs = -Infinity;

  constructor({ test, span, reach }: PageInputs, words: readonly Int32Array[]) {
    const { termMax } = test;
    this.#tally = zeroColumns(SUMS, termMax + 1);
    this.#onPageMs = new Samples(termMax);
    this.#depths = new Samples(termMax);
    this.#span = span;
    this.#test = new EventTest(test, words);
    this.#scan = new SessionScan(reach, (session) => this.#visitSession(session));
    this.#lastActors = new Int32Array(termMax + 1).fill(-1);
  }

  result(): PageCounts {
    const [onPageMs, depths] = [this.#onPageMs.chunks(), this.#depths.chunks()];
    return { sums: this.#tally, onPageMs, depths };
  }

  visit(actor: number, timeline: Timeline): void {
    this.#scan.visit(actor, timeline);
    followRuns(actor, timeline, this.#countScrolls, SCROLLED);
  }

  /** Follows a session, and counts it if it started in the span and has a selected event. */
  #visitSession(session: ScannedSession): void {
    const { startMs, lastMs, entryPath, exitPath } = session;
    this.#isSelected = false;
    this.#openPath = 0;
    session.forEachSlice(this.#visitSlice);
    if (this.#openPath !== 0) this.#onPageMs.add(this.#openPath, lastMs - this.#openMs);
    if (!this.#isSelected || startMs < this.#span.fromMs || startMs >= this.#span.toMs) return;
    const { entries, exits, bounces } = this.#tally;
    entries[entryPath]!++;
    exits[exitPath]!++;
    if (isBounce(session)) bounces[entryPath]!++;
  }

  #follow(segment: LoadedSegment, start: number, end: number): void {
    const { fromMs: baseMs, times, names, paths, contexts, traffics, filterBits } = segment;
    const { actor } = this.#scan;
    const fromTime = this.#span.fromMs - baseMs;
    const toTime = this.#span.toMs - baseMs;
    for (let at = start; at < end; at++) {
      const name = names[at]!;
      const isAttached = traffics[at] !== 0;
      // Of other events only one of the session matters that passes.
      if (name !== PAGE_VIEW && (this.#isSelected || !isAttached)) continue;
      const path = paths[at]!;
      const isSelected = this.#test.passes(name, path, contexts[at]!, actor, filterBits[at]!);
      if (isAttached && isSelected) this.#isSelected = true;
      if (name !== PAGE_VIEW) continue;
      const time = times[at]!;
      const isAsked = isSelected && time >= fromTime && time < toTime;
      if (isAsked) this.#countView(path, actor);
      if (!isAttached) continue;
      const ms = baseMs + time;
      if (this.#openPath !== 0) this.#onPageMs.add(this.#openPath, ms - this.#openMs);
      this.#openPath = isAsked ? path : 0;
      this.#openMs = ms;
    }
  }

  /** Counts the selected scrolls in the span whose depth is known. */
  readonly #countScrolls = (
    actor: number,
    segment: LoadedSegment,
    start: number,
    end: number,
  ): void => {
    const { fromMs, times, paths, contexts, depths, filterBits } = segment;
    for (let i = firstDepthFrom(depths, start); i < depths.length && depths[i]! < end; i += 2) {
      const at = depths[i]!;
      const ms = fromMs + times[at]!;
      if (ms < this.#span.fromMs || ms >= this.#span.toMs) continue;
      const path = paths[at]!;
      if (this.#test.passes(SCROLL, path, contexts[at]!, actor, filterBits[at]!)) {
        this.#depths.add(path, depths[i + 1]!);
      }
    }
  };

  #countView(path: number, actor: number): void {
    this.#tally.pageviews[path]!++;
    if (this.#lastActors[path] === actor) return;
    this.#lastActors[path] = actor;
    this.#tally.visitors[path]!++;
  }
}

export const PAGE_COUNTS: VisitorKind<PageInputs, PageCounts> = {
  name: "pages",
  create: (inputs, words) => new PageVisitor(inputs, words),
  merge: (counts, more) => ({
    sums: addColumns(counts.sums, more.sums),
    onPageMs: [...counts.onPageMs, ...more.onPageMs],
    depths: [...counts.depths, ...more.depths],
  }),
};

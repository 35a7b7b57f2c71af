import { isBounce } from "../../store/bounce.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { nameBit } from "../../timelines/run_bits.ts";
import { firstDepthFrom } from "../../timelines/scroll_depths.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { SESSION_GAP_MS } from "../../limits.ts";
import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW, RESERVED_TERM_MAX, SCROLL } from "../../reserved_terms.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { type SampleChunk, Samples } from "../../scans/medians.ts";
import { addColumns, type Visitor, type VisitorKind, zeroColumns } from "../../scans/visitor.ts";

const SCROLL_BIT = nameBit(SCROLL);

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
  readonly #reach: Span;
  readonly #test: EventTest;
  /** By path: the last actor who was counted as visitor. */
  readonly #lastActors: Int32Array;

  // The current session.
  #startMs = -Infinity;
  #lastMs = -Infinity;
  #isSelected = false;
  #views = 0;
  #customs = 0;
  #passiveViews = 0;
  #passiveCustoms = 0;
  #entryPath = 0;
  #exitPath = 0;
  /** The path of the last page view, whose time on page is not known yet; 0: it is not needed. */
  #openPath = 0;
  #openMs = -Infinity;

  constructor({ test, span, reach }: PageInputs, words: readonly Int32Array[]) {
    const { termMax } = test;
    this.#tally = zeroColumns(SUMS, termMax + 1);
    this.#onPageMs = new Samples(termMax);
    this.#depths = new Samples(termMax);
    this.#span = span;
    this.#reach = reach;
    this.#test = new EventTest(test, words);
    this.#lastActors = new Int32Array(termMax + 1).fill(-1);
  }

  result(): PageCounts {
    const [onPageMs, depths] = [this.#onPageMs.chunks(), this.#depths.chunks()];
    return { sums: this.#tally, onPageMs, depths };
  }

  visit(actor: number, timeline: Timeline): void {
    const { segments, segmentOf, starts, ends, runBits } = timeline;
    for (let i = timeline.first; i < timeline.end; i++) {
      const segment = segments[segmentOf[i]!]!;
      this.#follow(actor, segment, starts[i]!, ends[i]!);
      if ((runBits[i]! & SCROLL_BIT) !== 0) {
        this.#countScrolls(actor, segment, starts[i]!, ends[i]!);
      }
    }
    this.#endSession();
  }

  #follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const { fromMs: baseMs, times, names, paths, contexts, traffics, passives, filterBits } =
      segment;
    const hasPassives = passives.length > 0;
    const fromTime = this.#span.fromMs - baseMs;
    const toTime = this.#span.toMs - baseMs;
    const reachFromTime = this.#reach.fromMs - baseMs;
    const reachToTime = this.#reach.toMs - baseMs;
    if (times[end - 1]! < reachFromTime) return;
    for (let at = start; at < end; at++) {
      const time = times[at]!;
      if (time < reachFromTime) continue;
      if (time >= reachToTime) return;
      const name = names[at]!;
      const path = paths[at]!;
      const isAttached = traffics[at] !== 0;
      if (isAttached) {
        this.#reachSession(baseMs + time, path);
        if (hasPassives && passives[at] === 1) this.#countPassive(name);
      }
      if (name === PAGE_VIEW) {
        const isSelected = this.#test.passes(name, path, contexts[at]!, actor, filterBits[at]!);
        const isAsked = isSelected && time >= fromTime && time < toTime;
        if (isAsked) this.#countView(path, actor);
        if (!isAttached) continue;
        if (isSelected) this.#isSelected = true;
        this.#extendByView(baseMs + time, path, isAsked);
      } else if (isAttached) {
        if (!this.#isSelected) {
          this.#isSelected = this.#test.passes(name, path, contexts[at]!, actor, filterBits[at]!);
        }
        if (name > RESERVED_TERM_MAX) this.#customs++;
        if (this.#views === 0) this.#exitPath = path;
      }
    }
  }

  /** Counts the selected scrolls in the span whose depth is known. */
  #countScrolls(actor: number, segment: LoadedSegment, start: number, end: number): void {
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
  }

  #countView(path: number, actor: number): void {
    this.#tally.pageviews[path]!++;
    if (this.#lastActors[path] === actor) return;
    this.#lastActors[path] = actor;
    this.#tally.visitors[path]!++;
  }

  /** Extends the current session by an event, or begins the next one with it. */
  #reachSession(ms: number, path: number): void {
    if (ms - this.#lastMs > SESSION_GAP_MS) {
      this.#endSession();
      this.#startMs = ms;
      this.#entryPath = path;
    }
    this.#lastMs = ms;
  }

  #extendByView(ms: number, path: number, isAsked: boolean): void {
    if (this.#openPath !== 0) this.#onPageMs.add(this.#openPath, ms - this.#openMs);
    this.#openPath = isAsked ? path : 0;
    this.#openMs = ms;
    // Page views determine the entry and exit; other events only in a session without page views.
    if (this.#views++ === 0) this.#entryPath = path;
    this.#exitPath = path;
  }

  #countPassive(name: number): void {
    if (name === PAGE_VIEW) this.#passiveViews++;
    else if (name > RESERVED_TERM_MAX) this.#passiveCustoms++;
  }

  #isBounce(): boolean {
    const [views, customs] = [this.#views, this.#customs];
    const [passiveViews, passiveCustoms] = [this.#passiveViews, this.#passiveCustoms];
    return isBounce({ views, customs, passiveViews, passiveCustoms });
  }

  /** Ends the current session, and counts it if it started in the span and has a selected event. */
  #endSession(): void {
    const tally = this.#tally;
    if (this.#openPath !== 0) this.#onPageMs.add(this.#openPath, this.#lastMs - this.#openMs);
    const startsInSpan = this.#startMs >= this.#span.fromMs && this.#startMs < this.#span.toMs;
    if (startsInSpan && this.#isSelected) {
      tally.entries[this.#entryPath]!++;
      tally.exits[this.#exitPath]!++;
      if (this.#isBounce()) tally.bounces[this.#entryPath]!++;
    }
    this.#startMs = -Infinity;
    this.#lastMs = -Infinity;
    this.#isSelected = false;
    this.#views = 0;
    this.#customs = 0;
    this.#passiveViews = 0;
    this.#passiveCustoms = 0;
    this.#openPath = 0;
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

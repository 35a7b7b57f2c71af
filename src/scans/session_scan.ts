import type { Timeline } from "../timelines/timeline.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import type { Span } from "../query/selection.ts";
import { PAGE_VIEW, RESERVED_TERM_MAX } from "../query/terms.ts";

/** Events of a segment that lie side by side: from `start` to before `end`. `place`: of the segment among all. */
export type VisitSlice = (
  segment: LoadedSegment,
  start: number,
  end: number,
  place: number,
) => void;

/**
 * A session of an actor, as far as it lies in the reach of the scan, and the events up to the next
 * one. Those that are in no session (traffic 0) lie among them; who has no session at all has one of
 * traffic 0. Used again for the next session: copy what is kept.
 */
export interface ScannedSession {
  readonly actor: number;
  /** When its first and its last event were. */
  readonly startMs: number;
  readonly lastMs: number;
  /** Page views, and events that are neither page view, click nor scroll. */
  readonly views: number;
  readonly customs: number;
  /** Of both, those that undo no bounce. */
  readonly passiveViews: number;
  readonly passiveCustoms: number;
  /** Of the first page view, and the path of the last one; where there is none, of the first and the last event. */
  readonly entryPath: number;
  readonly exitPath: number;
  readonly traffic: number;
  readonly context: number;
  /** Whether events that are in no session lie among its own, before or behind them. */
  readonly hasOthers: boolean;
  /** Visits its events, and those others, in order. */
  forEachSlice(visit: VisitSlice): void;
}

/** Follows actors through their sessions, each of which is visited once it is over. */
export class SessionScan implements ScannedSession {
  readonly #reach: Span;
  readonly #visitSession: (session: ScannedSession) => void;

  actor = 0;
  startMs = Infinity;
  lastMs = -Infinity;
  views = 0;
  customs = 0;
  passiveViews = 0;
  passiveCustoms = 0;
  entryPath = 0;
  exitPath = 0;
  traffic = 0;
  context = 0;
  hasOthers = false;

  /** The events looked at: from one of a slice to before one of the same or a later slice. */
  #timeline: Timeline | null = null;
  #fromSlice = 0;
  #from = 0;
  #toSlice = 0;
  #to = 0;

  /** `reach`: what lies outside is passed over. Sessions that are asked for must lie in it whole. */
  constructor(reach: Span, visitSession: (session: ScannedSession) => void) {
    this.#reach = reach;
    this.#visitSession = visitSession;
  }

  /** Visits the sessions of an actor, in order. */
  visit(actor: number, timeline: Timeline): void {
    this.actor = actor;
    this.#timeline = timeline;
    let hasBegun = false;
    for (let i = timeline.first; i < timeline.end; i++) {
      const segment = timeline.segments[timeline.segmentOf[i]!]!;
      const { fromMs, times } = segment;
      const fromTime = this.#reach.fromMs - fromMs;
      const toTime = this.#reach.toMs - fromMs;
      let start = timeline.starts[i]!;
      let end = timeline.ends[i]!;
      if (times[start]! >= toTime) break;
      if (times[end - 1]! < fromTime) continue;
      while (times[start]! < fromTime) start++;
      while (end > start && times[end - 1]! >= toTime) end--;
      if (start === end) break;
      if (!hasBegun) this.#begin(i, start);
      hasBegun = true;
      this.#follow(segment, i, start, end);
      this.#toSlice = i;
      this.#to = end;
    }
    if (hasBegun) this.#visitSession(this);
  }

  forEachSlice(visit: VisitSlice): void {
    const { segments, segmentOf, starts, ends } = this.#timeline!;
    for (let i = this.#fromSlice; i <= this.#toSlice; i++) {
      const start = i === this.#fromSlice ? this.#from : starts[i]!;
      const end = i === this.#toSlice ? this.#to : ends[i]!;
      if (start < end) visit(segments[segmentOf[i]!]!, start, end, segmentOf[i]!);
    }
  }

  #follow(segment: LoadedSegment, slice: number, start: number, end: number): void {
    const { fromMs: baseMs, times, names, traffics, passives } = segment;
    const hasPassives = passives.length > 0;
    let lastTime = this.lastMs - baseMs;
    let { views, customs } = this;
    // Which events tell what is known of the session from its first and its last one; -1: earlier ones.
    let entry = -1;
    let exit = -1;
    for (let at = start; at < end; at++) {
      if (traffics[at] === 0) {
        this.hasOthers = true;
        continue;
      }
      const time = times[at]!;
      if (time - lastTime > SESSION_GAP_MS) {
        this.#tell(segment, entry, exit, baseMs + lastTime, views, customs);
        this.#open(slice, at, baseMs + time);
        views = 0;
        customs = 0;
        entry = at;
      }
      lastTime = time;
      const name = names[at]!;
      if (hasPassives && passives[at] === 1) this.#countPassive(name);
      if (name === PAGE_VIEW) {
        // Only of a session without page views it is the first and the last event of any name.
        if (views++ === 0) entry = at;
        exit = at;
      } else {
        if (name > RESERVED_TERM_MAX) customs++;
        if (views === 0) exit = at;
      }
    }
    this.#tell(segment, entry, exit, baseMs + lastTime, views, customs);
  }

  #countPassive(name: number): void {
    if (name === PAGE_VIEW) this.passiveViews++;
    else if (name > RESERVED_TERM_MAX) this.passiveCustoms++;
  }

  #tell(
    { paths, traffics, contexts }: LoadedSegment,
    entry: number,
    exit: number,
    lastMs: number,
    views: number,
    customs: number,
  ): void {
    this.lastMs = lastMs;
    this.views = views;
    this.customs = customs;
    if (exit >= 0) this.exitPath = paths[exit]!;
    if (entry < 0) return;
    this.entryPath = paths[entry]!;
    this.traffic = traffics[entry]!;
    this.context = contexts[entry]!;
  }

  /** A session starts here: what there was before it is over. */
  #open(slice: number, at: number, ms: number): void {
    // What precedes the first session goes with it.
    if (this.startMs !== Infinity) {
      this.#toSlice = slice;
      this.#to = at;
      this.#visitSession(this);
      this.#begin(slice, at);
    }
    this.startMs = ms;
  }

  #begin(slice: number, at: number): void {
    this.#fromSlice = slice;
    this.#from = at;
    this.startMs = Infinity;
    this.lastMs = -Infinity;
    this.views = 0;
    this.customs = 0;
    this.passiveViews = 0;
    this.passiveCustoms = 0;
    this.entryPath = 0;
    this.exitPath = 0;
    this.traffic = 0;
    this.context = 0;
    this.hasOthers = false;
  }
}

import type { SessionCounts } from "../store/bounce.ts";
import type { Timeline } from "../timelines/timeline.ts";
import type { LoadedSegment } from "../timelines/loaded_segment.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import type { Span } from "../query/selection.ts";
import { PAGE_VIEW, RESERVED_TERM_MAX } from "../reserved_terms.ts";

/**
 * Visits adjacent events of a segment, from `start` to before `end`; `place` is the place of the segment
 * among all.
 */
type VisitSlice = (
  segment: LoadedSegment,
  start: number,
  end: number,
  place: number,
) => void;

/**
 * A session of an actor within the reach of the scan, with the events up to the next session. Events in no
 * session (traffic 0) may lie among them; the events of an actor without any session come as one of traffic
 * 0. The object is reused for the next session: copy what must be kept.
 */
export type ScannedSession = Readonly<Omit<SessionScan, "visit">>;

/** Cuts timelines into sessions, and visits each session after its last event. */
export class SessionScan implements SessionCounts {
  actor = 0;
  /** When its first and its last event were. */
  startMs = Infinity;
  lastMs = -Infinity;
  views = 0;
  customs = 0;
  passiveViews = 0;
  passiveCustoms = 0;
  /** The paths of the first and the last page view; without any, those of the first and the last event. */
  entryPath = 0;
  exitPath = 0;
  traffic = 0;
  context = 0;
  /** Whether there are events in no session before, among or after those of the session. */
  hasOthers = false;

  /** The current session's events: from event `#from` of slice `#fromSlice` to before `#to` of `#toSlice`. */
  #timeline: Timeline | null = null;
  #fromSlice = 0;
  #from = 0;
  #toSlice = 0;
  #to = 0;

  /** @param reach events outside of it are skipped: it must hold the wanted sessions whole */
  constructor(
    private readonly reach: Span,
    private readonly visitSession: (session: ScannedSession) => void,
  ) {}

  /** Visits the sessions of an actor, in order. */
  visit(actor: number, timeline: Timeline): void {
    this.actor = actor;
    this.#timeline = timeline;
    let hasBegun = false;
    for (let i = timeline.first; i < timeline.end; i++) {
      const segment = timeline.segments[timeline.segmentOf[i]!]!;
      const { fromMs, times } = segment;
      const fromTime = this.reach.fromMs - fromMs;
      const toTime = this.reach.toMs - fromMs;
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
    if (hasBegun) this.visitSession(this);
  }

  /** Visits the session's events, and those in no session, in order. */
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
    // The places of the session's entry and exit in this slice; -1: they are in an earlier slice.
    let entry = -1;
    let exit = -1;
    for (let at = start; at < end; at++) {
      if (traffics[at] === 0) {
        this.hasOthers = true;
        continue;
      }
      const time = times[at]!;
      if (time - lastTime > SESSION_GAP_MS) {
        this.#set(segment, entry, exit, baseMs + lastTime, views, customs);
        this.#open(slice, at, baseMs + time);
        views = 0;
        customs = 0;
        entry = at;
      }
      lastTime = time;
      const name = names[at]!;
      if (hasPassives && passives[at] === 1) this.#countPassive(name);
      if (name === PAGE_VIEW) {
        // The first page view replaces the first event of another name as the entry.
        if (views++ === 0) entry = at;
        exit = at;
      } else {
        if (name > RESERVED_TERM_MAX) customs++;
        if (views === 0) exit = at;
      }
    }
    this.#set(segment, entry, exit, baseMs + lastTime, views, customs);
  }

  #countPassive(name: number): void {
    if (name === PAGE_VIEW) this.passiveViews++;
    else if (name > RESERVED_TERM_MAX) this.passiveCustoms++;
  }

  #set(
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

  /** Ends the previous session, if any, and starts one at this event. */
  #open(slice: number, at: number, ms: number): void {
    // Events before the first session belong to its slices.
    if (this.startMs !== Infinity) {
      this.#toSlice = slice;
      this.#to = at;
      this.visitSession(this);
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

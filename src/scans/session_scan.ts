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
 * session (traffic 0) may lie among them; the events of an actor without any session come as one without own
 * events. The object is reused for the next session: copy what must be kept.
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
  /** Whether there are events in no session before, among or after those of the session. */
  hasOthers = false;

  /** The current session's events: from event `#from` of slice `#fromSlice` to before `#to` of `#toSlice`. */
  #timeline: Timeline | null = null;
  #fromSlice = 0;
  #from = 0;
  #toSlice = 0;
  #to = 0;
  /** Where its entry is, once it is asked for. */
  #entrySegment: LoadedSegment | null = null;
  #entry = 0;
  /** The path of its exit, once it is asked for; -1 before. */
  #exitPath = -1;

  /** @param reach events outside of it are skipped: it must hold the wanted sessions as far as they are looked at */
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

  /** Whether it has events: not so of an actor without any session. */
  get hasOwn(): boolean {
    return this.startMs !== Infinity;
  }

  /** The path of the first page view; without any, that of the first event. */
  get entryPath(): number {
    return this.#findEntry()?.paths[this.#entry] ?? 0;
  }

  get traffic(): number {
    return this.#findEntry()?.traffics[this.#entry] ?? 0;
  }

  get context(): number {
    return this.#findEntry()?.contexts[this.#entry] ?? 0;
  }

  /** The path of the last page view; without any, that of the last event. */
  get exitPath(): number {
    if (this.#exitPath < 0) this.#exitPath = this.#findExit();
    return this.#exitPath;
  }

  #findExit(): number {
    if (!this.hasOwn) return 0;
    const { segments, segmentOf, starts, ends } = this.#timeline!;
    for (let i = this.#toSlice; i >= this.#fromSlice; i--) {
      const { names, paths, traffics } = segments[segmentOf[i]!]!;
      const start = i === this.#fromSlice ? this.#from : starts[i]!;
      for (let at = (i === this.#toSlice ? this.#to : ends[i]!) - 1; at >= start; at--) {
        if (traffics[at] !== 0 && (this.views === 0 || names[at] === PAGE_VIEW)) return paths[at]!;
      }
    }
    return 0;
  }

  /** Finds it only for visitors that ask: noting entries and exits of all sessions makes cutting take 1.5 times as long. */
  #findEntry(): LoadedSegment | null {
    if (this.#entrySegment !== null || !this.hasOwn) return this.#entrySegment;
    const { segments, segmentOf, starts, ends } = this.#timeline!;
    for (let i = this.#fromSlice; i <= this.#toSlice; i++) {
      const segment = segments[segmentOf[i]!]!;
      const { names, traffics } = segment;
      const end = i === this.#toSlice ? this.#to : ends[i]!;
      for (let at = i === this.#fromSlice ? this.#from : starts[i]!; at < end; at++) {
        if (traffics[at] === 0 || this.views > 0 && names[at] !== PAGE_VIEW) continue;
        this.#entry = at;
        return this.#entrySegment = segment;
      }
    }
    return null;
  }

  #follow(segment: LoadedSegment, slice: number, start: number, end: number): void {
    const { fromMs: baseMs, times, names, traffics, passives } = segment;
    const hasPassives = passives.length > 0;
    let lastTime = this.lastMs - baseMs;
    let { views, customs } = this;
    for (let at = start; at < end; at++) {
      if (traffics[at] === 0) {
        this.hasOthers = true;
        continue;
      }
      const time = times[at]!;
      if (time - lastTime > SESSION_GAP_MS) {
        this.lastMs = baseMs + lastTime;
        this.views = views;
        this.customs = customs;
        this.#open(slice, at, baseMs + time);
        views = 0;
        customs = 0;
      }
      lastTime = time;
      const name = names[at]!;
      if (hasPassives && passives[at] === 1) this.#countPassive(name);
      views += Number(name === PAGE_VIEW);
      customs += Number(name > RESERVED_TERM_MAX);
    }
    this.lastMs = baseMs + lastTime;
    this.views = views;
    this.customs = customs;
  }

  #countPassive(name: number): void {
    if (name === PAGE_VIEW) this.passiveViews++;
    else if (name > RESERVED_TERM_MAX) this.passiveCustoms++;
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
    this.#entrySegment = null;
    this.#exitPath = -1;
    this.hasOthers = false;
  }
}

import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { isBounce } from "../../store/bounce.ts";
import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW } from "../../query/terms.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { type SampleChunk, Samples } from "../../scans/medians.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import { type SessionPasses, SessionTest } from "../../scans/session_test.ts";
import { SpanFinder } from "../../scans/span_finder.ts";
import { addTo, type Visitor, type VisitorKind } from "../../scans/visitor.ts";
import { type Behind, BehindTally, joinBehind } from "../behind/behind_tally.ts";
import {
  joinPairs,
  NewcomerFinder,
  type NewcomerInputs,
  type Pairs,
} from "../visitors/newcomers.ts";

/** Figures of which it can be told whom they count: new visitors by their first event, bounces by their start. */
export const TOLD_KPIS = ["newVisitors", "bounces"] as const;
export type ToldKpi = typeof TOLD_KPIS[number];

interface Inputs {
  readonly buckets: readonly Span[];
  readonly reach: Span;
  readonly events: EventPasses;
  readonly sessions: SessionPasses;
  readonly newcomers: NewcomerInputs;
  /** Whom it is told of; null: nobody. */
  readonly told: ToldKpi | null;
}

/** By place: of all that the buckets hold, then of each; what lies in none comes last. */
export interface KpiCounts {
  readonly visitors: Int32Array;
  readonly events: Int32Array;
  readonly pageviews: Int32Array;
  readonly sessions: Int32Array;
  readonly bounces: Int32Array;
  readonly durationsMs: Float64Array;
  readonly durations: readonly SampleChunk[];
  /** Actors who may be new, and the places that they count at then. */
  readonly newcomers: Pairs;
  /** Those of the figure that is told; of new visitors all who may be new. */
  readonly behind: Behind;
}

/** The place of everything together; those of the buckets follow. */
export const WHOLE = 0;

/** Follows actors through their sessions, and counts what is selected in each bucket, and in all. */
class KpiVisitor implements Visitor<KpiCounts> {
  readonly #buckets: SpanFinder;
  /** The place of what lies in no bucket. */
  readonly #outside: number;
  readonly #events: EventTest;
  readonly #sessions: SessionTest;
  readonly #scan: SessionScan;
  readonly #visitSlice = (segment: LoadedSegment, start: number, end: number) =>
    this.#select(segment, start, end);

  readonly #newcomers: NewcomerFinder;
  readonly #tally;
  readonly #durations: Samples;
  readonly #told: ToldKpi | null;
  readonly #behind = new BehindTally();
  /** The last actor with something selected in each bucket. */
  readonly #lastActors: Int32Array;

  /** The actor under way, and what is selected of the session. */
  #actor = -1;
  #takesOwn = false;
  #takesOthers = false;
  #isSelected = false;
  /** The bucket under way, and what was selected there since it was entered. */
  #bucket: number;
  #fromMs = -Infinity;
  #toMs: number;
  #selected = 0;
  #views = 0;

  constructor(inputs: Inputs, words: readonly Int32Array[]) {
    const { buckets, reach } = inputs;
    this.#buckets = new SpanFinder(buckets);
    const outside = buckets.length + 1;
    this.#outside = outside;
    this.#events = new EventTest(inputs.events, words);
    this.#sessions = new SessionTest(inputs.sessions);
    this.#newcomers = new NewcomerFinder(inputs.newcomers);
    this.#told = inputs.told;
    this.#scan = new SessionScan(reach, (session) => this.#visitSession(session));
    const counts = () => new Int32Array(outside + 1);
    this.#tally = {
      visitors: counts(),
      events: counts(),
      pageviews: counts(),
      sessions: counts(),
      bounces: counts(),
      durationsMs: new Float64Array(outside + 1),
    };
    this.#durations = new Samples(outside);
    this.#lastActors = counts().fill(-1);
    this.#bucket = outside;
    this.#toMs = this.#buckets.fromMs;
  }

  visit(actor: number, timeline: Timeline): void {
    if (!this.#isAsked(actor, timeline)) return;
    this.#actor = actor;
    this.#scan.visit(actor, timeline);
    this.#leaveBucket();
    const lastActors = this.#lastActors;
    if (lastActors[WHOLE] !== actor) return;
    const firstMs = this.#newcomers.firstMs(timeline);
    if (firstMs === null) return;
    this.#newcomers.add(actor, WHOLE);
    if (this.#told === "newVisitors") this.#behind.add(actor, firstMs);
    const bucket = this.#placeOf(this.#buckets.at(firstMs));
    if (lastActors[bucket] === actor) this.#newcomers.add(actor, bucket);
  }

  /** Whether any event is selected, at whatever time: most actors need not be followed. */
  #isAsked(actor: number, timeline: Timeline): boolean {
    const test = this.#events;
    if (test.actors !== null && test.actors[actor] !== 1) return false;
    const { segments, segmentOf, starts, ends } = timeline;
    for (let i = timeline.first; i < timeline.end; i++) {
      const { names, paths, contexts, filterBits } = segments[segmentOf[i]!]!;
      const end = ends[i]!;
      for (let at = starts[i]!; at < end; at++) {
        if (test.passes(names[at]!, paths[at]!, contexts[at]!, actor, filterBits[at]!)) return true;
      }
    }
    return false;
  }

  #visitSession(session: ScannedSession): void {
    const { traffic, entryPath, exitPath, startMs, lastMs, hasOthers } = session;
    const { fromMs, toMs } = this.#buckets;
    this.#takesOwn = traffic !== 0 && this.#sessions.passes(traffic, entryPath, exitPath);
    this.#takesOthers = hasOthers && this.#sessions.passesNone;
    const isInSpan = this.#takesOwn && lastMs >= fromMs && startMs < toMs;
    if (!isInSpan && !this.#takesOthers) return;
    this.#isSelected = false;
    session.forEachSlice(this.#visitSlice);
    // It counts where it starts, whole, if it holds a selected event.
    if (isInSpan && this.#isSelected && startMs >= fromMs) this.#countSession(session);
  }

  /** Counts the selected events among these. */
  #select(
    { fromMs: baseMs, times, names, paths, contexts, traffics, filterBits }: LoadedSegment,
    start: number,
    end: number,
  ): void {
    const test = this.#events;
    const actor = this.#actor;
    const [takesOwn, takesOthers] = [this.#takesOwn, this.#takesOthers];
    let fromTime = this.#fromMs - baseMs;
    let toTime = this.#toMs - baseMs;
    for (let at = start; at < end; at++) {
      const isOwn = traffics[at] !== 0;
      if (isOwn ? !takesOwn : !takesOthers) continue;
      const name = names[at]!;
      if (!test.passes(name, paths[at]!, contexts[at]!, actor, filterBits[at]!)) continue;
      if (isOwn) this.#isSelected = true;
      const time = times[at]!;
      if (time < fromTime || time >= toTime) {
        this.#leaveBucket();
        this.#enterBucket(baseMs + time);
        fromTime = this.#fromMs - baseMs;
        toTime = this.#toMs - baseMs;
      }
      this.#selected++;
      if (name === PAGE_VIEW) this.#views++;
    }
  }

  #enterBucket(ms: number): void {
    const bucket = this.#buckets.at(ms);
    this.#bucket = this.#placeOf(bucket);
    this.#fromMs = this.#buckets.fromMsOf(bucket);
    this.#toMs = this.#buckets.toMsOf(bucket);
  }

  /** The place of a bucket as the finder counts them. */
  #placeOf(bucket: number): number {
    return bucket < 0 ? this.#outside : bucket + 1;
  }

  /** Counts what was selected in the bucket since it was entered. */
  #leaveBucket(): void {
    if (this.#selected === 0) return;
    const bucket = this.#bucket;
    this.#tally.events[bucket]! += this.#selected;
    this.#tally.pageviews[bucket]! += this.#views;
    this.#selected = 0;
    this.#views = 0;
    this.#countVisitor(bucket);
    if (bucket === this.#outside) return;
    this.#countVisitor(WHOLE);
  }

  #countVisitor(bucket: number): void {
    if (this.#lastActors[bucket] === this.#actor) return;
    this.#lastActors[bucket] = this.#actor;
    this.#tally.visitors[bucket]!++;
  }

  #countSession(session: ScannedSession): void {
    const bucket = this.#placeOf(this.#buckets.at(session.startMs));
    const durationMs = session.lastMs - session.startMs;
    const tally = this.#tally;
    tally.sessions[bucket]!++;
    tally.durationsMs[bucket]! += durationMs;
    if (isBounce(session)) {
      tally.bounces[bucket]!++;
      if (this.#told === "bounces") this.#behind.add(session.actor, session.startMs);
    }
    this.#durations.add(bucket, durationMs);
  }

  result(): KpiCounts {
    return {
      ...this.#tally,
      durations: this.#durations.chunks(),
      newcomers: this.#newcomers.found(),
      behind: this.#behind.all(),
    };
  }
}

export const KPI_COUNTS: VisitorKind<Inputs, KpiCounts> = {
  name: "kpis",
  create: (inputs, words) => new KpiVisitor(inputs, words),
  merge: (counts, more) => ({
    visitors: addTo(counts.visitors, more.visitors),
    events: addTo(counts.events, more.events),
    pageviews: addTo(counts.pageviews, more.pageviews),
    sessions: addTo(counts.sessions, more.sessions),
    bounces: addTo(counts.bounces, more.bounces),
    durationsMs: addTo(counts.durationsMs, more.durationsMs),
    durations: [...counts.durations, ...more.durations],
    newcomers: joinPairs(counts.newcomers, more.newcomers),
    behind: joinBehind(counts.behind, more.behind),
  }),
};

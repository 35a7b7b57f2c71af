import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { isBounce } from "../../store/bounce.ts";
import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW } from "../../reserved_terms.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { type SampleChunk, Samples } from "../../scans/medians.ts";
import { type ScannedSession, SessionScan } from "../../scans/session_scan.ts";
import { passesSession, type SessionPasses } from "../../scans/session_test.ts";
import { SpanFinder } from "../../scans/span_finder.ts";
import {
  addColumns,
  joinColumns,
  type Visitor,
  type VisitorKind,
  zeroColumns,
} from "../../scans/visitor.ts";
import { type Behind, BehindTally } from "../behind/behind_tally.ts";
import { NewcomerFinder, type NewcomerInputs, type Pairs } from "../visitors/newcomers.ts";

/** Figures whose actors can be listed: new visitors at their first event, bounces at their start. */
export const LISTED_KPIS = ["newVisitors", "bounces"] as const;
export type ListedKpi = typeof LISTED_KPIS[number];

interface KpiInputs {
  readonly buckets: readonly Span[];
  readonly reach: Span;
  readonly events: EventPasses;
  readonly sessions: SessionPasses;
  readonly newcomers: NewcomerInputs;
  /** The figure whose actors are listed; null: none. */
  readonly listed: ListedKpi | null;
}

const SUMS = ["visitors", "events", "pageviews", "sessions", "bounces"] as const;

/** Counts by place: all buckets together, then each bucket, then everything outside the buckets. */
interface KpiSums extends Readonly<Record<typeof SUMS[number], Int32Array>> {
  readonly durationsMs: Float64Array;
}

interface KpiCounts {
  readonly sums: KpiSums;
  readonly durations: readonly SampleChunk[];
  /** Actors who may be new, and the places at which they then count. */
  readonly newcomers: Pairs;
  /** The people that the listed figure counts; for new visitors, all who may be new. */
  readonly behind: Behind;
}

/** The place of all buckets together; the places of the buckets follow. */
export const WHOLE = 0;

/** Follows actors through their sessions, and counts the selected events and sessions by bucket. */
class KpiVisitor implements Visitor<KpiCounts> {
  readonly #buckets: SpanFinder;
  /** The place of everything outside the buckets. */
  readonly #outside: number;
  readonly #events: EventTest;
  readonly #scan: SessionScan;
  readonly #newcomers: NewcomerFinder;
  readonly #tally: KpiSums;
  readonly #durations: Samples;
  readonly #behind = new BehindTally();
  /** By place: the last actor who was counted as visitor. */
  readonly #lastActors: Int32Array;

  #actor = -1;
  /** Whether events of the current session are taken, and events among them that are in no session. */
  #takesOwn = false;
  #takesOthers = false;
  /** Whether the current session has a selected event. */
  #isSelected = false;
  /** The place of the current bucket, its span, and what was selected since it was entered. */
  #bucket: number;
  #fromMs = -Infinity;
  #toMs: number;
  #selected = 0;
  #views = 0;

  constructor(private readonly inputs: KpiInputs, words: readonly Int32Array[]) {
    const { buckets, reach } = inputs;
    this.#buckets = new SpanFinder(buckets);
    const outside = buckets.length + 1;
    this.#outside = outside;
    this.#events = new EventTest(inputs.events, words);
    this.#newcomers = new NewcomerFinder(inputs.newcomers);
    this.#scan = new SessionScan(reach, (session) => this.#visitSession(session));
    const places = outside + 1;
    this.#tally = { ...zeroColumns(SUMS, places), durationsMs: new Float64Array(places) };
    this.#durations = new Samples(outside);
    this.#lastActors = new Int32Array(places).fill(-1);
    this.#bucket = outside;
    this.#toMs = this.#buckets.fromMs;
  }

  visit(actor: number, timeline: Timeline): void {
    this.#actor = actor;
    this.#scan.visit(actor, timeline);
    this.#leaveBucket();
    const lastActors = this.#lastActors;
    if (lastActors[WHOLE] !== actor) return;
    const firstMs = this.#newcomers.firstMs(timeline);
    if (firstMs === null) return;
    this.#newcomers.add(actor, WHOLE);
    if (this.inputs.listed === "newVisitors") this.#behind.add(actor, firstMs);
    const bucket = this.#placeOf(this.#buckets.at(firstMs));
    if (lastActors[bucket] === actor) this.#newcomers.add(actor, bucket);
  }

  #visitSession(session: ScannedSession): void {
    const { startMs, lastMs, hasOthers } = session;
    const { fromMs, toMs } = this.#buckets;
    const { sessions } = this.inputs;
    this.#takesOwn = passesSession(sessions, session);
    this.#takesOthers = hasOthers && sessions.passesNone;
    const isInSpan = this.#takesOwn && lastMs >= fromMs && startMs < toMs;
    if (!isInSpan && !this.#takesOthers) return;
    this.#isSelected = false;
    session.forEachSlice(this.#select);
    // A session with a selected event counts as a whole, in the bucket where it starts.
    if (isInSpan && this.#isSelected && startMs >= fromMs) this.#countSession(session);
  }

  /** Counts the selected events of a slice. */
  readonly #select = (segment: LoadedSegment, start: number, end: number): void => {
    const { fromMs: baseMs, times, names, paths, contexts, traffics, filterBits } = segment;
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
  };

  #enterBucket(ms: number): void {
    const bucket = this.#buckets.at(ms);
    this.#bucket = this.#placeOf(bucket);
    this.#fromMs = this.#buckets.fromMsOf(bucket);
    this.#toMs = this.#buckets.toMsOf(bucket);
  }

  /** Returns the place of a bucket by the finder's number; -1: no bucket. */
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
      if (this.inputs.listed === "bounces") this.#behind.add(session.actor, session.startMs);
    }
    this.#durations.add(bucket, durationMs);
  }

  result(): KpiCounts {
    return {
      sums: this.#tally,
      durations: this.#durations.chunks(),
      newcomers: this.#newcomers.found(),
      behind: this.#behind.all(),
    };
  }
}

export const KPI_COUNTS: VisitorKind<KpiInputs, KpiCounts> = {
  name: "kpis",
  create: (inputs, words) => new KpiVisitor(inputs, words),
  merge: (counts, more) => ({
    sums: addColumns(counts.sums, more.sums),
    durations: [...counts.durations, ...more.durations],
    newcomers: joinColumns(counts.newcomers, more.newcomers),
    behind: joinColumns(counts.behind, more.behind),
  }),
};

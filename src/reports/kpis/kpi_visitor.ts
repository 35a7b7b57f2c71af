import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { Timeline } from "../../timelines/timeline.ts";
import { SESSION_GAP_MS } from "../../limits.ts";
import { isBounceOf } from "../../store/bounce.ts";
import type { Span } from "../../query/selection.ts";
import { PAGE_VIEW, RESERVED_TERM_MAX } from "../../reserved_terms.ts";
import { type EventPasses, EventTest } from "../../scans/event_test.ts";
import { type SampleChunk, Samples } from "../../scans/medians.ts";
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

/**
 * Cuts actors' events into sessions, and counts the selected events and the sessions with such an event by bucket, in a
 * single pass: a second one over the events of each session takes 1.4 times as long in all.
 */
class KpiVisitor implements Visitor<KpiCounts> {
  readonly #buckets: SpanFinder;
  /** The place of everything outside the buckets. */
  readonly #outside: number;
  readonly #events: EventTest;
  readonly #newcomers: NewcomerFinder;
  readonly #tally: KpiSums;
  readonly #durations: Samples;
  readonly #behind = new BehindTally();
  /** By place: the last actor who was counted as visitor. */
  readonly #lastActors: Int32Array;

  #actor = -1;
  /** The place of the current bucket, its span, and what was selected since it was entered. */
  #bucket: number;
  #fromMs = -Infinity;
  #toMs: number;
  #selected = 0;
  #views = 0;

  constructor(private readonly inputs: KpiInputs, words: readonly Int32Array[]) {
    const { buckets } = inputs;
    this.#buckets = new SpanFinder(buckets);
    const outside = buckets.length + 1;
    this.#outside = outside;
    this.#events = new EventTest(inputs.events, words);
    this.#newcomers = new NewcomerFinder(inputs.newcomers);
    const places = outside + 1;
    this.#tally = { ...zeroColumns(SUMS, places), durationsMs: new Float64Array(places) };
    this.#durations = new Samples(outside);
    this.#lastActors = new Int32Array(places).fill(-1);
    this.#bucket = outside;
    this.#toMs = this.#buckets.fromMs;
  }

  visit(actor: number, timeline: Timeline, whole: Timeline): void {
    this.#actor = actor;
    const { first, end, segments, segmentOf, starts, ends } = timeline;
    this.#follow(first, end, segments, segmentOf, starts, ends);
    this.#leaveBucket();
    const lastActors = this.#lastActors;
    if (lastActors[WHOLE] !== actor) return;
    const firstMs = this.#newcomers.firstMs(whole);
    if (firstMs === null) return;
    this.#newcomers.add(actor, WHOLE);
    if (this.inputs.listed === "newVisitors") this.#behind.add(actor, firstMs);
    const bucket = this.#placeOf(this.#buckets.at(firstMs));
    if (lastActors[bucket] === actor) this.#newcomers.add(actor, bucket);
  }

  /** Not with the timeline as an object: when one of another class came, the loop would have to be compiled anew. */
  #follow(
    first: number,
    last: number,
    segments: readonly LoadedSegment[],
    segmentOf: Int32Array,
    starts: Int32Array,
    ends: Int32Array,
  ): void {
    const test = this.#events;
    const actor = this.#actor;
    const { reach } = this.inputs;
    let [startMs, lastMs] = [NaN, -Infinity];
    /** The current session's page views and custom events, without passive ones, and whether an event is selected. */
    let [viewsIn, customsIn, isSelected] = [0, 0, false];
    for (let i = first; i < last; i++) {
      const segment = segments[segmentOf[i]!]!;
      const { fromMs: baseMs, times, names, paths, contexts, traffics, passives, filterBits } =
        segment;
      const hasPassives = passives.length > 0;
      const [fromReach, toReach] = [reach.fromMs - baseMs, reach.toMs - baseMs];
      if (times[starts[i]!]! >= toReach) break;
      if (times[ends[i]! - 1]! < fromReach) continue;
      let [fromTime, toTime] = [this.#fromMs - baseMs, this.#toMs - baseMs];
      let lastTime = lastMs - baseMs;
      let [selected, views] = [0, 0];
      for (let at = starts[i]!, end = ends[i]!; at < end; at++) {
        const time = times[at]!;
        if (time < fromReach || time >= toReach) continue;
        const name = names[at]!;
        const isView = Number(name === PAGE_VIEW);
        // What has no traffic is in no session.
        const isOwn = traffics[at] !== 0;
        if (isOwn) {
          if (time - lastTime > SESSION_GAP_MS) {
            if (isSelected) this.#countSession(startMs, baseMs + lastTime, viewsIn, customsIn);
            startMs = baseMs + time;
            viewsIn = customsIn = 0;
            isSelected = false;
          }
          lastTime = time;
          if (!hasPassives || passives[at] === 0) {
            viewsIn += isView;
            customsIn += Number(name > RESERVED_TERM_MAX);
          }
        }
        if (!test.passes(name, paths[at]!, contexts[at]!, actor, filterBits[at]!)) continue;
        if (isOwn) isSelected = true;
        if (time < fromTime || time >= toTime) {
          this.#add(selected, views);
          selected = views = 0;
          this.#enterBucket(baseMs + time);
          [fromTime, toTime] = [this.#fromMs - baseMs, this.#toMs - baseMs];
        }
        selected++;
        views += isView;
      }
      this.#add(selected, views);
      lastMs = baseMs + lastTime;
    }
    if (isSelected) this.#countSession(startMs, lastMs, viewsIn, customsIn);
  }

  /** Adds to what was selected in the bucket since it was entered. */
  #add(selected: number, views: number): void {
    this.#selected += selected;
    this.#views += views;
  }

  #enterBucket(ms: number): void {
    this.#leaveBucket();
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

  /** Counts a session with a selected event, as a whole, in the bucket where it starts. */
  #countSession(startMs: number, lastMs: number, views: number, customs: number): void {
    const { fromMs, toMs } = this.#buckets;
    if (startMs < fromMs || startMs >= toMs) return;
    // Mostly that of the last selected event.
    const isHere = startMs >= this.#fromMs && startMs < this.#toMs;
    const bucket = isHere ? this.#bucket : this.#placeOf(this.#buckets.at(startMs));
    const durationMs = lastMs - startMs;
    const tally = this.#tally;
    tally.sessions[bucket]!++;
    tally.durationsMs[bucket]! += durationMs;
    if (isBounceOf(views, customs)) {
      tally.bounces[bucket]!++;
      if (this.inputs.listed === "bounces") this.#behind.add(this.#actor, startMs);
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

import type { ActorWay } from "../../timelines/actor_way.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { SESSION_GAP_MS } from "../../limits.ts";
import { isSessionField } from "../../query/filters.ts";
import { isBounce } from "../../query/metrics.ts";
import type { Span } from "../../query/selection.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { PAGE_VIEW } from "../../query/terms.ts";
import { type EventTest, eventTest } from "../../scans/event_tests.ts";
import { Samples } from "../../scans/medians.ts";
import type { Read } from "../../scans/read.ts";
import { sessionsEndByMs, sessionsStartMs } from "../../scans/session_end.ts";
import { type SessionTest, sessionTest } from "../../scans/session_tests.ts";
import { SessionWalk, type WalkedSession } from "../../scans/session_walk.ts";
import { SpanFinder } from "../../scans/span_finder.ts";
import { readTechnicalNames } from "../../scans/technical_names.ts";
import { Newcomers } from "../new_actors.ts";
import type { SessionsAndMedian } from "../rolled_sessions.ts";
import type { Visits } from "../rolled_up.ts";

type Source = Pick<Read, "sql" | "scope" | "histories">;

/** What one bucket comes to, counted from 1; the whole has the bucket null. */
export interface BucketCounts extends Visits, SessionsAndMedian {
  readonly bucket: number | null;
}

/** The place of everything together; those of the buckets follow. */
const WHOLE = 0;

/** Follows actors through their sessions, and counts what is selected in each bucket, and in all. */
class KpiWalk {
  readonly #buckets: SpanFinder;
  /** The place of what lies in no bucket. */
  readonly #outside: number;
  readonly #events: EventTest;
  readonly #sessions: SessionTest;
  readonly #walk: SessionWalk;
  readonly #visitStretch = (segment: LoadedSegment, start: number, end: number) =>
    this.#select(segment, start, end);

  readonly newVisitors: Int32Array;
  readonly #newcomers: Newcomers;
  readonly #visitors: Int32Array;
  readonly #eventCounts: Int32Array;
  readonly #viewCounts: Int32Array;
  readonly #sessionCounts: Int32Array;
  readonly #bounces: Int32Array;
  readonly #durationsMs: Float64Array;
  readonly #durations: Samples;
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

  constructor(
    buckets: readonly Span[],
    reach: Span,
    events: EventTest,
    sessions: SessionTest,
    newcomers: Newcomers,
  ) {
    this.#buckets = new SpanFinder(buckets);
    const outside = buckets.length + 1;
    this.#outside = outside;
    this.#events = events;
    this.#sessions = sessions;
    this.#newcomers = newcomers;
    this.#walk = new SessionWalk(reach, (session) => this.#visitSession(session));
    const counts = () => new Int32Array(outside + 1);
    this.newVisitors = counts();
    this.#visitors = counts();
    this.#eventCounts = counts();
    this.#viewCounts = counts();
    this.#sessionCounts = counts();
    this.#bounces = counts();
    this.#durationsMs = new Float64Array(outside + 1);
    this.#durations = new Samples(outside);
    this.#lastActors = counts().fill(-1);
    this.#bucket = outside;
    this.#toMs = this.#buckets.fromMs;
  }

  visit(actor: number, way: ActorWay): void {
    if (!this.#isAsked(actor, way)) return;
    this.#actor = actor;
    this.#walk.visit(actor, way);
    this.#leaveBucket();
    const lastActors = this.#lastActors;
    if (lastActors[WHOLE] !== actor) return;
    const firstMs = this.#newcomers.firstMs(way);
    if (firstMs === null) return;
    this.#newcomers.add(actor, WHOLE);
    const bucket = this.#placeOf(this.#buckets.at(firstMs));
    if (lastActors[bucket] === actor) this.#newcomers.add(actor, bucket);
  }

  /** Whether any event is selected, at whatever time: most actors need not be followed. */
  #isAsked(actor: number, way: ActorWay): boolean {
    const test = this.#events;
    if (test.actors !== null && test.actors[actor] !== 1) return false;
    const { segments, segmentOf, starts, ends } = way;
    for (let i = way.first; i < way.end; i++) {
      const { names, paths, contexts, marks } = segments[segmentOf[i]!]!;
      const end = ends[i]!;
      for (let at = starts[i]!; at < end; at++) {
        if (test.passes(names[at]!, paths[at]!, contexts[at]!, actor, marks[at]!)) return true;
      }
    }
    return false;
  }

  #visitSession(session: WalkedSession): void {
    const { traffic, entryPath, exitPath, startMs, lastMs, hasOthers } = session;
    const { fromMs, toMs } = this.#buckets;
    this.#takesOwn = traffic !== 0 && this.#sessions.passes(traffic, entryPath, exitPath);
    this.#takesOthers = hasOthers && this.#sessions.passesNone;
    const isInSpan = this.#takesOwn && lastMs >= fromMs && startMs < toMs;
    if (!isInSpan && !this.#takesOthers) return;
    this.#isSelected = false;
    session.forEachStretch(this.#visitStretch);
    // It counts where it starts, whole, if it holds a selected event.
    if (isInSpan && this.#isSelected && startMs >= fromMs) this.#countSession(session);
  }

  /** Counts the selected events among these. */
  #select(
    { fromMs: baseMs, times, names, paths, contexts, traffics, marks }: LoadedSegment,
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
      if (!test.passes(name, paths[at]!, contexts[at]!, actor, marks[at]!)) continue;
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
    this.#eventCounts[bucket]! += this.#selected;
    this.#viewCounts[bucket]! += this.#views;
    this.#selected = 0;
    this.#views = 0;
    this.#countVisitor(bucket);
    if (bucket === this.#outside) return;
    this.#countVisitor(WHOLE);
  }

  #countVisitor(bucket: number): void {
    if (this.#lastActors[bucket] === this.#actor) return;
    this.#lastActors[bucket] = this.#actor;
    this.#visitors[bucket]!++;
  }

  #countSession(session: WalkedSession): void {
    const bucket = this.#placeOf(this.#buckets.at(session.startMs));
    const durationMs = session.lastMs - session.startMs;
    this.#sessionCounts[bucket]!++;
    this.#durationsMs[bucket]! += durationMs;
    if (isBounce(session)) this.#bounces[bucket]!++;
    this.#durations.add(bucket, durationMs);
  }

  /** What was counted, the whole first. */
  counted(): BucketCounts[] {
    const places = Array.from({ length: this.#outside }, (_, place) => place);
    const medians = this.#durations.mediansOf(places.slice(1));
    const added = [
      this.#eventCounts,
      this.#viewCounts,
      this.#sessionCounts,
      this.#bounces,
      this.#durationsMs,
    ];
    for (const counts of added) {
      for (const place of places) if (place !== WHOLE) counts[WHOLE]! += counts[place]!;
    }
    return places.map((place) => ({
      bucket: place === WHOLE ? null : place,
      visitors: this.#visitors[place]!,
      newVisitors: this.newVisitors[place]!,
      pageviews: this.#viewCounts[place]!,
      events: this.#eventCounts[place]!,
      sessions: this.#sessionCounts[place]!,
      bounces: this.#bounces[place]!,
      durationMs: this.#durationsMs[place]!,
      medianMs: place === WHOLE ? this.#durations.medianOfAll() : medians.get(place) ?? null,
    }));
  }
}

/** What has to be looked at for all that is counted in the span. */
async function reachOf(source: Source, span: Span): Promise<Span> {
  const { projectId, filters } = source.scope;
  // Under a filter on sessions, each that has an event in the span is looked at whole. Else, of one
  // that crosses the beginning of the span, only that it does matters: it is not counted.
  const fromMs = filters.some(({ field }) => isSessionField(field))
    ? await sessionsStartMs(source, projectId, span.fromMs)
    : span.fromMs;
  const toMs = await sessionsEndByMs(source, projectId, span.toMs);
  return { fromMs: Math.min(fromMs, span.fromMs - SESSION_GAP_MS), toMs };
}

/**
 * What the key figures are made of, of each bucket and of all together, counted in one scan. The
 * buckets must follow each other without gaps.
 */
export async function scanKpis(source: Source, buckets: readonly Span[]): Promise<BucketCounts[]> {
  const { sql, scope } = source;
  const span: Span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const reach = await reachOf(source, span);
  const ofEvents = scope.filters.filter(({ field }) => !isSessionField(field));
  const histories = await source.histories(reach, ofEvents);
  const counting = withoutTechnical(ofEvents);
  const events = await eventTest(sql, scope, scope.bots, counting, histories.bits);
  const sessions = await sessionTest(sql, scope, scope.filters);
  const newcomers = new Newcomers(span, await readTechnicalNames(sql, scope.projectId));
  const walk = new KpiWalk(buckets, reach, events, sessions, newcomers);
  const visit = (actor: number, way: ActorWay) => walk.visit(actor, way);
  await newcomers.follow(sql, histories, reach, visit, walk.newVisitors);
  return walk.counted();
}

import { walkActors } from "../histories/actor_walk.ts";
import type { ActorWay } from "../histories/actor_way.ts";
import type { LoadedSegment } from "../histories/loaded_segment.ts";
import { SESSION_GAP_MS } from "../limits.ts";
import { isSessionField } from "../selection/filters.ts";
import type { Span } from "../selection/selection.ts";
import { withoutTechnical } from "../selection/technical.ts";
import { PAGE_VIEW } from "../selection/terms.ts";
import { type EventTest, eventTest } from "../walks/event_tests.ts";
import { Samples } from "../walks/medians.ts";
import type { Read } from "../walks/read.ts";
import { isScopeKnownToHistories } from "../walks/selected_histories.ts";
import { sessionsEndByMs, sessionsStartMs } from "../walks/session_end.ts";
import { type SessionTest, sessionTest } from "../walks/session_tests.ts";
import { SessionWalk, type WalkedSession } from "../walks/session_walk.ts";
import { SpanFinder } from "../walks/span_finder.ts";
import {
  firstCountedMs,
  readTechnicalNames,
  type TechnicalNames,
} from "../walks/technical_names.ts";
import { readNewActors } from "./new_actors.ts";
import type { SessionsAndMedian } from "./rolled_sessions.ts";
import type { Visits } from "./rolled_up.ts";

type Source = Pick<Read, "sql" | "scope" | "histories">;

/** What one bucket comes to, counted from 1; the whole has the bucket null. */
export interface BucketCounts extends Visits, SessionsAndMedian {
  readonly bucket: number | null;
}

/** The place of everything together; those of the buckets follow. */
const WHOLE = 0;

/** Actors whose first event in the histories that is counted is in the span, and in which bucket; 0: nothing is selected there. */
class Newcomers {
  #actors = new Int32Array(1_024);
  #buckets = new Int32Array(1_024);
  length = 0;

  add(actor: number, bucket: number): void {
    if (this.length === this.#actors.length) {
      const longer = (list: Int32Array) => {
        const grown = new Int32Array(2 * list.length);
        grown.set(list);
        return grown;
      };
      this.#actors = longer(this.#actors);
      this.#buckets = longer(this.#buckets);
    }
    this.#actors[this.length] = actor;
    this.#buckets[this.length++] = bucket;
  }

  /** Counts those whose first event ever that was, by bucket and as a whole; `news`: null where it was of all. */
  count(counts: Int32Array, news: Uint8Array | null): void {
    for (let i = 0; i < this.length; i++) {
      if (news !== null && news[this.#actors[i]!] !== 1) continue;
      counts[WHOLE]!++;
      if (this.#buckets[i] !== WHOLE) counts[this.#buckets[i]!]!++;
    }
  }
}

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

  readonly newcomers = new Newcomers();
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
    readonly technical: TechnicalNames,
  ) {
    this.#buckets = new SpanFinder(buckets);
    const outside = buckets.length + 1;
    this.#outside = outside;
    this.#events = events;
    this.#sessions = sessions;
    this.#walk = new SessionWalk(reach, (session) => this.#visitSession(session));
    const counts = () => new Int32Array(outside + 1);
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
    const firstMs = firstCountedMs(way, this.technical);
    if (firstMs < this.#buckets.fromMs || firstMs >= this.#buckets.toMs) return;
    const bucket = this.#placeOf(this.#buckets.at(firstMs));
    this.newcomers.add(actor, lastActors[bucket] === actor ? bucket : WHOLE);
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

  #countSession({ startMs, lastMs, views, customs }: WalkedSession): void {
    const bucket = this.#placeOf(this.#buckets.at(startMs));
    const durationMs = lastMs - startMs;
    this.#sessionCounts[bucket]!++;
    this.#durationsMs[bucket]! += durationMs;
    if (views <= 1 && customs === 0) this.#bounces[bucket]!++;
    this.#durations.add(bucket, durationMs);
    this.#durations.add(WHOLE, durationMs);
  }

  /** What was counted, the whole first. `news`: see `Newcomers`. */
  counted(news: Uint8Array | null): BucketCounts[] {
    const outside = this.#outside;
    const newVisitors = new Int32Array(outside);
    this.newcomers.count(newVisitors, news);
    const places = Array.from({ length: outside }, (_, place) => place);
    const medians = this.#durations.mediansOf(places);
    const added = [
      this.#eventCounts,
      this.#viewCounts,
      this.#sessionCounts,
      this.#bounces,
      this.#durationsMs,
    ];
    for (const counts of added) {
      for (let place = 1; place < outside; place++) counts[WHOLE]! += counts[place]!;
    }
    return places.map((place) => ({
      bucket: place === WHOLE ? null : place,
      visitors: this.#visitors[place]!,
      newVisitors: newVisitors[place]!,
      pageviews: this.#viewCounts[place]!,
      events: this.#eventCounts[place]!,
      sessions: this.#sessionCounts[place]!,
      bounces: this.#bounces[place]!,
      durationMs: this.#durationsMs[place]!,
      medianMs: medians.get(place) ?? null,
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
 * What the key figures are made of, of each bucket and of all together, counted in one walk over the
 * actors' histories. The buckets must follow each other without gaps. Null where histories do not
 * hold what the filters ask for, or are not at hand: then facts and sessions tell it.
 */
export async function countInHistories(
  source: Source,
  buckets: readonly Span[],
): Promise<BucketCounts[] | null> {
  const { sql, scope, histories } = source;
  if (!isScopeKnownToHistories(scope.filters)) return null;
  const span: Span = { fromMs: buckets[0]!.fromMs, toMs: buckets.at(-1)!.toMs };
  const reach = await reachOf(source, span);
  const loaded = await histories(reach, scope.filters);
  if (loaded === null) return null;
  const ofEvents = scope.filters.filter(({ field }) => !isSessionField(field));
  const counted = withoutTechnical(ofEvents);
  const events = await eventTest(sql, scope, scope.bots, counted, loaded.bits);
  const technical = await readTechnicalNames(sql, scope.projectId);
  const sessions = await sessionTest(sql, scope, scope.filters);
  const walk = new KpiWalk(buckets, reach, events, sessions, technical);
  const news = readNewActors(sql, loaded, span, reach);
  // What goes wrong there is told to whoever waits for it, and until then to nobody.
  news.catch(() => {});
  await walkActors(sql, loaded, (actor, way) => walk.visit(actor, way));
  return walk.counted(await news);
}

import { placeFrom } from "../timelines/ascending.ts";
import { LoadedSegment, type SentSegment } from "../timelines/loaded_segment.ts";
import { scanCuts, type ScannedTimelines, timelinesIn } from "../timelines/picked_timelines.ts";
import {
  CUT_EVENTS,
  isVisited,
  RunTimelines,
  type Timelines,
} from "../timelines/timeline_table.ts";
import { ANY_RUN, type Timeline } from "../timelines/timeline.ts";
import { PassingSessions, type SessionChoice } from "./passing_sessions.ts";
import type { PoolJob, PoolWork, TaskRange } from "./pool_job.ts";
import type { AnyVisitorKind, Visitor, VisitorKind } from "./visitor.ts";

/** What all tasks of the scan of a part share. */
export interface ScanOrder {
  readonly visitor: string;
  readonly inputs: unknown;
  readonly segments: readonly SentSegment[];
  /** See `FilterBits`. */
  readonly words: readonly Int32Array[];
  /** Null: each run of a segment is visited as a timeline of its own. */
  readonly timelines: ScannedTimelines | null;
  /** By identity. */
  readonly actorOf: Int32Array;
  /** The sessions that are visited; null: all events are. */
  readonly sessions: SessionChoice | null;
  /** Each with 1 at the place of each actor who is visited. */
  readonly actors: readonly Uint8Array[];
}

/** Divides a scan into ranges of about `CUT_EVENTS` events. */
function* rangesOf({ timelines, segments }: ScanOrder): Generator<TaskRange> {
  if (timelines !== null) {
    const cuts = scanCuts(timelines);
    for (let i = 1; i < cuts.length; i++) yield { segment: 0, from: cuts[i - 1]!, to: cuts[i]! };
    return;
  }
  for (const [segment, { starts, identities }] of segments.entries()) {
    const runs = identities.length;
    for (let from = 0, to = 0; from < runs; from = to) {
      to = Math.min(runs, placeFrom(starts, starts[from]! + CUT_EVENTS, from + 1));
      yield { segment, from, to };
    }
  }
}

/** One thread's work on a scan: a visitor that visits range after range. */
export class ScanWork implements PoolWork {
  readonly #visitor: Visitor<unknown>;
  readonly #visit: (actor: number, timeline: Timeline) => void;
  readonly #timelinesOf: (segment: number) => Timelines;
  /** Visits a range of runs at once; null: timelines are visited one by one. */
  readonly #visitRuns: ((range: TaskRange) => void) | null;
  readonly #actors: readonly Uint8Array[];

  constructor(kind: AnyVisitorKind, order: ScanOrder) {
    const { inputs, words, timelines, actorOf, sessions, actors } = order;
    const segments = order.segments.map((segment) =>
      segment instanceof LoadedSegment
        ? segment
        : new LoadedSegment(segment, segment.filterBits, segment.lazies)
    );
    const visitor: Visitor<unknown> = kind.create(inputs, words);
    this.#visitor = visitor;
    this.#actors = actors;
    const all = timelines === null ? null : timelinesIn(segments, timelines, actors);
    // Made once per segment, since a scan visits many ranges of it.
    const runs: RunTimelines[] = [];
    this.#timelinesOf = (segment) =>
      all ?? (runs[segment] ??= new RunTimelines(segments[segment]!, actorOf));
    const isEachRun = timelines === null && sessions === null && actors.length === 0;
    this.#visitRuns = isEachRun && visitor.visitRuns !== undefined
      ? ({ segment, from, to }) => visitor.visitRuns!(segments[segment]!, from, to, actorOf)
      : null;
    if (sessions === null) {
      this.#visit = (actor, timeline) => visitor.visit(actor, timeline, timeline);
    } else {
      const passing = new PassingSessions(sessions, visitor);
      this.#visit = (actor, timeline) => passing.visit(actor, timeline);
    }
  }

  run(range: TaskRange): void {
    if (this.#visitRuns !== null) return this.#visitRuns(range);
    const { segment, from, to } = range;
    const timelines = this.#timelinesOf(segment);
    const bits = this.#visitor.bits ?? ANY_RUN;
    const next = (number: number) => timelines.next(number, to, bits);
    for (let number = next(from); number < to; number = next(number + 1)) {
      const actor = timelines.actorAt(number);
      if (!isVisited(this.#actors, actor)) continue;
      timelines.goTo(number);
      this.#visit(actor, timelines);
    }
  }

  result(): unknown {
    return this.#visitor.result();
  }
}

/** A scan as a pool divides it. */
export function scanJob<Inputs, Counts>(
  kind: VisitorKind<Inputs, Counts>,
  order: ScanOrder,
): PoolJob<ScanOrder> {
  const sent = (one: SentSegment) => one instanceof LoadedSegment ? one.sent() : one;
  return {
    orderSent: () => ({ ...order, segments: order.segments.map(sent) }),
    ranges: [...rangesOf(order)],
    // Includes the segments' events outside the span: a scan of few events has few segments anyway.
    events: order.segments.reduce((sum, { times }) => sum + times.length, 0),
    open: () => new ScanWork(kind, order),
    merge: (a, b) => kind.merge(a as Counts, b as Counts),
  };
}

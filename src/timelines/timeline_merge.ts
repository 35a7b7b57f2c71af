import type { TimelineColumns } from "./timeline_table.ts";
import { lengthened } from "../store/growing_list.ts";
import { GrowingTimeline } from "./timeline.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import type { Sql } from "../db/sql.ts";
import { compareIds, ID_BYTES } from "../store/id_codec.ts";
import { lookUpIds } from "./event_ids.ts";

/** The runs of all actors, those of each actor side by side. */
export type ActorRuns = Pick<TimelineColumns, "offsets" | "segmentOf" | "starts" | "ends">;

/**
 * Events whose order depends on their ids. The merge collects them in a first pass, and takes them ordered, in
 * the same sequence, in a second one.
 */
class TiedEvents {
  readonly #segmentIds: number[] = [];
  readonly #places: number[] = [];
  #ids = new Uint8Array(0);
  #read = 0;

  get count(): number {
    return this.#places.length;
  }

  clear(): void {
    this.#segmentIds.length = 0;
    this.#places.length = 0;
    this.#read = 0;
  }

  add(segmentId: number, place: number): void {
    this.#segmentIds.push(segmentId);
    this.#places.push(place);
  }

  async lookUp(sql: Sql, projectId: number): Promise<void> {
    this.#ids = await lookUpIds(sql, projectId, this.#segmentIds, this.#places);
  }

  /** Takes the next events. @returns their numbers, from 0, in the order of their ids */
  takeOrdered(count: number): number[] {
    const ids = this.#ids.subarray(this.#read * ID_BYTES);
    this.#read += count;
    return Array.from({ length: count }, (_, i) => i)
      .sort((a, b) => compareIds(ids, a * ID_BYTES, ids, b * ID_BYTES));
  }
}

/** What to do with events of different runs in the same millisecond; "order" needs their ids. */
type TieRule = "give up" | "collect" | "order";

/** Merges the runs of one actor at a time by a heap, for actors whose runs overlap in time. */
export class RunMerge {
  readonly timeline: GrowingTimeline;
  readonly ties = new TiedEvents();
  readonly #times: readonly Uint32Array[];
  readonly #fromMs: Float64Array;
  /** By run: its segment, next event, end, and the next event's time. */
  #segmentOf = new Int32Array(64);
  #at = new Int32Array(64);
  #ends = new Int32Array(64);
  #ms = new Float64Array(64);
  /** The runs with events left; the one whose next event is earliest is on top. */
  #heap = new Int32Array(64);
  #size = 0;

  constructor(readonly segments: readonly LoadedSegment[], private readonly runs: ActorRuns) {
    this.timeline = new GrowingTimeline(segments);
    this.#times = segments.map(({ times }) => times);
    this.#fromMs = Float64Array.from(segments, ({ fromMs }) => fromMs);
  }

  /** Merges the runs of an actor. @returns false if it gave up because of a tie */
  merge(actor: number, rule: TieRule): boolean {
    this.#open(actor);
    this.timeline.clear();
    while (this.#size > 0) {
      const run = this.#heap[0]!;
      const otherMs = this.#secondMs();
      if (this.#ms[run]! < otherMs) this.#takeBefore(run, otherMs);
      else if (rule === "give up") return false;
      else this.#takeTied(rule);
    }
    return true;
  }

  #open(actor: number): void {
    const { offsets, segmentOf, starts, ends } = this.runs;
    const first = offsets[actor]!;
    this.#size = offsets[actor + 1]! - first;
    while (this.#size > this.#at.length) this.#grow();
    for (let run = 0, at = first; run < this.#size; run++, at++) {
      this.#segmentOf[run] = segmentOf[at]!;
      this.#ends[run] = ends[at]!;
      this.#move(run, starts[at]!);
      this.#heap[run] = run;
    }
    for (let i = (this.#size >> 1) - 1; i >= 0; i--) this.#sink(i);
  }

  #grow(): void {
    this.#segmentOf = lengthened(this.#segmentOf);
    this.#at = lengthened(this.#at);
    this.#ends = lengthened(this.#ends);
    this.#ms = lengthened(this.#ms);
    this.#heap = lengthened(this.#heap);
  }

  #msAt(run: number, at: number): number {
    const segment = this.#segmentOf[run]!;
    return this.#fromMs[segment]! + this.#times[segment]![at]!;
  }

  #move(run: number, at: number): void {
    this.#at[run] = at;
    this.#ms[run] = this.#msAt(run, at);
  }

  /** Returns the time of the earliest event of the other runs. */
  #secondMs(): number {
    const size = this.#size;
    if (size === 1) return Infinity;
    const left = this.#ms[this.#heap[1]!]!;
    return size === 2 ? left : Math.min(left, this.#ms[this.#heap[2]!]!);
  }

  /** Takes the events of the run on top that are earlier than `ms`. */
  #takeBefore(run: number, ms: number): void {
    const start = this.#at[run]!;
    const end = this.#ends[run]!;
    let at = end;
    if (this.#msAt(run, end - 1) >= ms) {
      at = start + 1;
      while (this.#msAt(run, at) < ms) at++;
    }
    this.timeline.add(this.#segmentOf[run]!, start, at);
    this.#advance(run, at);
  }

  /** Takes all events of the earliest millisecond. */
  #takeTied(rule: TieRule): void {
    const ms = this.#ms[this.#heap[0]!]!;
    const segments: number[] = [];
    const places: number[] = [];
    while (this.#size > 0 && this.#ms[this.#heap[0]!] === ms) {
      const run = this.#heap[0]!;
      const end = this.#ends[run]!;
      let at = this.#at[run]!;
      for (; at < end && this.#msAt(run, at) === ms; at++) {
        segments.push(this.#segmentOf[run]!);
        places.push(at);
      }
      this.#advance(run, at);
    }
    if (rule === "collect") {
      for (const [i, segment] of segments.entries()) {
        const loaded = this.segments[segment]!;
        this.ties.add(loaded.segmentId, loaded.storedPlace(places[i]!));
      }
      return;
    }
    for (const i of this.ties.takeOrdered(places.length)) {
      this.timeline.add(segments[i]!, places[i]!, places[i]! + 1);
    }
  }

  /** Moves the run on top to this event, or removes it at its end. */
  #advance(run: number, at: number): void {
    if (at < this.#ends[run]!) this.#move(run, at);
    else this.#heap[0] = this.#heap[--this.#size]!;
    this.#sink(0);
  }

  #sink(place: number): void {
    const heap = this.#heap;
    const ms = this.#ms;
    const size = this.#size;
    const run = heap[place]!;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= size) break;
      if (child + 1 < size && ms[heap[child + 1]!]! < ms[heap[child]!]!) child++;
      if (ms[heap[child]!]! >= ms[run]!) break;
      heap[place] = heap[child]!;
      place = child;
    }
    heap[place] = run;
  }
}

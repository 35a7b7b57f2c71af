import { GrowingTimeline, lengthened } from "./timeline.ts";
import type { LoadedSegment } from "./loaded_segment.ts";
import type { Sql } from "../db/sql.ts";
import { compareIds, ID_BYTES } from "../store/id_codec.ts";
import { lookUpIds } from "./event_ids.ts";

/** Runs that lie side by side by actor: what one identity did in one segment. */
export interface ActorRuns {
  readonly offsets: Int32Array;
  readonly segmentOf: Int32Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
}

/** Events whose order their ids decide, in the order in which they are met: twice the same. */
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

  /** Has the ids of all of them looked up. */
  async lookUp(sql: Sql, projectId: number): Promise<void> {
    this.#ids = await lookUpIds(sql, projectId, this.#segmentIds, this.#places);
  }

  /** The next events, by number from 0, in the order of their ids. */
  takeOrdered(count: number): number[] {
    const ids = this.#ids.subarray(this.#read * ID_BYTES);
    this.#read += count;
    return Array.from({ length: count }, (_, i) => i)
      .sort((a, b) => compareIds(ids, a * ID_BYTES, ids, b * ID_BYTES));
  }
}

/** What becomes of events of different runs in the same millisecond. */
export type TieRule = "give up" | "collect" | "order";

/**
 * Brings the runs of one actor at a time into one order, where they do not follow each other: by a
 * heap of what is left of each.
 */
export class RunMerge {
  readonly timeline: GrowingTimeline;
  readonly ties = new TiedEvents();
  readonly #times: readonly Uint32Array[];
  readonly #fromMs: Float64Array;
  /** Of each run that is merged: segment, next event, end, and when the next event was. */
  #runs = 0;
  #segmentOf = new Int32Array(64);
  #at = new Int32Array(64);
  #ends = new Int32Array(64);
  #ms = new Float64Array(64);
  /** Runs with events left, the one with the earliest on top. */
  #heap = new Int32Array(64);
  #size = 0;

  constructor(readonly segments: readonly LoadedSegment[], readonly runs: ActorRuns) {
    this.timeline = new GrowingTimeline(segments);
    this.#times = segments.map(({ times }) => times);
    this.#fromMs = Float64Array.from(segments, ({ fromMs }) => fromMs);
  }

  /** Merges the runs of an actor. @returns false where there was a tie, and that was to give up */
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
    this.#runs = 0;
    for (let at = offsets[actor]!; at < offsets[actor + 1]!; at++) {
      if (this.#runs === this.#at.length) this.#grow();
      const run = this.#runs++;
      this.#segmentOf[run] = segmentOf[at]!;
      this.#ends[run] = ends[at]!;
      this.#move(run, starts[at]!);
      this.#heap[run] = run;
    }
    this.#size = this.#runs;
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

  /** When the earliest event is that is not of the run on top. */
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
    this.#leave(run, at);
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
      this.#leave(run, at);
    }
    if (rule === "collect") {
      for (const [i, segment] of segments.entries()) {
        const of = this.segments[segment]!;
        this.ties.add(of.segmentId, of.storedPlace(places[i]!));
      }
      return;
    }
    for (const i of this.ties.takeOrdered(places.length)) {
      this.timeline.add(segments[i]!, places[i]!, places[i]! + 1);
    }
  }

  /** The run on top goes on at this event, or is over. */
  #leave(run: number, at: number): void {
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

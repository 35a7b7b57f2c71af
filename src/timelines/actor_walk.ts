import type { Sql } from "../db/sql.ts";
import { HISTORY_IDS_LOOKED_UP } from "../limits.ts";
import { type ActorWay, eventsOf, GrowingWay, lengthened } from "./actor_way.ts";
import { lookUpIds } from "./event_ids.ts";
import type { Histories, HistoryPart } from "./histories.ts";
import { Pace } from "./pace.ts";
import { findRuns, RunTable } from "./run_table.ts";
import { compareIds, ID_BYTES } from "../store/id_codec.ts";

/** Events between two looks at the clock. */
const EVENTS_UNTIMED = 2_000;

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
type TieRule = "give up" | "collect" | "order";

/**
 * Brings the runs of one actor at a time into one order, where they do not follow each other: by a
 * heap of what is left of each.
 */
class RunMerge {
  readonly way: GrowingWay;
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

  constructor(readonly table: RunTable) {
    const { segments } = table;
    this.way = new GrowingWay(segments);
    this.#times = segments.map(({ times }) => times);
    this.#fromMs = Float64Array.from(segments, ({ fromMs }) => fromMs);
  }

  /** Merges the runs of an actor. @returns false where there was a tie, and that was to give up */
  merge(actor: number, rule: TieRule): boolean {
    this.#open(actor);
    this.way.clear();
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
    const { table } = this;
    table.goTo(actor);
    const { first, end, segmentOf, starts, ends } = table;
    this.#runs = 0;
    for (let at = first; at < end; at++) {
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
    this.way.add(this.#segmentOf[run]!, start, at);
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
        const of = this.table.segments[segment]!;
        this.ties.add(of.segmentId, of.storedPlace(places[i]!));
      }
      return;
    }
    for (const i of this.ties.takeOrdered(places.length)) {
      this.way.add(segments[i]!, places[i]!, places[i]! + 1);
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

/** Visits an actor with all that he did. */
export type VisitActor = (actor: number, way: ActorWay) => void;

/** Actors whose order ids decide. Those of some actors are looked up together. */
async function walkTied(
  sql: Sql,
  projectId: number,
  merge: RunMerge,
  actors: readonly number[],
  pace: Pace,
  visit: VisitActor,
): Promise<void> {
  const { ties } = merge;
  for (let from = 0, to = 0; from < actors.length;) {
    ties.clear();
    while (to < actors.length && ties.count < HISTORY_IDS_LOOKED_UP) {
      merge.merge(actors[to++]!, "collect");
    }
    await ties.lookUp(sql, projectId);
    for (; from < to; from++) {
      merge.merge(actors[from]!, "order");
      visit(actors[from]!, merge.way);
      if (pace.isOver()) await pace.pause();
    }
  }
}

/** `walkActors`, of a part. */
export async function walkPartActors(
  sql: Sql,
  { projectId, actorOf }: Pick<Histories, "projectId" | "actorOf">,
  part: HistoryPart,
  visit: VisitActor,
): Promise<void> {
  const { segments } = part;
  const runs = await part.runs(() => findRuns(segments, actorOf));
  const { isInOrder } = runs;
  const table = new RunTable(segments, runs);
  const merge = new RunMerge(table);
  const pace = new Pace();
  const tied: number[] = [];
  let untimed = 0;
  for (let actor = 0; actor < actorOf.length; actor++) {
    if (!table.goTo(actor)) continue;
    if (isInOrder[actor] === 1) visit(actor, table);
    else if (merge.merge(actor, "give up")) visit(actor, merge.way);
    else tied.push(actor);
    untimed += eventsOf(table);
    if (untimed < EVENTS_UNTIMED) continue;
    untimed = 0;
    if (pace.isOver()) await pace.pause();
  }
  await walkTied(sql, projectId, merge, tied, pace, visit);
}

/**
 * Visits every actor with an event in the segments once, with all of its events there in order:
 * by id, those after all others of whom events of one millisecond lie in different runs. Others have
 * their turn about every 10 ms. `sql` must see the moment of the database that the histories are of.
 * Throws what `visit` throws.
 */
export async function walkActors(
  sql: Sql,
  histories: Histories,
  visit: VisitActor,
): Promise<void> {
  for await (const part of histories.parts()) await walkPartActors(sql, histories, part, visit);
}

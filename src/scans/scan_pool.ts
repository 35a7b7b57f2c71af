import { SCAN_IN_PLACE_EVENTS_MAX, SCAN_TASK_CUTS_MAX, SCAN_TASKS_PER_WORKER } from "../limits.ts";
import { yielding } from "../store/yielding.ts";
import { LoadedSegment } from "../timelines/loaded_segment.ts";
import { CUT_EVENTS } from "../timelines/timeline_table.ts";
import { SPARE_TIME_GRACE_MS } from "./scan_limits.ts";
import { type ScanOrder, ScanWork, type TaskRange } from "./scan_task.ts";
import { ScanThread } from "./scan_thread.ts";
import { SpareTime } from "./spare_time.ts";
import type { AnyVisitorKind, VisitorKind } from "./visitor.ts";

/** Two workers ended by themselves during one scan. */
export class ScanLost extends Error {
  override name = "ScanLost";
}

/** A scan under way. */
class PooledScan {
  readonly settled = Promise.withResolvers<unknown>();
  /** The workers that count for it, each with the ranges it was sent. */
  readonly visited = new Map<ScanThread, TaskRange[]>();
  running = 0;
  isOver = false;
  failure: unknown = null;
  #counts: unknown = null;
  #losses = 0;

  constructor(
    readonly id: number,
    readonly kind: AnyVisitorKind,
    readonly order: ScanOrder,
    /** The next task is the last element. */
    readonly tasks: TaskRange[],
  ) {}

  add(counts: unknown): void {
    this.#counts = this.#counts === null ? counts : this.kind.merge(this.#counts, counts);
  }

  /** Puts the ranges that a lost worker was sent back among the tasks; fails the scan at the second loss. */
  lose(thread: ScanThread): void {
    const ranges = this.visited.get(thread);
    if (ranges === undefined) return;
    this.visited.delete(thread);
    this.tasks.push(...ranges);
    if (++this.#losses > 1) this.fail(new ScanLost("A worker was lost twice"));
  }

  fail(reason: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.failure = reason;
    this.tasks.length = 0;
    for (const thread of this.visited.keys()) thread.drop(this.id);
    this.visited.clear();
  }

  /** Settles the scan if nothing is left to do. @returns whether it did */
  end(): boolean {
    if (this.running > 0 || this.tasks.length > 0 || this.visited.size > 0) return false;
    if (this.isOver) this.settled.reject(this.failure);
    else this.settled.resolve(this.#counts);
    this.isOver = true;
    return true;
  }
}

/** Divides a scan into ranges of about `CUT_EVENTS` events. */
function* rangesOf({ timelines, segments }: ScanOrder): Generator<TaskRange> {
  if (timelines !== null) {
    const { cuts } = timelines;
    for (let i = 1; i < cuts.length; i++) yield { segment: 0, from: cuts[i - 1]!, to: cuts[i]! };
    return;
  }
  for (const [segment, { starts }] of segments.entries()) {
    const runs = starts.length - 1;
    for (let from = 0, to = 1; from < runs; to++) {
      if (to < runs && starts[to]! - starts[from]! < CUT_EVENTS) continue;
      yield { segment, from, to };
      from = to;
    }
  }
}

/** Joins neighbouring ranges of a segment, at most `countMax` into one. */
function* joinedRanges(ranges: readonly TaskRange[], countMax: number): Generator<TaskRange> {
  for (let i = 0; i < ranges.length;) {
    const { segment, from } = ranges[i]!;
    let end = i + 1;
    while (end < ranges.length && end < i + countMax && ranges[end]!.segment === segment) end++;
    yield { segment, from, to: ranges[end - 1]!.to };
    i = end;
  }
}

/**
 * Takes the first range of the next task; the rest stays a task. Null: there is none.
 * @param endOf where each range ends, by its segment and start
 */
function nextPiece(tasks: TaskRange[], endOf: ReadonlyMap<string, number>): TaskRange | null {
  const task = tasks.pop();
  if (task === undefined) return null;
  const to = Math.min(task.to, endOf.get(`${task.segment} ${task.from}`) ?? task.to);
  if (to < task.to) tasks.push({ ...task, from: to });
  return { ...task, to };
}

/** Cuts a range into pieces of at most `lengthMax` timelines. */
function* pieces({ segment, from, to }: TaskRange, lengthMax: number): Generator<TaskRange> {
  for (let at = from; at < to; at += lengthMax) {
    yield { segment, from: at, to: Math.min(to, at + lengthMax) };
  }
}

/** Overrides of a pool's bounds. */
export interface PoolBounds {
  /** Scans of at most this many events run on the calling thread. */
  readonly inPlaceEventsMax?: number;
  /** The most timelines of a task; absent: tasks are cut by their events alone. */
  readonly taskTimelinesMax?: number;
  /** See `SpareTime`; -Infinity: the calling thread leaves everything to the workers. */
  readonly spareGraceMs?: number;
}

/** Runs scans on workers, and on the calling thread as long as it has time to spare. */
export class ScanPool {
  readonly #size: number;
  readonly #start: () => Worker;
  readonly #inPlaceEventsMax: number;
  readonly #taskTimelinesMax: number | undefined;
  readonly #spareGraceMs: number;
  readonly #threads: ScanThread[] = [];
  /** The scan whose turn is next comes first. */
  #scans: PooledScan[] = [];
  #lastId = 0;
  /** Whether this thread visits for one of the scans. */
  #isHelping = false;

  /**
   * @param size how many workers; 0: all scans run on the calling thread
   * @param start starts a worker, which must know every kind of visitor that `run` is called with
   */
  constructor(size: number, start: () => Worker, bounds: PoolBounds = {}) {
    this.#size = size;
    this.#start = start;
    this.#inPlaceEventsMax = bounds.inPlaceEventsMax ?? SCAN_IN_PLACE_EVENTS_MAX;
    this.#taskTimelinesMax = bounds.taskTimelinesMax;
    this.#spareGraceMs = bounds.spareGraceMs ?? SPARE_TIME_GRACE_MS;
  }

  /** How many workers run now: none before the first scan that is large enough. */
  get workers(): number {
    return this.#threads.length;
  }

  /** Starts the workers if a scan of this many events will use them: they start while segments load. */
  expect(events: number): void {
    if (events > this.#inPlaceEventsMax) this.#startAll();
  }

  /**
   * Visits all actors, on as many threads as there are, and merges the counts. Settles when no thread
   * uses the order's columns any more.
   * @throws the signal's reason after the tasks that run when it is aborted, some 50 ms; ScanLost; what
   * the visitor throws
   */
  async run<Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    order: ScanOrder,
    signal?: AbortSignal,
  ): Promise<Counts> {
    signal?.throwIfAborted();
    const ranges = [...rangesOf(order)];
    if (this.#size === 0 || CUT_EVENTS * ranges.length <= this.#inPlaceEventsMax) {
      return await this.#runInPlace(kind, order, ranges, signal) as Counts;
    }
    const tasks = this.#tasksOf(ranges).reverse();
    const sent = {
      ...order,
      segments: order.segments.map((one) => one instanceof LoadedSegment ? one.sent() : one),
    };
    const scan = new PooledScan(++this.#lastId, kind, sent, tasks);
    const abort = () => {
      scan.fail(signal!.reason);
      this.#goOn(scan);
    };
    signal?.addEventListener("abort", abort);
    this.#scans.push(scan);
    this.#assign();
    if (!this.#isHelping) this.#help(scan, order, ranges);
    try {
      return await scan.settled.promise as Counts;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  #tasksOf(ranges: readonly TaskRange[]): TaskRange[] {
    const lengthMax = this.#taskTimelinesMax;
    if (lengthMax !== undefined) return ranges.flatMap((one) => [...pieces(one, lengthMax)]);
    const cuts = Math.ceil(ranges.length / (SCAN_TASKS_PER_WORKER * this.#size));
    return [...joinedRanges(ranges, Math.min(cuts, SCAN_TASK_CUTS_MAX))];
  }

  /** Ends all workers. No scan may be running. */
  close(): void {
    for (const thread of this.#threads.splice(0)) thread.end();
  }

  async #runInPlace(
    kind: AnyVisitorKind,
    order: ScanOrder,
    ranges: readonly TaskRange[],
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const work = new ScanWork(kind, order);
    const turn = yielding();
    for (const range of ranges) {
      work.run(range);
      await turn();
      signal?.throwIfAborted();
    }
    return work.result();
  }

  /**
   * Visits for a scan on this thread, range by range, while it has time to spare: with one worker on
   * two processors a scan ends in 0.7 of the time (the median of 21 kinds of reads of ten million events).
   */
  async #help(scan: PooledScan, order: ScanOrder, ranges: readonly TaskRange[]): Promise<void> {
    this.#isHelping = true;
    scan.running++;
    const spare = new SpareTime(this.#spareGraceMs);
    const endOf = new Map(ranges.map(({ segment, from, to }) => [`${segment} ${from}`, to]));
    let work: ScanWork | null = null;
    try {
      while (!scan.isOver && await spare.isLeft()) {
        const piece = nextPiece(scan.tasks, endOf);
        if (piece === null) break;
        work ??= new ScanWork(scan.kind, order);
        work.run(piece);
      }
      if (work !== null && !scan.isOver) scan.add(work.result());
    } catch (error) {
      scan.fail(error);
    }
    this.#isHelping = false;
    this.#replied(scan);
  }

  /** Gives every idle worker a task, if there is one. */
  #assign(): void {
    if (this.#scans.length === 0) return;
    this.#startAll();
    for (const thread of this.#threads) if (!thread.isBusy) this.#assignTo(thread);
  }

  #startAll(): void {
    while (this.#threads.length < this.#size) this.#threads.push(this.#startThread());
  }

  #assignTo(thread: ScanThread): void {
    for (const [place, scan] of this.#scans.entries()) {
      const range = scan.tasks.pop();
      if (range !== undefined) {
        const visited = scan.visited.get(thread);
        thread.run(scan.id, range, visited === undefined ? scan.order : null);
        // Noted before it is visited: if the worker is lost, all its ranges are visited again.
        if (visited === undefined) scan.visited.set(thread, [range]);
        else visited.push(range);
      } else if (scan.visited.has(thread)) thread.close(scan.id);
      else continue;
      scan.running++;
      // Scans take turns.
      this.#scans.splice(place, 1);
      this.#scans.push(scan);
      return;
    }
  }

  #startThread(): ScanThread {
    const thread: ScanThread = new ScanThread(this.#start(), {
      counted: (id, counts) => {
        const scan = this.#scanOf(id);
        if (!scan.isOver) {
          scan.visited.delete(thread);
          scan.add(counts);
        }
        this.#replied(scan);
      },
      done: (id) => {
        const scan = this.#scanOf(id);
        if (scan.isOver) thread.drop(id);
        this.#replied(scan);
      },
      failed: (id, reason) => {
        const scan = this.#scanOf(id);
        scan.fail(reason);
        this.#replied(scan);
      },
      lost: (id) => this.#lose(thread, id),
    });
    return thread;
  }

  #scanOf(id: number): PooledScan {
    return this.#scans.find((scan) => scan.id === id)!;
  }

  #replied(scan: PooledScan): void {
    scan.running--;
    this.#goOn(scan);
  }

  #goOn(scan: PooledScan): void {
    if (scan.end()) this.#scans = this.#scans.filter((one) => one !== scan);
    this.#assign();
  }

  /**
   * Replaces a worker that ended by itself, with which its counts of all scans are lost.
   * @param current the scan that it worked for; null: none
   */
  #lose(thread: ScanThread, current: number | null): void {
    const place = this.#threads.indexOf(thread);
    if (place < 0) return;
    this.#threads.splice(place, 1);
    for (const scan of [...this.#scans]) {
      scan.lose(thread);
      if (scan.id === current) scan.running--;
      this.#goOn(scan);
    }
    this.#assign();
  }
}

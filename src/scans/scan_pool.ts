import { SCAN_IN_PLACE_EVENTS_MAX, SCAN_TASK_CUTS_MAX, SCAN_TASKS_PER_WORKER } from "../limits.ts";
import { yielding } from "../store/yielding.ts";
import { droppedBytes } from "../timelines/dropped_memory.ts";
import {
  joinedRanges,
  nextPiece,
  piecesOf,
  type PoolJob,
  type PoolWork,
  type TaskRange,
} from "./pool_job.ts";
import { SPARE_TIME_GRACE_MS, WORKER_REQUESTS_MAX } from "./scan_limits.ts";
import { scanJob, type ScanOrder } from "./scan_task.ts";
import { errorOf, ScanThread } from "./scan_thread.ts";
import type { JobOpening, PoolOrder, WorkerReply } from "./scan_worker_loop.ts";
import { SpareTime } from "./spare_time.ts";
import type { VisitorKind } from "./visitor.ts";

/** Two workers ended by themselves during one job. */
export class ScanLost extends Error {
  override name = "ScanLost";
}

/** A job under way. */
class PooledJob {
  readonly settled = Promise.withResolvers<unknown>();
  /** The workers that take part, each with the ranges it was sent. */
  readonly visited = new Map<ScanThread, TaskRange[]>();
  /** Those that were asked for their counts. */
  readonly closing = new Set<ScanThread>();
  /** What each worker is sent first. Once it says stopped, a worker skips the ranges it still has. */
  readonly opening: JobOpening;
  running = 0;
  isOver = false;
  failure: unknown = null;
  #counts: unknown = null;
  #losses = 0;

  constructor(
    readonly id: number,
    readonly job: PoolJob<PoolOrder>,
    /** The next task is the last element. */
    readonly tasks: TaskRange[],
  ) {
    const stopped = new Int32Array(new SharedArrayBuffer(4));
    this.opening = { order: job.orderSent(), stopped, droppedBytes: droppedBytes() };
  }

  add(counts: unknown): void {
    this.#counts = this.#counts === null ? counts : this.job.merge(this.#counts, counts);
  }

  /** Puts the ranges that a lost worker was sent back among the tasks; fails the job at the second loss. */
  lose(thread: ScanThread): void {
    const ranges = this.visited.get(thread);
    if (ranges === undefined) return;
    this.visited.delete(thread);
    this.closing.delete(thread);
    this.tasks.push(...ranges);
    if (++this.#losses > 1) this.fail(new ScanLost("A worker was lost twice"));
  }

  fail(reason: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    Atomics.store(this.opening.stopped, 0, 1);
    this.failure = reason;
    this.tasks.length = 0;
    for (const thread of this.visited.keys()) thread.drop(this.id);
    this.visited.clear();
  }

  /** Settles the job if nothing is left to do. @returns whether it did */
  end(): boolean {
    if (this.running > 0 || this.tasks.length > 0 || this.visited.size > 0) return false;
    if (this.isOver) this.settled.reject(this.failure);
    else this.settled.resolve(this.#counts);
    this.isOver = true;
    return true;
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

/** Does jobs (scans and decoding) on workers, and on the calling thread while it has time to spare. */
export class ScanPool {
  readonly #inPlaceEventsMax: number;
  readonly #taskTimelinesMax: number | undefined;
  readonly #spareGraceMs: number;
  readonly #threads: ScanThread[] = [];
  /** In the order of their turns. */
  #jobs: PooledJob[] = [];
  #lastId = 0;
  /** Whether this thread is helping with a job. */
  #isHelping = false;

  /**
   * @param size how many workers; 0: all scans run on the calling thread
   * @param start starts a worker, which must know every kind of visitor that `run` is called with
   */
  constructor(
    private readonly size: number,
    private readonly start: () => Worker,
    bounds: PoolBounds = {},
  ) {
    this.#inPlaceEventsMax = bounds.inPlaceEventsMax ?? SCAN_IN_PLACE_EVENTS_MAX;
    this.#taskTimelinesMax = bounds.taskTimelinesMax;
    this.#spareGraceMs = bounds.spareGraceMs ?? SPARE_TIME_GRACE_MS;
  }

  /** How many workers run now: none before the first job that is large enough. */
  get workers(): number {
    return this.#threads.length;
  }

  /** Starts the workers if a scan of this many events will use them: they start while segments load. */
  expect(events: number): void {
    if (events > this.#inPlaceEventsMax) this.#startAll();
  }

  /**
   * Visits all actors, on as many threads as there are, and merges the counts: see `perform`.
   * @throws also what the visitor throws
   */
  async run<Inputs, Counts>(
    kind: VisitorKind<Inputs, Counts>,
    order: ScanOrder,
    signal?: AbortSignal,
  ): Promise<Counts> {
    return await this.perform(scanJob(kind, order), signal) as Counts;
  }

  /**
   * Does a job on all threads. Settles when no thread uses the order's columns any more.
   * @throws the signal's reason, once the running tasks have ended (some 50 ms); ScanLost; what the work
   * throws
   */
  async perform(job: PoolJob<PoolOrder>, signal?: AbortSignal): Promise<unknown> {
    signal?.throwIfAborted();
    const { ranges, events } = job;
    if (this.size === 0 || events <= this.#inPlaceEventsMax) {
      return await this.#performInPlace(job, signal);
    }
    const pooled = new PooledJob(++this.#lastId, job, this.#tasksOf(ranges).reverse());
    const abort = () => {
      pooled.fail(signal!.reason);
      this.#goOn(pooled);
    };
    signal?.addEventListener("abort", abort);
    this.#jobs.push(pooled);
    this.#assign();
    if (!this.#isHelping) this.#help(pooled);
    try {
      return await pooled.settled.promise;
    } finally {
      signal?.removeEventListener("abort", abort);
    }
  }

  #tasksOf(ranges: readonly TaskRange[]): TaskRange[] {
    const lengthMax = this.#taskTimelinesMax;
    if (lengthMax !== undefined) return ranges.flatMap((one) => [...piecesOf(one, lengthMax)]);
    const cuts = Math.ceil(ranges.length / (SCAN_TASKS_PER_WORKER * this.size));
    return [...joinedRanges(ranges, Math.min(cuts, SCAN_TASK_CUTS_MAX))];
  }

  /** Ends all workers. No scan may be running. */
  close(): void {
    for (const thread of this.#threads.splice(0)) thread.end();
  }

  async #performInPlace(
    { open, ranges }: PoolJob<PoolOrder>,
    signal: AbortSignal | undefined,
  ): Promise<unknown> {
    const work = open();
    const turn = yielding();
    for (const range of ranges) {
      work.run(range);
      await turn();
      signal?.throwIfAborted();
    }
    return work.result();
  }

  /**
   * Works on this thread, range by range, job by job, while there is time to spare. With one worker on two
   * processors, scans take 0.7 of the time (median of 21 kinds of reads of ten million events).
   */
  async #help(first: PooledJob): Promise<void> {
    this.#isHelping = true;
    const spare = new SpareTime(this.#spareGraceMs);
    let next: PooledJob | undefined = first;
    while (next !== undefined && await this.#helpWith(next, spare)) {
      next = this.#jobs.find(({ tasks }) => tasks.length > 0);
    }
    this.#isHelping = false;
  }

  /** @returns whether there is still time to spare when the job has nothing left to do */
  async #helpWith(pooled: PooledJob, spare: SpareTime): Promise<boolean> {
    const { open, ranges } = pooled.job;
    const endOf = new Map(ranges.map(({ segment, from, to }) => [`${segment} ${from}`, to]));
    let work: PoolWork | null = null;
    let isLeft = true;
    pooled.running++;
    try {
      while (!pooled.isOver && (isLeft = await spare.isLeft())) {
        const piece = nextPiece(pooled.tasks, endOf);
        if (piece === null) break;
        work ??= open();
        work.run(piece);
        this.#assign();
      }
      if (work !== null && !pooled.isOver) pooled.add(work.result());
    } catch (error) {
      pooled.fail(error);
    }
    this.#replied(pooled);
    return isLeft;
  }

  /** Gives tasks to workers, idle ones first, while there are any; one may answer while it is given its first. */
  #assign(): void {
    if (this.#jobs.length === 0) return;
    this.#startAll();
    for (let load = 0; load < WORKER_REQUESTS_MAX; load++) {
      for (const thread of this.#threads) if (thread.load <= load) this.#assignTo(thread);
    }
  }

  #startAll(): void {
    while (this.#threads.length < this.size) {
      const thread: ScanThread = new ScanThread(
        this.start(),
        (reply) => this.#receive(thread, reply),
        (ids) => this.#lose(thread, ids),
      );
      this.#threads.push(thread);
    }
  }

  #assignTo(thread: ScanThread): void {
    for (const [place, pooled] of this.#jobs.entries()) {
      if (!this.#request(thread, pooled)) continue;
      pooled.running++;
      // Jobs take turns.
      this.#jobs.splice(place, 1);
      this.#jobs.push(pooled);
      return;
    }
  }

  /**
   * Sends a worker the next task of a job, or asks for its counts. @returns false: there is nothing to ask
   */
  #request(thread: ScanThread, pooled: PooledJob): boolean {
    const { id, opening, visited, closing } = pooled;
    // It is handing over its counts: a further range would start new ones.
    if (closing.has(thread)) return false;
    const range = pooled.tasks.pop();
    const ranges = visited.get(thread);
    if (range === undefined && ranges === undefined) return false;
    if (range === undefined) {
      closing.add(thread);
      thread.close(id);
      return true;
    }
    thread.run(id, range, ranges === undefined ? opening : null);
    // Recorded before it is visited, because all ranges of a lost worker are visited again.
    if (ranges === undefined) visited.set(thread, [range]);
    else ranges.push(range);
    return true;
  }

  #receive(thread: ScanThread, reply: WorkerReply): void {
    const pooled = this.#jobs.find(({ id }) => id === reply.job)!;
    if ("failure" in reply) pooled.fail(errorOf(reply));
    else if ("result" in reply && !pooled.isOver) {
      pooled.visited.delete(thread);
      pooled.closing.delete(thread);
      pooled.add(reply.result);
    } else if ("done" in reply && pooled.isOver) thread.drop(pooled.id);
    this.#replied(pooled);
  }

  #replied(pooled: PooledJob): void {
    pooled.running--;
    this.#goOn(pooled);
  }

  #goOn(pooled: PooledJob): void {
    if (pooled.end()) this.#jobs = this.#jobs.filter((one) => one !== pooled);
    this.#assign();
  }

  /**
   * Replaces a worker that ended by itself. Its counts of all jobs are lost with it.
   * @param requested the numbers of the jobs it had unanswered requests of
   */
  #lose(thread: ScanThread, requested: readonly number[]): void {
    const place = this.#threads.indexOf(thread);
    if (place < 0) return;
    this.#threads.splice(place, 1);
    for (const pooled of [...this.#jobs]) {
      pooled.lose(thread);
      pooled.running -= requested.filter((id) => id === pooled.id).length;
      this.#goOn(pooled);
    }
    this.#assign();
  }
}

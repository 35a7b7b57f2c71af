import { atMost } from "../db/deadline.ts";
import { errorOf, LentDatabase } from "../db/lent_database.ts";
import { type Database, DatabaseUnavailable } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { pause } from "../turns/pause.ts";
import { isBehind } from "./pending_events.ts";
import type { Projection, ProjectionOptions } from "./projection.ts";
import * as LIMITS from "./projection_limits.ts";
import type { ProjectionReport, ProjectionRequest } from "./projection_worker.ts";

/**
 * The options of a projection; the causes of failures are also "worker_ended" if the thread ended by itself,
 * and "worker_silent" if it was ended because it gave no sign of life.
 */
export interface ProjectionThreadOptions extends Pick<ProjectionOptions, "log" | "observeFailure"> {
  /** Whether the database is about to close; what fails by this is not logged. */
  readonly isStopping?: () => boolean;
  readonly createWorker?: () => Worker;
  /** The default is PROJECTION_SIGN_PAUSE_MS. */
  readonly signPauseMs?: number;
}

/** By way of src/, because the bundle of the program, in dist/program, has no file of it. */
const PROJECTION_WORKER = new URL("../../src/projection/projection_worker.ts", import.meta.url);

const createWorker = () => new Worker(PROJECTION_WORKER, { type: "module" });

type Question =
  | Omit<Extract<ProjectionRequest, { kind: "catch_up" }>, "id">
  | { readonly kind: "run" | "close" };

/** A running worker, with the questions that it has not answered. */
interface LivingWorker {
  readonly worker: Worker;
  readonly lent: LentDatabase | null;
  readonly waiting: Map<number, PromiseWithResolvers<void>>;
  /** How often it was asked for a sign of life since its last message. */
  signsOwed: number;
  watch: ReturnType<typeof setInterval> | null;
}

/**
 * The projection in a worker, so that this thread stays free to ingest and answer. The worker starts when it is
 * first needed. If it ends by itself, another one is started; until then, reads leave out what is pending.
 */
export class ProjectionThread implements Projection {
  #living: LivingWorker | null = null;
  #lastId = 0;
  #endedAtMs = -Infinity;
  #isClosed = false;

  /** @param url PostgreSQL's, where the worker has connections of its own; null: it borrows `database` */
  constructor(
    private readonly database: Database,
    private readonly url: string | null,
    private readonly options: ProjectionThreadOptions = {},
  ) {}

  async catchUp(projectId: number): Promise<void> {
    await this.#catchUp(projectId, null);
  }

  async catchUpWithin(projectId: number, msMax: number): Promise<void> {
    await atMost(msMax, this.#catchUp(projectId, msMax));
  }

  async run(signal: AbortSignal): Promise<void> {
    const stop = () => this.#living?.worker.postMessage({ kind: "stop" });
    signal.addEventListener("abort", stop);
    // The worker answers when it is stopped; a rejection means that it has ended, and another one is started.
    while (!signal.aborted) {
      await this.#ask({ kind: "run" })
        .catch(() => pause(LIMITS.PROJECTION_FAILURE_PAUSE_MS, signal));
    }
    signal.removeEventListener("abort", stop);
  }

  /** Ends the thread. A running transaction is rolled back, and repeated after the next start. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const living = this.#living;
    if (living === null) return;
    if (living.waiting.size === 0) {
      await atMost(LIMITS.PROJECTION_CLOSE_MS_MAX, this.#send(living, { kind: "close" }));
    }
    await this.#end(living);
  }

  /** Asks the worker only if the project is behind, which most are not. */
  async #catchUp(projectId: number, msMax: number | null): Promise<void> {
    if (await isBehind(this.database, projectId)) {
      await this.#ask({ kind: "catch_up", projectId, msMax });
    }
  }

  /** Asks the worker, and starts one if none runs. Throws DatabaseUnavailable when it ends. */
  async #ask(question: Question): Promise<void> {
    await this.#send(this.#living ?? this.#start(), question);
  }

  #send({ worker, waiting }: LivingWorker, question: Question): Promise<void> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<void>();
    waiting.set(id, answer);
    worker.postMessage({ ...question, id } satisfies ProjectionRequest);
    return answer.promise;
  }

  #start(): LivingWorker {
    if (this.#isClosed) throw new DatabaseUnavailable("The projection has been closed");
    if (performance.now() - this.#endedAtMs < LIMITS.PROJECTION_FAILURE_PAUSE_MS) {
      throw new DatabaseUnavailable("The projection has ended and is restarting");
    }
    const worker = (this.options.createWorker ?? createWorker)();
    const { port1, port2 } = new MessageChannel();
    const lent = this.url === null ? new LentDatabase(this.database, port1) : null;
    const open: ProjectionRequest = { kind: "open", database: this.url ?? port2 };
    worker.postMessage(open, this.url === null ? [port2] : []);
    const living: LivingWorker = { worker, lent, waiting: new Map(), signsOwed: 0, watch: null };
    const pauseMs = this.options.signPauseMs ?? LIMITS.PROJECTION_SIGN_PAUSE_MS;
    living.watch = setInterval(() => this.#askForSign(living), pauseMs);
    Deno.unrefTimer(living.watch as unknown as number);
    worker.onmessage = ({ data }: MessageEvent<ProjectionReport>) => this.#receive(living, data);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#failed(living, "worker_ended");
    };
    return this.#living = living;
  }

  #receive(living: LivingWorker, report: ProjectionReport): void {
    const { waiting } = living;
    // Any message is a sign of life.
    living.signsOwed = 0;
    if (report.kind === "sign") return;
    if (report.kind === "ended") this.#failed(living, "worker_ended");
    else if (report.kind === "failure") this.options.observeFailure?.(report.cause);
    else if (report.kind === "warn") this.#warn(report.message, report.facts);
    else {
      const answer = waiting.get(report.id);
      waiting.delete(report.id);
      if (report.failure === null) answer?.resolve();
      else answer?.reject(errorOf(report.failure));
    }
  }

  /**
   * Detects a worker that is stuck in a loop, which raises no error. Counts missing signs instead of time,
   * because a laptop that slept has asked for only one in that time.
   */
  #askForSign(living: LivingWorker): void {
    if (living.signsOwed >= LIMITS.PROJECTION_SIGNS_OWED_MAX) {
      return this.#failed(living, "worker_silent");
    }
    living.signsOwed++;
    living.worker.postMessage({ kind: "sign" } satisfies ProjectionRequest);
  }

  /** Replaces a lost worker. Its error message is not logged: it may quote events. */
  #failed(living: LivingWorker, cause: "worker_ended" | "worker_silent"): void {
    if (this.#living !== living) return;
    this.options.observeFailure?.(cause);
    this.#warn("the projection's worker is lost; another one is started", { cause });
    this.#end(living).catch(() => {});
  }

  async #end({ worker, lent, waiting, watch }: LivingWorker): Promise<void> {
    this.#living = null;
    if (watch !== null) clearInterval(watch);
    this.#endedAtMs = performance.now();
    worker.terminate();
    const ended = new DatabaseUnavailable("The projection has ended");
    for (const { reject } of waiting.values()) reject(ended);
    await lent?.close();
  }

  #warn(...line: Parameters<Log["warn"]>): void {
    if (!this.options.isStopping?.()) this.options.log?.warn(...line);
  }
}

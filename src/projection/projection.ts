import { type Database, DatabaseUnavailable, DiskFull, StatementRefused } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import { pause } from "../pause.ts";
import { Attempt, projectBatch, ProjectionTooLong } from "./batch.ts";
import { BatchSizes } from "./batch_sizes.ts";
import { KnownProjects } from "./known_projects.ts";
import { Lanes } from "./lanes.ts";
import { Merging } from "./merging.ts";
import {
  isWaiting,
  lastWaiting,
  type PlacedEvent,
  PROJECTS_WAITING,
  setAside,
} from "./pending_events.ts";
import { beginProjection, isStale, STALE_PROJECTS } from "./projected_project.ts";
import * as LIMITS from "./projection_limits.ts";
import { TableStatistics } from "./table_statistics.ts";

export interface Projection {
  /** Projects everything that was stored for the project before this was called, but for what is set aside. */
  catchUp(projectId: number): Promise<void>;
  /** The same, as far as it goes in so much time. It never fails: what it leaves is projected later. */
  catchUpWithin(projectId: number, msMax: number): Promise<void>;
  /**
   * Projects what is pending anywhere until `signal` is aborted: reads then find little left to do. A
   * failure is logged and tried again; nothing is lost by it, the journal stays.
   * @returns when the last transaction under way has ended
   */
  run(signal: AbortSignal): Promise<void>;
}

export interface ProjectionOptions {
  readonly log?: Pick<Log, "warn">;
  /** Called with the cause of each transaction that failed, and with "set_aside" for each event that was. */
  readonly observeFailure?: (cause: string) => void;
  /** What one transaction may take. */
  readonly msMax?: number;
  /** Whether the database is about to be closed: a turn that this ends has not failed. */
  readonly isStopping?: () => boolean;
}

/** What came of one turn of a project. */
type Outcome = "projected" | "nothing" | "elsewhere" | "blamed";

/** SQLSTATEs that say nothing of the events: transactions in each other's way, statements of another schema. */
const NOT_THE_EVENTS = /^(40|42|55P03)/;

/** SQLSTATE of a statement that took too long. */
const CANCELLED = "57014";

/** Why, in words that hold nothing of the events: what PostgreSQL says may quote them. */
function causeOf(error: unknown): string {
  if (error instanceof StatementRefused) return error.sqlState;
  if (error instanceof ProjectionTooLong) return "too_long";
  if (error instanceof DiskFull) return "disk_full";
  return error instanceof DatabaseUnavailable ? "database_unavailable" : "error";
}

const rested = new AbortController().signal;

class ProjectsProjection implements Projection {
  readonly #database: Database;
  readonly #options: ProjectionOptions;
  readonly #aimMs: number;
  readonly #restShare: number;
  readonly #sizes: BatchSizes;
  readonly #lanes: Lanes;
  readonly #projects = new KnownProjects();
  readonly #statistics: TableStatistics;
  /** One turn at a time of each project: whoever needs it waits for the same. */
  readonly #turns = new Map<number, Promise<Outcome>>();
  readonly #merging: Merging;

  constructor(database: Database, options: ProjectionOptions) {
    const isEmbedded = database.engine === "embedded";
    this.#database = database;
    this.#options = options;
    this.#aimMs = isEmbedded ? LIMITS.PROJECTION_AIM_MS_EMBEDDED : LIMITS.PROJECTION_AIM_MS;
    this.#restShare = isEmbedded ? LIMITS.PROJECTION_REST_SHARE_EMBEDDED : 0;
    this.#sizes = new BatchSizes(
      isEmbedded ? LIMITS.PROJECTION_EVENTS_MAX_EMBEDDED : LIMITS.PROJECTION_EVENTS_MAX,
      isEmbedded ? LIMITS.PROJECTION_EVENTS_FIRST_EMBEDDED : LIMITS.PROJECTION_EVENTS_FIRST,
      this.#aimMs,
    );
    this.#lanes = new Lanes(
      isEmbedded ? LIMITS.PROJECTIONS_AT_ONCE_EMBEDDED : LIMITS.PROJECTIONS_AT_ONCE_POSTGRES,
    );
    this.#statistics = new TableStatistics(database);
    this.#merging = new Merging(database, {
      exclusively: (projectId, work) => this.#exclusively(projectId, work),
      underWay: () => this.#turns.size === 0 ? null : Promise.allSettled(this.#turns.values()),
      failed: (projectId, error) => {
        options.observeFailure?.("merging");
        this.#warn("segments not merged", { projectId, cause: causeOf(error) });
      },
    });
  }

  catchUp(projectId: number): Promise<void> {
    return this.#until(projectId, Infinity);
  }

  async catchUpWithin(projectId: number, msMax: number): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, msMax);
    // Whatever fails here fails in the background too, where it is told.
    const work = this.#until(projectId, performance.now() + msMax).catch(() => {});
    await Promise.race([work, late]);
    clearTimeout(timer);
  }

  async run(signal: AbortSignal): Promise<void> {
    const active = new Map<number, Promise<void>>();
    const merging = this.#merging.run(signal);
    while (!signal.aborted) {
      try {
        // Whoever updates, or restarts, may have much that the planner was never told of.
        await this.#statistics.start();
        for (const projectId of await this.#waiting()) {
          if (active.has(projectId)) continue;
          const projecting = this.#projectAll(projectId, signal).finally(() =>
            active.delete(projectId)
          );
          active.set(projectId, projecting);
        }
      } catch (error) {
        if (!signal.aborted) this.#tell(error);
      }
      await pause(LIMITS.PROJECTION_PAUSE_MS, signal);
    }
    await Promise.all([...active.values(), merging]);
  }

  async #waiting(): Promise<number[]> {
    const rows = await this.#database.query<{ project_id: number }>(
      `${PROJECTS_WAITING} UNION ${STALE_PROJECTS} ORDER BY project_id`,
    );
    return rows.map(({ project_id }) => project_id);
  }

  /** Turn by turn, until nothing is left of the project or somebody else projects it. */
  async #projectAll(projectId: number, signal: AbortSignal): Promise<void> {
    let outcome: Outcome = "projected";
    while (!signal.aborted && (outcome === "projected" || outcome === "blamed")) {
      try {
        outcome = await this.#turn(projectId, false);
      } catch {
        await pause(LIMITS.PROJECTION_FAILURE_PAUSE_MS, signal);
        return;
      }
    }
  }

  async #until(projectId: number, endsAtMs: number): Promise<void> {
    const upTo = await lastWaiting(this.#database, projectId);
    const isPending = () =>
      upTo === null
        ? isStale(this.#database, projectId)
        : isWaiting(this.#database, projectId, upTo);
    while (performance.now() < endsAtMs && await isPending()) {
      const outcome = await this.#turn(projectId, true);
      if (outcome === "elsewhere") await pause(LIMITS.PROJECTION_ELSEWHERE_PAUSE_MS, rested);
    }
  }

  #turn(projectId: number, isUrgent: boolean): Promise<Outcome> {
    const underWay = this.#turns.get(projectId);
    if (underWay !== undefined) {
      if (isUrgent) this.#lanes.hurry(projectId);
      return underWay;
    }
    const turn = this.#takeTurn(projectId, isUrgent)
      .finally(() => this.#turns.delete(projectId));
    this.#turns.set(projectId, turn);
    return turn;
  }

  /** Changes a project beside its turns: whoever asks for one meanwhile has it after this. */
  async #exclusively(projectId: number, work: () => Promise<void>): Promise<void> {
    for (let other; (other = this.#turns.get(projectId)) !== undefined;) {
      await other.catch(() => {});
    }
    const done = work();
    const over = () => {
      this.#turns.delete(projectId);
      return "projected" as const;
    };
    this.#turns.set(projectId, done.then(over, over));
    await done;
  }

  async #takeTurn(projectId: number, isUrgent: boolean): Promise<Outcome> {
    await this.#lanes.enter(projectId, isUrgent);
    const eventsMax = this.#sizes.of(projectId);
    const msMax = this.#options.msMax ?? LIMITS.PROJECTION_MS_MAX;
    const attempt = new Attempt(projectId, eventsMax, this.#aimMs, msMax);
    try {
      await this.#database.transaction((tx) => projectBatch(tx, attempt, this.#projects));
      this.#sizes.done(projectId, attempt.events, attempt.tookMs);
    } catch (error) {
      // Numbers that were given out and taken back are given out again, to others.
      this.#projects.forget(projectId);
      return await this.#failed(attempt, error);
    } finally {
      this.#leave(isUrgent ? 0 : attempt.tookMs * this.#restShare);
    }
    if (attempt.isElsewhere) return "elsewhere";
    if (attempt.unreadable > 0) {
      this.#options.observeFailure?.("unreadable_block");
      this.#warn("journal rows unreadable", { projectId, rows: attempt.unreadable });
    }
    if (attempt.events > 0) {
      this.#merging.note(projectId);
      await this.#note(projectId, attempt.events);
    }
    const { events, journalRows, isSettled } = attempt;
    return events > 0 || journalRows > 0 || !isSettled ? "projected" : "nothing";
  }

  /** Ends a turn: for so long others have the engine, unless nobody wants it. */
  #leave(restMs: number): void {
    this.#lanes.leave(restMs);
    // Where nobody can say, because the database is gone, the time says it.
    if (restMs > 0) this.#database.rest?.(restMs).then(() => this.#lanes.wake(), () => {});
  }

  /** The events are projected, whatever becomes of the statistics. */
  async #note(projectId: number, events: number): Promise<void> {
    try {
      await this.#statistics.note(projectId, events);
    } catch (error) {
      this.#warn("statistics not updated", { cause: causeOf(error) });
    }
  }

  /** Halves what was tried, or sets one event aside; throws where the events are not to blame. */
  async #failed(attempt: Attempt, error: unknown): Promise<Outcome> {
    const { projectId, events, eventsMax, isSettled, first } = attempt;
    const cause = causeOf(error);
    this.#options.observeFailure?.(cause);
    this.#tell(error, { projectId, events });
    if (!isSettled || NOT_THE_EVENTS.test(cause) || !await this.#answers(error)) throw error;
    const tried = events === 0 ? eventsMax : events;
    if (tried > 1) {
      this.#sizes.failed(projectId, tried);
      return "blamed";
    }
    // What took too long may have been slow for another reason, as whatever else failed but a statement.
    const isSure = error instanceof StatementRefused && cause !== CANCELLED;
    const failures = this.#sizes.failedAlone(projectId);
    if (first === null) throw error;
    if (isSure || failures >= LIMITS.FAILURES_ALONE_MAX) await this.#setAside(projectId, first);
    return "blamed";
  }

  #tell(error: unknown, where: { readonly projectId?: number; readonly events?: number } = {}) {
    // A full disk is told of once, by itself.
    if (error instanceof DiskFull) return;
    this.#warn("projection failed", { ...where, cause: causeOf(error) });
  }

  #warn(message: string, fields: Parameters<Log["warn"]>[1]): void {
    if (!this.#options.isStopping?.()) this.#options.log?.warn(message, fields);
  }

  /** Whether the database answers after a failure, and has room: else it is to blame, not the events. */
  async #answers(error: unknown): Promise<boolean> {
    if (error instanceof DiskFull) return false;
    if (!(error instanceof DatabaseUnavailable)) return true;
    return await this.#database.ping().then(() => true, () => false);
  }

  async #setAside(projectId: number, event: PlacedEvent): Promise<void> {
    const isAside = await this.#database.transaction(async (tx) =>
      await beginProjection(tx, projectId) !== null && await setAside(tx, projectId, event)
    );
    this.#sizes.setAside(projectId);
    if (!isAside) return;
    this.#options.observeFailure?.("set_aside");
    this.#options.log?.warn("event set aside", { projectId });
  }
}

/**
 * The projection: makes segments, identities, sessions, actors and rollups of the events in the
 * journal, each exactly once, in transactions of its own. The result depends on the set of events
 * alone, never on their order, their batches, or which server projects them.
 */
export function createProjection(database: Database, options: ProjectionOptions = {}): Projection {
  return new ProjectsProjection(database, options);
}

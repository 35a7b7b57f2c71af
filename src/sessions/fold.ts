import { type Database, DatabaseUnavailable, DiskFull, StatementRefused } from "../db/sql.ts";
import type { Log } from "../http/log.ts";
import {
  FOLD_AIM_MS,
  FOLD_AIM_MS_EMBEDDED,
  FOLD_ELSEWHERE_PAUSE_MS,
  FOLD_EVENTS_FIRST,
  FOLD_EVENTS_FIRST_EMBEDDED,
  FOLD_EVENTS_MAX,
  FOLD_EVENTS_MAX_EMBEDDED,
  FOLD_FAILURE_PAUSE_MS,
  FOLD_FAILURES_ALONE_MAX,
  FOLD_MS_MAX,
  FOLD_PAUSE_MS,
  FOLD_REST_SHARE_EMBEDDED,
  FOLDS_AT_ONCE_EMBEDDED,
  FOLDS_AT_ONCE_POSTGRES,
} from "../limits.ts";
import { pause } from "../pause.ts";
import { Attempt, foldBatch, FoldTooLong } from "./fold_batch.ts";
import { FoldLanes } from "./fold_lanes.ts";
import { isWaiting, lastWaiting, PROJECTS_WAITING, setAside } from "./fold_marks.ts";
import { beginFold, isStale, STALE_PROJECTS } from "./fold_project.ts";
import { FoldSizes } from "./fold_sizes.ts";
import { TableStatistics } from "./table_statistics.ts";
import { ValueNumbersOf } from "./value_numbers.ts";

export interface Fold {
  /** Folds everything that was stored for the project before this was called, but for what is set aside. */
  catchUp(projectId: number): Promise<void>;
  /** The same, as far as it goes in so much time. It never fails: what it leaves is folded later. */
  catchUpWithin(projectId: number, msMax: number): Promise<void>;
  /**
   * Folds what is pending anywhere until `signal` is aborted: reads then find little left to do. A
   * failure is logged and tried again; nothing is lost by it, the marks stay.
   * @returns when the last transaction under way has ended
   */
  run(signal: AbortSignal): Promise<void>;
}

export interface FoldOptions {
  readonly log?: Pick<Log, "warn">;
  /** Called with the cause of each transaction that failed, and with "set_aside" for each event that was. */
  readonly observeFailure?: (cause: string) => void;
  /** What one transaction may take. */
  readonly msMax?: number;
  /** Whether the database is about to be closed: a turn that this ends has not failed. */
  readonly isStopping?: () => boolean;
}

/** What came of one turn of a project. */
type Outcome = "folded" | "nothing" | "elsewhere" | "blamed";

/** SQLSTATEs that say nothing of the events: transactions in each other's way, statements of another schema. */
const NOT_THE_EVENTS = /^(40|42|55P03)/;

/** SQLSTATE of a statement that took too long. */
const CANCELLED = "57014";

/** Why, in words that hold nothing of the events: what PostgreSQL says may quote them. */
function causeOf(error: unknown): string {
  if (error instanceof StatementRefused) return error.sqlState;
  if (error instanceof FoldTooLong) return "too_long";
  if (error instanceof DiskFull) return "disk_full";
  return error instanceof DatabaseUnavailable ? "database_unavailable" : "error";
}

const rested = new AbortController().signal;

class ProjectsFold implements Fold {
  readonly #database: Database;
  readonly #options: FoldOptions;
  readonly #aimMs: number;
  readonly #restShare: number;
  readonly #sizes: FoldSizes;
  readonly #lanes: FoldLanes;
  readonly #values = new ValueNumbersOf();
  readonly #statistics: TableStatistics;
  /** One turn at a time of each project: whoever needs it waits for the same. */
  readonly #turns = new Map<number, Promise<Outcome>>();

  constructor(database: Database, options: FoldOptions) {
    const isEmbedded = database.engine === "embedded";
    this.#database = database;
    this.#options = options;
    this.#aimMs = isEmbedded ? FOLD_AIM_MS_EMBEDDED : FOLD_AIM_MS;
    this.#restShare = isEmbedded ? FOLD_REST_SHARE_EMBEDDED : 0;
    this.#sizes = new FoldSizes(
      isEmbedded ? FOLD_EVENTS_MAX_EMBEDDED : FOLD_EVENTS_MAX,
      isEmbedded ? FOLD_EVENTS_FIRST_EMBEDDED : FOLD_EVENTS_FIRST,
      this.#aimMs,
    );
    this.#lanes = new FoldLanes(isEmbedded ? FOLDS_AT_ONCE_EMBEDDED : FOLDS_AT_ONCE_POSTGRES);
    this.#statistics = new TableStatistics(database);
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
    while (!signal.aborted) {
      try {
        // Whoever updates, or restarts, may have much that the planner was never told of.
        await this.#statistics.start();
        for (const projectId of await this.#waiting()) {
          if (active.has(projectId)) continue;
          const folding = this.#foldAll(projectId, signal).finally(() => active.delete(projectId));
          active.set(projectId, folding);
        }
      } catch (error) {
        if (!signal.aborted) this.#tell(error);
      }
      await pause(FOLD_PAUSE_MS, signal);
    }
    await Promise.all(active.values());
  }

  async #waiting(): Promise<number[]> {
    const rows = await this.#database.query<{ project_id: number }>(
      `${PROJECTS_WAITING} UNION ${STALE_PROJECTS} ORDER BY project_id`,
    );
    return rows.map(({ project_id }) => project_id);
  }

  /** Turn by turn, until nothing is left of the project or somebody else folds it. */
  async #foldAll(projectId: number, signal: AbortSignal): Promise<void> {
    let outcome: Outcome = "folded";
    while (!signal.aborted && (outcome === "folded" || outcome === "blamed")) {
      try {
        outcome = await this.#turn(projectId, false);
      } catch {
        await pause(FOLD_FAILURE_PAUSE_MS, signal);
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
      if (outcome === "elsewhere") await pause(FOLD_ELSEWHERE_PAUSE_MS, rested);
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

  async #takeTurn(projectId: number, isUrgent: boolean): Promise<Outcome> {
    await this.#lanes.enter(projectId, isUrgent);
    const eventsMax = this.#sizes.of(projectId);
    const msMax = this.#options.msMax ?? FOLD_MS_MAX;
    const attempt = new Attempt(projectId, eventsMax, this.#aimMs, msMax);
    try {
      await this.#database.transaction((tx) => foldBatch(tx, attempt, this.#values));
      this.#sizes.done(projectId, attempt.events, attempt.tookMs);
    } catch (error) {
      // Numbers that were given out and taken back are given out again, to others.
      this.#values.forget(projectId);
      return await this.#failed(attempt, error);
    } finally {
      this.#lanes.leave(isUrgent ? 0 : attempt.tookMs * this.#restShare);
    }
    if (attempt.isElsewhere) return "elsewhere";
    if (attempt.events > 0) await this.#note(projectId, attempt.events);
    return attempt.events > 0 || !attempt.isSettled ? "folded" : "nothing";
  }

  /** The events are folded, whatever becomes of the statistics. */
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
    if (isSure || failures >= FOLD_FAILURES_ALONE_MAX) await this.#setAside(projectId, first);
    return "blamed";
  }

  #tell(error: unknown, where: { readonly projectId?: number; readonly events?: number } = {}) {
    // A full disk is told of once, by itself.
    if (error instanceof DiskFull) return;
    this.#warn("fold failed", { ...where, cause: causeOf(error) });
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

  async #setAside(projectId: number, eventId: string): Promise<void> {
    const isAside = await this.#database.transaction(async (tx) =>
      await beginFold(tx, projectId) !== null && await setAside(tx, projectId, eventId)
    );
    this.#sizes.setAside(projectId);
    if (!isAside) return;
    this.#options.observeFailure?.("set_aside");
    this.#options.log?.warn("event set aside", { projectId });
  }
}

/**
 * The fold: turns stored events into facts, sessions and identities. It consumes the marks that
 * writers leave, each exactly once, in transactions of their own. The result depends on the set of
 * events alone, never on their order, their batches, or which server folds them.
 */
export function createFold(database: Database, options: FoldOptions = {}): Fold {
  return new ProjectsFold(database, options);
}

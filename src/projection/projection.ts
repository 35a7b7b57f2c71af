import {
  type Database,
  DatabaseRefuses,
  DatabaseUnavailable,
  DiskFull,
  StatementRefused,
} from "../db/sql.ts";
import { atMost, ping } from "../db/deadline.ts";
import type { Log } from "../http/log.ts";
import { pause } from "../turns/pause.ts";
import { Attempt, projectBatch, ProjectionTooLong } from "./batch.ts";
import { BatchSizes } from "./batch_sizes.ts";
import { KnownProjects } from "./known_projects.ts";
import { Lanes } from "./lanes.ts";
import { Merging } from "./merging.ts";
import {
  isAsideDue,
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
  /** Projects all events that are stored for the project when this is called, except those set aside. */
  catchUp(projectId: number): Promise<void>;
  /** `catchUp` for at most `msMax`. Never throws: the rest is projected later. */
  catchUpWithin(projectId: number, msMax: number): Promise<void>;
  /**
   * Projects the pending events of all projects until `signal` is aborted, so that reads find little left to
   * do. Failures are logged and retried; nothing is lost, since the journal keeps the events.
   * @returns when the last running transaction has ended
   */
  run(signal: AbortSignal): Promise<void>;
}

export interface ProjectionOptions {
  readonly log?: Pick<Log, "warn">;
  /** Called with the cause of each failed transaction, and with "set_aside" for each event set aside. */
  readonly observeFailure?: (cause: string) => void;
  /** The time that one transaction may take. */
  readonly msMax?: number;
}

/**
 * The result of one turn. "blamed": events failed; "elsewhere": another server projects the project;
 * "unsettled": nothing was pending, and the project cannot be settled.
 */
type Outcome = "projected" | "nothing" | "elsewhere" | "blamed" | "unsettled";

/** SQLSTATEs that events cannot cause: conflicting transactions, another version's schema. */
const NOT_THE_EVENTS = /^(40|42|55P03)/;

/** SQLSTATE of a statement that took too long. */
const CANCELLED = "57014";

/** Names the cause without PostgreSQL's message, which may quote events. */
function causeOf(error: unknown): string {
  if (error instanceof StatementRefused) return error.sqlState;
  if (error instanceof ProjectionTooLong) return "too_long";
  if (error instanceof DiskFull) return "disk_full";
  if (error instanceof DatabaseRefuses) return "database_refuses";
  return error instanceof DatabaseUnavailable ? "database_unavailable" : "error";
}

const NEVER_ABORTED = new AbortController().signal;

class ProjectsProjection implements Projection {
  readonly #aimMs: number;
  readonly #restShare: number;
  readonly #sizes: BatchSizes;
  readonly #lanes: Lanes;
  readonly #projects = new KnownProjects();
  readonly #statistics: TableStatistics;
  /** The current turn of each project; callers that need a turn share it. */
  readonly #turns = new Map<number, Promise<Outcome>>();
  readonly #merging: Merging;

  constructor(private readonly database: Database, private readonly options: ProjectionOptions) {
    const isEmbedded = database.engine === "embedded";
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
        this.options.log?.warn("segments not merged", { projectId, cause: causeOf(error) });
      },
    });
  }

  catchUp(projectId: number): Promise<void> {
    return this.#until(projectId, Infinity);
  }

  async catchUpWithin(projectId: number, msMax: number): Promise<void> {
    await atMost(msMax, this.#until(projectId, performance.now() + msMax));
  }

  async run(signal: AbortSignal): Promise<void> {
    const active = new Map<number, Promise<void>>();
    const merging = this.#merging.run(signal);
    while (!signal.aborted) {
      try {
        // After an update or a restart, statistics may lack much of what is stored.
        await this.#statistics.start();
        const waiting = await this.database.query<{ project_id: number }>(
          `${PROJECTS_WAITING} UNION ${STALE_PROJECTS} ORDER BY project_id`,
        );
        for (const { project_id: projectId } of waiting) {
          if (active.has(projectId)) continue;
          const projecting = this.#projectAll(projectId, signal).finally(() =>
            active.delete(projectId)
          );
          active.set(projectId, projecting);
        }
      } catch (error) {
        if (!signal.aborted) this.#warnFailed(error);
      }
      await pause(LIMITS.PROJECTION_PAUSE_MS, signal);
    }
    await Promise.all([...active.values(), merging]);
  }

  /**
   * Takes turns until the events that were pending at its start are projected, then set-aside ones that are
   * due, unless another server projects the project. Events that arrive in the meantime wait for the next
   * look: turn after turn would take few events each.
   */
  async #projectAll(projectId: number, signal: AbortSignal): Promise<void> {
    try {
      const upTo = await lastWaiting(this.database, projectId);
      let outcome: Outcome;
      do {
        outcome = await this.#turn(projectId, false);
      } while (
        !signal.aborted && (outcome === "projected" || outcome === "blamed") &&
        (upTo === null || await isWaiting(this.database, projectId, upTo))
      );
      while (
        !signal.aborted && outcome !== "elsewhere" && await isAsideDue(this.database, projectId)
      ) outcome = await this.#turn(projectId, false, true);
    } catch {
      await pause(LIMITS.PROJECTION_FAILURE_PAUSE_MS, signal);
    }
  }

  /** Projects the events that are pending now, until all are done or the time is over. */
  async #until(projectId: number, endsAtMs: number): Promise<void> {
    const upTo = await lastWaiting(this.database, projectId);
    const isPending = () =>
      upTo === null ? isStale(this.database, projectId) : isWaiting(this.database, projectId, upTo);
    while (performance.now() < endsAtMs && await isPending()) {
      const outcome = await this.#turn(projectId, true);
      if (outcome === "elsewhere") {
        await pause(LIMITS.PROJECTION_ELSEWHERE_PAUSE_MS, NEVER_ABORTED);
      } else if (outcome === "unsettled" && upTo === null) return;
    }
  }

  #turn(projectId: number, isUrgent: boolean, isOfAside = false): Promise<Outcome> {
    const underWay = this.#turns.get(projectId);
    if (underWay !== undefined) {
      if (isUrgent) this.#lanes.hurry(projectId);
      return underWay;
    }
    const turn = this.#takeTurn(projectId, isUrgent, isOfAside)
      .finally(() => this.#turns.delete(projectId));
    this.#turns.set(projectId, turn);
    return turn;
  }

  /** Runs work between a project's turns; a turn requested in the meantime ends with this work. */
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

  async #takeTurn(projectId: number, isUrgent: boolean, isOfAside: boolean): Promise<Outcome> {
    await this.#lanes.enter(projectId, isUrgent);
    const eventsMax = this.#sizes.sizeOf(projectId);
    const msMax = this.options.msMax ?? LIMITS.PROJECTION_MS_MAX;
    const attempt = new Attempt(projectId, eventsMax, this.#aimMs, msMax, isOfAside);
    try {
      await this.database.transaction((tx) => projectBatch(tx, attempt, this.#projects));
      this.#sizes.done(projectId, attempt.events, attempt.tookMs);
    } catch (error) {
      // Numbers that the rollback has freed will be assigned to something else.
      this.#projects.evict(projectId);
      return await this.#failed(attempt, error);
    } finally {
      this.#leave(isUrgent ? 0 : attempt.tookMs * this.#restShare);
    }
    if (attempt.isElsewhere) return "elsewhere";
    if (attempt.unreadable > 0) {
      this.options.observeFailure?.("unreadable_block");
      this.options.log?.warn("journal rows unreadable", { projectId, rows: attempt.unreadable });
    }
    if (attempt.events > 0) {
      this.#merging.note(projectId);
      await this.#note(projectId, attempt.events);
    }
    const { events, journalRows, settled } = attempt;
    if (settled === "damaged") {
      this.options.observeFailure?.("unreadable_segment");
      this.options.log?.warn("rollups not recounted, as a segment is unreadable", { projectId });
    }
    if (events > 0 || journalRows > 0 || settled === "begun") return "projected";
    return settled === "settled" ? "nothing" : "unsettled";
  }

  /** Ends a turn, and leaves the engine to others for `restMs`, or until it is idle. */
  #leave(restMs: number): void {
    this.#lanes.leave(restMs);
    // If the database is gone and cannot say so, the rest ends by its time.
    if (restMs > 0) this.database.rest?.(restMs).then(() => this.#lanes.wake(), () => {});
  }

  /** Updates the statistics; a failure is only logged, since the events are projected. */
  async #note(projectId: number, events: number): Promise<void> {
    try {
      await this.#statistics.note(projectId, events);
    } catch (error) {
      this.options.log?.warn("statistics not updated", { cause: causeOf(error) });
    }
  }

  /** Halves the batch size, or sets an event aside; throws where the events are not to blame. */
  async #failed(attempt: Attempt, error: unknown): Promise<Outcome> {
    const { projectId, events, eventsMax, isSettled, first } = attempt;
    const cause = causeOf(error);
    this.options.observeFailure?.(cause);
    this.#warnFailed(error, { projectId, events });
    if (!isSettled || NOT_THE_EVENTS.test(cause) || !await this.#answers(error)) throw error;
    const tried = events === 0 ? eventsMax : events;
    if (tried > 1) {
      this.#sizes.failed(projectId, tried);
      return "blamed";
    }
    // Only a refused statement is certainly caused by the event; a timeout may have another cause.
    const isSure = error instanceof StatementRefused && cause !== CANCELLED;
    const failures = this.#sizes.failedAlone(projectId);
    if (first === null) throw error;
    if (isSure || failures >= LIMITS.FAILURES_ALONE_MAX) await this.#setAside(projectId, first);
    return "blamed";
  }

  #warnFailed(
    error: unknown,
    where: { readonly projectId?: number; readonly events?: number } = {},
  ) {
    // A full disk is reported once, elsewhere.
    if (error instanceof DiskFull) return;
    this.options.log?.warn("projection failed", { ...where, cause: causeOf(error) });
  }

  /** Whether the database answers and takes writes after a failure; if not, the events are not to blame. */
  async #answers(error: unknown): Promise<boolean> {
    if (error instanceof DiskFull || error instanceof DatabaseRefuses) return false;
    if (!(error instanceof DatabaseUnavailable)) return true;
    return await ping(this.database).then(() => true, () => false);
  }

  async #setAside(projectId: number, event: PlacedEvent): Promise<void> {
    const isAside = await this.database.transaction(async (tx) =>
      await beginProjection(tx, projectId) !== null && await setAside(tx, projectId, event)
    );
    this.#sizes.setAside(projectId);
    if (!isAside) return;
    this.options.observeFailure?.("set_aside");
    this.options.log?.warn("event set aside", { projectId });
  }
}

/**
 * Creates the projection, which turns the journal's events into segments, identities, sessions, actors and
 * rollups: each event exactly once, in its own transactions. The result depends only on the set of events,
 * not on their order, their batches, or the server that projects them.
 */
export function createProjection(database: Database, options: ProjectionOptions = {}): Projection {
  return new ProjectsProjection(database, options);
}

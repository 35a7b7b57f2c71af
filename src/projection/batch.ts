import { ALL_ROWS_FETCHED } from "../db/binary_rows.ts";
import type { Sql } from "../db/sql.ts";
import { statementsRunBy } from "../db/wrapped_sql.ts";
import { beginProjection } from "./projected_project.ts";
import { projectEvents } from "./project_events.ts";
import type { KnownProject, KnownProjects } from "./known_projects.ts";
import { asideEvent, markProjected, pendingEvents, type PlacedEvent } from "./pending_events.ts";
import { SETTLING_STATEMENT_MS_MAX } from "./projection_limits.ts";
import { settle, type Settled } from "./settling.ts";

/** Thrown when a transaction of the projection exceeds its time. */
export class ProjectionTooLong extends Error {
  override readonly name = "ProjectionTooLong";
}

/** The limits of one transaction of the projection, and how far it got, also after a failure. */
export class Attempt {
  /** When it got its connection; null: still waiting for one. */
  startedAtMs: number | null = null;
  isElsewhere = false;
  /** Null: not settled, or settling failed. */
  settled: Settled | null = null;
  /** How many events it took, and the first of them. */
  events = 0;
  first: PlacedEvent | null = null;
  /** How many journal rows it took, and how many of them it could not read. */
  journalRows = 0;
  unreadable = 0;

  constructor(
    readonly projectId: number,
    readonly eventsMax: number,
    readonly aimMs: number,
    readonly msMax: number,
    /** Whether it takes a set-aside event that is due, instead of pending ones. */
    readonly isOfAside = false,
  ) {}

  /** Whether pending events can be projected, at least without rollups. */
  get isSettled(): boolean {
    return this.settled !== null && this.settled !== "begun";
  }

  get tookMs(): number {
    return this.startedAtMs === null ? 0 : performance.now() - this.startedAtMs;
  }
}

/** Limits a transaction: no statement begins after `msMax`, and none runs longer than that. */
async function limited(tx: Sql, msMax: number): Promise<Sql> {
  const endsAtMs = performance.now() + msMax;
  await tx.script(`SET LOCAL statement_timeout = ${msMax}; ${ALL_ROWS_FETCHED}`);
  return statementsRunBy(tx, (statement) => {
    if (performance.now() <= endsAtMs) return statement();
    throw new ProjectionTooLong(`It took longer than ${msMax} ms`);
  });
}

async function projectPending(
  tx: Sql,
  attempt: Attempt,
  known: KnownProject,
): Promise<void> {
  const { projectId, eventsMax } = attempt;
  const pending = attempt.isOfAside
    ? await asideEvent(tx, projectId)
    : await pendingEvents(tx, projectId, eventsMax);
  attempt.events = pending.columns.length;
  attempt.first = pending.first;
  attempt.unreadable = pending.unreadable.length;
  attempt.journalRows = pending.taken.length + attempt.unreadable;
  if (pending.columns.length > 0) {
    await projectEvents(tx, projectId, known, pending.columns, attempt.settled === "settled");
  }
  await markProjected(tx, projectId, pending);
}

/**
 * Does one transaction of the projection: settles the project (see `settle`), then projects its oldest
 * pending events, or one that was set aside.
 */
export async function projectBatch(
  tx: Sql,
  attempt: Attempt,
  projects: KnownProjects,
): Promise<void> {
  const { projectId, aimMs, msMax } = attempt;
  attempt.startedAtMs = performance.now();
  await tx.script(`SET LOCAL statement_timeout = ${SETTLING_STATEMENT_MS_MAX}`);
  const project = await beginProjection(tx, projectId, " SKIP LOCKED");
  if (project === null) {
    attempt.isElsewhere = true;
    return;
  }
  const known = await projects.get(tx, projectId, project);
  const isOver = () => attempt.tookMs > aimMs;
  attempt.settled = await settle({ tx, projectId, project, known, isOver });
  if (attempt.isSettled) await projectPending(await limited(tx, msMax), attempt, known);
}

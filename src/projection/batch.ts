import type { Sql } from "../db/sql.ts";
import { beginUnlessElsewhere, type ProjectedProject } from "./projected_project.ts";
import { projectEvents } from "./project_events.ts";
import type { KnownProjects } from "./known_projects.ts";
import { markProjected, pendingEvents, type PlacedEvent } from "./pending_events.ts";
import { SETTLING_STATEMENT_MS_MAX } from "./projection_limits.ts";
import { settle } from "./settling.ts";

/** The time of a transaction of the projection is over. */
export class ProjectionTooLong extends Error {
  override readonly name = "ProjectionTooLong";
}

/** What one transaction of the projection may do, and how far it got: known of one that fails, too. */
export class Attempt {
  /** When it got its connection; null: it has none yet. */
  startedAtMs: number | null = null;
  isElsewhere = false;
  isSettled = false;
  /** Events that it took, and the first of them. */
  events = 0;
  first: PlacedEvent | null = null;
  /** Journal rows that it took, and those that it could not read. */
  journalRows = 0;
  unreadable = 0;

  constructor(
    readonly projectId: number,
    readonly eventsMax: number,
    readonly aimMs: number,
    readonly msMax: number,
  ) {}

  get tookMs(): number {
    return this.startedAtMs === null ? 0 : performance.now() - this.startedAtMs;
  }
}

/** The transaction's statements: none of them begins after `msMax`, and each ends by then. */
async function limited(tx: Sql, msMax: number): Promise<Sql> {
  const endsAtMs = performance.now() + msMax;
  await tx.script(`SET LOCAL statement_timeout = ${msMax}`);
  const check = () => {
    if (performance.now() > endsAtMs) {
      throw new ProjectionTooLong(`It took longer than ${msMax} ms`);
    }
  };
  return {
    query(text, params) {
      check();
      return tx.query(text, params);
    },
    script(text) {
      check();
      return tx.script(text);
    },
    transaction: (work) => tx.transaction(work),
  };
}

async function projectPending(
  tx: Sql,
  attempt: Attempt,
  project: ProjectedProject,
  projects: KnownProjects,
): Promise<void> {
  const { projectId, eventsMax } = attempt;
  const pending = await pendingEvents(tx, projectId, eventsMax);
  attempt.events = pending.columns.length;
  attempt.first = pending.first;
  attempt.unreadable = pending.unreadable.length;
  attempt.journalRows = pending.taken.length + attempt.unreadable;
  if (pending.columns.length > 0) {
    const known = await projects.of(tx, projectId, project);
    await projectEvents(tx, projectId, known, pending.columns);
  }
  await markProjected(tx, projectId, pending);
}

/**
 * One transaction of the projection: brings what was made of a project up to date, then projects the
 * events that were stored first.
 */
export async function projectBatch(
  tx: Sql,
  attempt: Attempt,
  projects: KnownProjects,
): Promise<void> {
  const { projectId, aimMs, msMax } = attempt;
  attempt.startedAtMs = performance.now();
  await tx.script(`SET LOCAL statement_timeout = ${SETTLING_STATEMENT_MS_MAX}`);
  const project = await beginUnlessElsewhere(tx, projectId);
  if (project === null) {
    attempt.isElsewhere = true;
    return;
  }
  attempt.isSettled = await settle({
    tx,
    projectId,
    project,
    known: await projects.of(tx, projectId, project),
    isOver: () => attempt.tookMs > aimMs,
  });
  if (attempt.isSettled) await projectPending(await limited(tx, msMax), attempt, project, projects);
}

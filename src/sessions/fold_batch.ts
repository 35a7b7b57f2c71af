import type { Sql } from "../db/sql.ts";
import { FOLD_SETTLING_STATEMENT_MS_MAX } from "../limits.ts";
import { cutSessions } from "./fold_cut.ts";
import { resolveDictionaries } from "./fold_dictionaries.ts";
import { writeHistories } from "./fold_histories.ts";
import { moveHistories, resolveIdentities } from "./fold_identities.ts";
import { firstWaiting, takeFresh } from "./fold_marks.ts";
import { beginFoldUnlessElsewhere, type FoldedProject } from "./fold_project.ts";
import { rankFacts } from "./fold_ranks.ts";
import { settle } from "./fold_settling.ts";
import { rollUp } from "./rollups.ts";
import type { ValueNumbersOf } from "./value_numbers.ts";

/** The time of a transaction of the fold is over. */
export class FoldTooLong extends Error {
  override readonly name = "FoldTooLong";
}

/** What one transaction of the fold may do, and how far it got: known of one that fails, too. */
export class Attempt {
  /** When it got its connection; null: it has none yet. */
  startedAtMs: number | null = null;
  isElsewhere = false;
  isSettled = false;
  /** Events that it took, and the first of them where it may take but one. */
  events = 0;
  first: string | null = null;

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
    if (performance.now() > endsAtMs) throw new FoldTooLong(`It took longer than ${msMax} ms`);
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

async function foldFresh(
  tx: Sql,
  attempt: Attempt,
  project: FoldedProject,
  values: ValueNumbersOf,
): Promise<void> {
  const { projectId, eventsMax } = attempt;
  if (eventsMax === 1) attempt.first = await firstWaiting(tx, projectId);
  attempt.events = await takeFresh(tx, projectId, eventsMax);
  if (attempt.events === 0) return;
  await resolveDictionaries(tx, projectId, project.site_host);
  const moved = await resolveIdentities(tx, projectId) > 0;
  if (moved) await moveHistories(tx, projectId);
  await rankFacts(tx, projectId, moved);
  const dissolved = (await tx.query("SELECT FROM fold_dissolved LIMIT 1")).length > 0;
  await cutSessions(tx, projectId, { moved, dissolved });
  await writeHistories(tx, projectId);
  await rollUp(tx, projectId, project.timezone, values.of(projectId, project.site_host));
}

/**
 * One transaction of the fold: brings what was made of a project up to date, then folds the events
 * that were stored first.
 */
export async function foldBatch(tx: Sql, attempt: Attempt, values: ValueNumbersOf): Promise<void> {
  const { projectId, aimMs, msMax } = attempt;
  attempt.startedAtMs = performance.now();
  await tx.script(`SET LOCAL statement_timeout = ${FOLD_SETTLING_STATEMENT_MS_MAX}`);
  const project = await beginFoldUnlessElsewhere(tx, projectId);
  if (project === null) {
    attempt.isElsewhere = true;
    return;
  }
  attempt.isSettled = await settle({
    tx,
    projectId,
    project,
    values: values.of(projectId, project.site_host),
    isOver: () => attempt.tookMs > aimMs,
  });
  if (attempt.isSettled) await foldFresh(await limited(tx, msMax), attempt, project, values);
}

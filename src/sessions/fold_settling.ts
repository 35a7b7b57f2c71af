import type { Sql } from "../db/sql.ts";
import { HISTORY_SLICE_ACTORS, RECOUNT_SLICE_ACTORS } from "../limits.ts";
import { reclassifyTraffic, RULES_VERSION } from "./fold_dictionaries.ts";
import { addStoredHistories, beginHistories } from "./fold_histories.ts";
import { type FoldedProject, hasRulesOfNow } from "./fold_project.ts";
import { clearRollups, recountSlice } from "./rollups.ts";
import type { ValueNumbers } from "./value_numbers.ts";

/** One transaction's share of bringing a project up to date. */
export interface Settling {
  readonly tx: Sql;
  readonly projectId: number;
  readonly project: FoldedProject;
  readonly values: ValueNumbers;
  /** Whether the transaction has taken long enough. */
  readonly isOver: () => boolean;
}

/** Goes through all actors by the slice. @returns the next one; null: that was all */
async function bySlices(
  { tx, projectId, isOver }: Settling,
  from: number,
  sliceActors: number,
  slice: (from: number, to: number) => Promise<void>,
): Promise<number | null> {
  const [last] = await tx.query<{ id: number | null }>(
    "SELECT max(actor_id) AS id FROM facts WHERE project_id = $1::int",
    [projectId],
  );
  for (let next = from; next <= (last?.id ?? -1); next += sliceActors) {
    if (next > from && isOver()) return next;
    await slice(next, next + sliceActors);
  }
  return null;
}

/**
 * After a change of the site, its time zone or the channel rules, history is told by the new ones.
 * Until all of it is, the rollups have no time zone, and reads do without them.
 */
async function recount(settling: Settling): Promise<boolean> {
  const { tx, projectId, project, values } = settling;
  const { site_host, timezone, known_timezone, recount_timezone, recounted_to } = project;
  const isByRules = hasRulesOfNow(project);
  if (isByRules && timezone === known_timezone) return true;
  const isBegun = isByRules && recount_timezone === timezone && recounted_to !== null;
  if (!isBegun) {
    if (!isByRules) await reclassifyTraffic(tx, projectId, site_host);
    await clearRollups(tx, projectId);
  }
  const next = await bySlices(
    settling,
    isBegun ? recounted_to : 0,
    RECOUNT_SLICE_ACTORS,
    (from, to) => recountSlice(tx, { projectId, timezone, values }, [from, to]),
  );
  await tx.query(
    `UPDATE fold_projects SET site_host = $2::text, rules_version = $3::int,
      recount_timezone = $4::text, recounted_to = $5::int,
      timezone = CASE WHEN $5::int IS NULL THEN $4::text END
    WHERE project_id = $1::int`,
    [projectId, site_host, RULES_VERSION, timezone, next],
  );
  return next === null;
}

/** Makes the histories of a project from its facts, where there were facts before there were histories. */
async function makeHistories(settling: Settling): Promise<boolean> {
  const { tx, projectId, project: { has_histories, histories_to } } = settling;
  if (has_histories) return true;
  if (histories_to === null) await beginHistories(tx, projectId);
  const next = await bySlices(
    settling,
    histories_to ?? 0,
    HISTORY_SLICE_ACTORS,
    (from, to) => addStoredHistories(tx, projectId, [from, to]),
  );
  await tx.query(
    `UPDATE fold_projects SET has_histories = $2::int IS NULL, histories_to = $2::int
    WHERE project_id = $1::int`,
    [projectId, next],
  );
  return next === null;
}

/**
 * Brings what was made of a project earlier up to date, as far as one transaction may.
 * @returns whether all of it is: new events can be folded
 */
export async function settle(settling: Settling): Promise<boolean> {
  return await recount(settling) && await makeHistories(settling);
}

import type { Row, Sql } from "../db/sql.ts";
import type { SessionFieldId } from "../query/filter_conditions.ts";
import { type Filter, isSessionField } from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import { namedIds, passing } from "./named_ids.ts";
import type { SessionPasses } from "./session_test.ts";

/** The largest ids of a project. */
interface IdReach extends Row {
  readonly term_max: number;
  readonly traffic_max: number;
}

const REACH = `
SELECT
  (SELECT coalesce(max(term_id), 0) FROM terms WHERE project_id = $1::int) AS term_max,
  (SELECT coalesce(max(traffic_id), 0) FROM traffic WHERE project_id = $1::int) AS traffic_max`;

const EVERY_SESSION: SessionPasses = {
  traffics: null,
  entryPaths: null,
  exitPaths: null,
  passesNone: true,
};

/**
 * Returns the sessions that pass all filters on sessions' fields; other filters are ignored. Filters are
 * evaluated in SQL over the tables of ids: `sql` must see the same moment as the timelines.
 */
export async function sessionPasses(
  sql: Sql,
  scope: Pick<Scope, "projectId" | "siteHost">,
  filters: readonly Filter[],
): Promise<SessionPasses> {
  const ofSession = filters.filter(({ field }) => isSessionField(field));
  if (ofSession.length === 0) return EVERY_SESSION;
  const [reach] = await sql.query<IdReach>(REACH, [scope.projectId]);
  const [named] = await namedIds(sql, scope, [ofSession]);
  const of = (id: SessionFieldId, max: number) =>
    passing(named!.filter(({ filter }) => filter.of === id), 0, max);
  const { term_max, traffic_max } = reach!;
  return {
    traffics: of("traffic", traffic_max),
    entryPaths: of("entryPath", term_max),
    exitPaths: of("exitPath", term_max),
    passesNone: named!.every(({ filter }) => filter.negated),
  };
}

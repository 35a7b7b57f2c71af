import type { Sql } from "../db/sql.ts";
import type { SessionFieldId } from "../query/filter_conditions.ts";
import { type Filter, isSessionField } from "../query/filters.ts";
import type { Scope } from "../query/selection.ts";
import { idBounds } from "./id_bounds.ts";
import { namedIds, passing } from "./named_ids.ts";
import type { SessionPasses } from "./session_test.ts";

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
  const [reach, [named]] = await Promise.all([
    idBounds(sql, scope.projectId, "termMax", "trafficMax"),
    namedIds(sql, scope, [ofSession]),
  ]);
  const of = (id: SessionFieldId, max: number) =>
    passing(named!.filter(({ filter }) => filter.of === id), 0, max);
  return {
    traffics: of("traffic", reach.trafficMax),
    entryPaths: of("entryPath", reach.termMax),
    exitPaths: of("exitPath", reach.termMax),
    passesNone: named!.every(({ filter }) => filter.negated),
  };
}

import type { Row, Sql } from "../db/sql.ts";
import type { FieldId } from "../query/filter_conditions.ts";
import type { Filter } from "../query/filters.ts";
import type { BotChoice, Scope } from "../query/selection.ts";
import type { EventPasses } from "./event_test.ts";
import { type FilterBits, isByBits } from "./filter_bits.ts";
import { namedIds, passing } from "./named_ids.ts";

const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;
/** The first and the last context id that pass: contexts of bots have negative ids. */
const CONTEXTS_OF: Readonly<Record<BotChoice, readonly [number, number]>> = {
  exclude: [0, INT_MAX],
  include: [INT_MIN, INT_MAX],
  only: [INT_MIN, -1],
};

/** The smallest and largest ids of a project. */
interface IdReach extends Row {
  readonly term_max: number;
  readonly context_min: number;
  readonly context_max: number;
  readonly identity_max: number;
}

const REACH = `
SELECT
  (SELECT coalesce(max(term_id), 0) FROM terms WHERE project_id = $1::int) AS term_max,
  (SELECT coalesce(min(context_id), 0) FROM contexts WHERE project_id = $1::int) AS context_min,
  (SELECT coalesce(max(context_id), 0) FROM contexts WHERE project_id = $1::int) AS context_max,
  (SELECT coalesce(max(identity_id), 0) FROM identities WHERE project_id = $1::int) AS identity_max`;

/**
 * Returns, for each list of filters, the events that pass all of its filters and `bots`. Filters are
 * evaluated in SQL over the tables of ids: `sql` must see the same moment as the timelines.
 * @param bits those of the timelines: every filter that needs a bit must have one
 */
export async function eventPasses(
  sql: Sql,
  site: Pick<Scope, "projectId" | "siteHost">,
  bots: BotChoice,
  lists: readonly (readonly Filter[])[],
  bits: FilterBits,
): Promise<EventPasses[]> {
  const [reach] = await sql.query<IdReach>(REACH, [site.projectId]);
  const { term_max, context_min, context_max, identity_max } = reach!;
  const ofIds = lists.map((filters) => filters.filter(({ field }) => !isByBits(field)));
  const named = await namedIds(sql, site, ofIds);
  const [contextMin, contextMax] = CONTEXTS_OF[bots];
  return named.map((filters, i) => {
    const of = (id: FieldId) => filters.filter(({ filter }) => filter.of === id);
    return {
      names: passing(of("name"), 0, term_max),
      paths: passing(of("path"), 0, term_max),
      contexts: passing(of("context"), context_min, context_max),
      actors: passing(of("actor"), 0, identity_max),
      contextsFrom: context_min,
      contextsTo: context_max,
      contextMin,
      contextMax,
      termMax: term_max,
      bits: bits.wanted(lists[i]!),
    };
  });
}

/** Returns the events that pass `bots` and all filters: see `eventPasses`. */
export async function eventPassesOf(
  sql: Sql,
  scope: Pick<Scope, "projectId" | "siteHost">,
  bots: BotChoice,
  filters: readonly Filter[],
  bits: FilterBits,
): Promise<EventPasses> {
  const [passes] = await eventPasses(sql, scope, bots, [filters], bits);
  return passes!;
}

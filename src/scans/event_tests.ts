import type { Sql } from "../db/sql.ts";
import type { FieldId } from "../query/filter_conditions.ts";
import type { Filter } from "../query/filters.ts";
import type { BotChoice, Scope } from "../query/selection.ts";
import type { EventPasses } from "./event_test.ts";
import { type FilterBits, isByBits } from "./filter_bits.ts";
import { idBounds } from "./id_bounds.ts";
import { namedIds, passing } from "./named_ids.ts";

const INT_MIN = -(2 ** 31);
const INT_MAX = 2 ** 31 - 1;
/** The first and the last context id that pass: contexts of bots have negative ids. */
const CONTEXTS_OF: Readonly<Record<BotChoice, readonly [number, number]>> = {
  exclude: [0, INT_MAX],
  include: [INT_MIN, INT_MAX],
  only: [INT_MIN, -1],
};

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
  bits: FilterBits | Promise<FilterBits>,
): Promise<EventPasses[]> {
  const bounds = ["termMax", "contextMin", "contextMax", "identityMax"] as const;
  const ofIds = lists.map((filters) => filters.filter(({ field }) => !isByBits(field)));
  const [ofTimelines, reach, named] = await Promise.all([
    bits,
    idBounds(sql, site.projectId, ...bounds),
    namedIds(sql, site, ofIds),
  ]);
  const [contextMin, contextMax] = CONTEXTS_OF[bots];
  return named.map((filters, i) => {
    const of = (id: FieldId) => filters.filter(({ filter }) => filter.of === id);
    return {
      names: passing(of("name"), 0, reach.termMax),
      paths: passing(of("path"), 0, reach.termMax),
      contexts: passing(of("context"), reach.contextMin, reach.contextMax),
      actors: passing(of("actor"), 0, reach.identityMax),
      contextsFrom: reach.contextMin,
      contextsTo: reach.contextMax,
      contextMin,
      contextMax,
      termMax: reach.termMax,
      bits: ofTimelines.wanted(lists[i]!),
    };
  });
}

/** Returns the events that pass `bots` and all filters: see `eventPasses`. */
export async function eventPassesOf(
  sql: Sql,
  scope: Pick<Scope, "projectId" | "siteHost">,
  bots: BotChoice,
  filters: readonly Filter[],
  bits: FilterBits | Promise<FilterBits>,
): Promise<EventPasses> {
  const [passes] = await eventPasses(sql, scope, bots, [filters], bits);
  return passes!;
}

import {
  ANY_EVENT,
  type EventMatch,
  type Field,
  type Filter,
  isPersonField,
  propertyOf,
} from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";
import { type Range, spanOf } from "../../query/range.ts";
import type { Span } from "../../query/selection.ts";
import type { Read, SharedRead } from "../../scans/read.ts";
import { distinctActors } from "../visitors/distinct_actors.ts";
import { readRolledVisitors, rolledSpan } from "../rollups/rolled_up.ts";
import { tooFewVisitors } from "./small_groups.ts";

/** The limits of reads of a share. */
export interface ShareLimits {
  /** Apply to every read, before the caller's filters. */
  readonly filters: readonly Filter[];
  /** Groups of fewer visitors are not shown. */
  readonly visitorsMin: number;
}

/** By parameter, the matches in it; null: any event. */
export type ParameterMatches = Readonly<Record<string, readonly (EventMatch | null)[]>>;

/** Returns the matches of all parameters, without those of any event. */
const allOf = (matches: ParameterMatches = {}): EventMatch[] =>
  Object.values(matches).flat().filter((match) => match !== null);

/**
 * The terms in the caller's own parameters; without those of saved definitions, which the data's owner made.
 */
export interface OwnTerms {
  /** By parameter; values in them that never occurred are warned of. */
  readonly matches?: ParameterMatches;
  readonly fields?: readonly (Field | null)[];
  /** The key of a property whose values are shown. */
  readonly property?: string | null;
}

/** Whether a field may name a person: ids do, and properties may have any content. */
function mayName(field: Field): boolean {
  return field === "userId" || isPersonField(field) || propertyOf(field) !== null;
}

/**
 * Refuses reads of a share that ask for what may name a person, or that narrow by anything but `filters`,
 * which `checkedForShare` checks. Throws `invalid_parameter`.
 */
export function refuseNaming(own: readonly Filter[], terms: OwnTerms): void {
  const { matches, fields = [], property = null } = terms;
  if (own.some(({ field }) => mayName(field))) {
    throw invalidParameter(
      "filters",
      "A shared dashboard takes no conditions on userId, anonymousId and properties.",
    );
  }
  if (fields.some((field) => field !== null && mayName(field))) {
    throw invalidParameter("by", "A shared dashboard is not split by userId and properties.");
  }
  if (property !== null) {
    throw invalidParameter("measure", "A shared dashboard takes total, visitors or perVisitor.");
  }
  if (allOf(matches).some(({ filters }) => filters.length > 0)) {
    throw invalidParameter(
      "filters",
      "A shared dashboard takes no conditions on single events: put these into `filters`.",
    );
  }
}

/** What it takes to count visitors, under varying filters. */
type Counting = Pick<Read, "sql" | "scope" | "timelines" | "project">;

/** Counts the distinct actors of the events that pass the filters and that each match takes. */
async function countUnder(
  { sql, scope, timelines }: Counting,
  filters: readonly Filter[],
  span: Span,
  eventMatches: readonly EventMatch[],
): Promise<Int32Array> {
  const source = { sql, scope: { ...scope, filters }, timelines };
  return (await distinctActors(source, [span], eventMatches)).actors;
}

/** Counts the distinct visitors of a range: from the rollups where possible, else in a scan. */
async function visitorsOf(counting: Counting, range: Range, span: Span): Promise<number> {
  const rolled = rolledSpan(counting.scope, counting.project, range);
  if (rolled !== null) return await readRolledVisitors(counting, rolled);
  const [visitors] = await countUnder(counting, counting.scope.filters, span, [ANY_EVENT]);
  return visitors!;
}

/**
 * Whether the reply for a range shows no group that is too small: neither all visitors that pass the
 * filters, nor the visitors with a named event, nor the visitors that a single filter excludes, whose number
 * is the difference to a read without that filter.
 */
async function hasNoSmallGroup(
  counting: Counting,
  range: Range,
  share: ShareLimits,
  own: readonly Filter[],
  named: readonly EventMatch[],
): Promise<boolean> {
  const span = spanOf(range);
  if (own.length === 0 && named.length === 0) {
    return await visitorsOf(counting, range, span) >= share.visitorsMin;
  }
  const all = [...share.filters, ...own];
  const [taken, ...ofNamed] = await countUnder(counting, all, span, [ANY_EVENT, ...named]);
  if ([taken!, ...ofNamed].some((visitors) => visitors < share.visitorsMin)) return false;
  for (const [i] of own.entries()) {
    const others = [...share.filters, ...own.slice(0, i), ...own.slice(i + 1)];
    const [before] = await countUnder(counting, others, span, [ANY_EVENT]);
    const leftOut = before! - taken!;
    if (leftOut > 0 && leftOut < share.visitorsMin) return false;
  }
  return true;
}

/**
 * Returns the read, without its comparison if that would show a group that is too small. Throws
 * `too_few_visitors` if the range itself would.
 */
export async function checkedForShare<T extends SharedRead>(
  counting: Counting,
  shared: T,
  share: ShareLimits,
  own: readonly Filter[],
  { matches }: OwnTerms,
): Promise<T> {
  // Every group may be shown, even an empty one.
  if (share.visitorsMin === 1) return shared;
  const named = allOf(matches).filter(({ name }) => name !== null)
    .map(({ name }) => ({ name, filters: [] }));
  const { range, comparison } = shared;
  if (!await hasNoSmallGroup(counting, range, share, own, named)) {
    throw tooFewVisitors(share.visitorsMin);
  }
  const isCompared = comparison === null ||
    await hasNoSmallGroup(counting, comparison, share, own, named);
  return isCompared ? shared : { ...shared, comparison: null };
}

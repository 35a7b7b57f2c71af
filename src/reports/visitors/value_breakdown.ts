import { TREND_VALUES_MAX } from "../../limits.ts";
import type { Field } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { fieldValueIds } from "../../scans/field_value_ids.ts";
import type { MatchPasses } from "../../scans/match_tests.ts";
import { mostFrequent } from "../../scans/most_frequent.ts";
import type { Read } from "../../scans/read.ts";
import type { SelectedTimelines } from "../../scans/selected_timelines.ts";
import type { ValueIds } from "../../scans/event_value_ids.ts";
import { NO_ID } from "../../scans/value_ids.ts";
import { compareBytes } from "../../scans/value_texts.ts";
import type { Breakdown } from "./property_figures.ts";
import { VALUE_COUNTS } from "./value_visitor.ts";

/** The most frequent values of a field, and the line of each id. */
interface ValueBreakdown {
  /** Most events first, ties by value, the missing one (null) last. */
  readonly top: readonly (string | null)[];
  /** Line 0 sums up all other values; the others are in the order of `top`. */
  readonly breakdown: Breakdown;
}

/** Returns the events of each id, without ids that cannot stand for one of the most frequent values. */
function candidates(
  counts: Float64Array,
  { idsFrom, areShared }: ValueIds,
  only: ReadonlySet<string | null> | null,
): Map<number, number> {
  // All ids are candidates where several may share a value, as a rare one may stand for a frequent one; and
  // where only some values may have lines, which may be rare ones.
  const isAny = areShared || only !== null;
  const chosen = mostFrequent(counts, isAny ? Infinity : TREND_VALUES_MAX);
  return new Map(chosen.map((place) => [place + idsFrom, counts[place]!]));
}

interface TopValue {
  readonly value: string | null;
  /** The ids of the value that have events. */
  readonly ids: number[];
  events: number;
}

/** Returns the values with most events, ties by value, the missing one (null) last, with their ids. */
async function readTop(
  { textsOf }: ValueIds,
  counted: Map<number, number>,
  only: ReadonlySet<string | null> | null,
): Promise<TopValue[]> {
  const texts = await textsOf([...counted.keys()]);
  const values = new Map<string | null, TopValue>();
  for (const [id, events] of counted) {
    const value = texts.get(id) ?? null;
    if (only !== null && !only.has(value)) continue;
    const known = values.get(value);
    if (known === undefined) values.set(value, { value, ids: [id], events });
    else {
      known.ids.push(id);
      known.events += events;
    }
  }
  return [...values.values()]
    .sort((a, b) => b.events - a.events || compareBytes(a.value, b.value))
    .slice(0, TREND_VALUES_MAX);
}

/** Returns the line of each id: that of its value; 0 for all other values. */
function breakdownOf(
  { from, idsFrom, idMax, users }: ValueIds,
  top: readonly TopValue[],
): Breakdown {
  const lineOf = new Uint8Array(idMax - idsFrom + 1);
  for (const [i, { ids }] of top.entries()) {
    for (const id of ids) lineOf[id - idsFrom] = i + 1;
  }
  if (users !== null) {
    for (let actor = 0; actor < lineOf.length; actor++) {
      if (users[actor] !== 1) lineOf[actor] = lineOf[NO_ID]!;
    }
  }
  return { from, count: top.length + 1, lineOf, idsFrom };
}

/**
 * Breaks the events in a span that any match takes down by a field: the values with most events get lines
 * of their own. For a field of sessions, `selected` must hold whole sessions.
 * @param only the values that may get lines; null: all
 */
export async function readBreakdown(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  { by, only }: { readonly by: Field; readonly only: ReadonlySet<string | null> | null },
  span: Span,
  selected: SelectedTimelines,
  matches: MatchPasses,
): Promise<ValueBreakdown> {
  const values = await fieldValueIds({ sql, scope }, by, span, selected, matches);
  const counts = await selected.scan(VALUE_COUNTS, () => {
    const { from, idsFrom, idMax, users } = values;
    return { matches, span, from, idsFrom, idMax, users };
  });
  const top = await readTop(values, candidates(counts, values, only), only);
  return { top: top.map(({ value }) => value), breakdown: breakdownOf(values, top) };
}

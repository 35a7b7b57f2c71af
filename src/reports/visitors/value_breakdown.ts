import { passesOfMatches } from "../../scans/match_passes.ts";
import { TREND_VALUES_MAX } from "../../limits.ts";
import type { Field } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { fieldValueIds } from "../../scans/field_value_ids.ts";
import type { MatchPasses } from "../../scans/match_tests.ts";
import { type CountedText, frequentIds, mostFrequent, Ranking } from "../../scans/most_frequent.ts";
import type { Read } from "../../scans/read.ts";
import type { SelectedTimelines } from "../../scans/selected_timelines.ts";
import type { ValueIds } from "../../scans/event_value_ids.ts";
import { NO_ID } from "../../scans/value_ids.ts";
import type { Breakdown } from "./property_figures.ts";
import { VALUE_COUNTS } from "../../scans/value_visitor.ts";

/** The values that may have lines; null: all may. */
type Only = ReadonlySet<string | null> | null;

/** Counts the events of values that may have several ids each. */
async function sharedValues(
  { textsOf, idsFrom }: ValueIds,
  counts: Float64Array,
  only: Only,
): Promise<Iterable<CountedText>> {
  const values = new Map<string | null, { text: string | null; ids: number[]; count: number }>();
  // A rare id may stand for a frequent value, so all ids are looked up.
  for await (const some of frequentIds({ counts, idAt: (place) => place + idsFrom })) {
    const texts = await textsOf([...some.keys()]);
    for (const [id, count] of some) {
      const text = texts.get(id) ?? null;
      if (only !== null && !only.has(text)) continue;
      const known = values.getOrInsertComputed(text, () => ({ text, ids: [], count: 0 }));
      known.ids.push(id);
      known.count += count;
    }
  }
  return values.values();
}

/** Returns the values that may have lines and have events, by their ids. */
async function namedValues(
  { idsFrom }: ValueIds,
  idsOf: NonNullable<ValueIds["idsOf"]>,
  counts: Float64Array,
  only: NonNullable<Only>,
): Promise<CountedText[]> {
  const found = await idsOf([...only].filter((value) => value !== null));
  const named: [number, string | null][] = [...found];
  if (only.has(null)) named.push([NO_ID, null]);
  return named.flatMap(([id, text]) => {
    const count = counts[id - idsFrom] ?? 0;
    return count === 0 ? [] : [{ text, count, ids: [id] }];
  });
}

/** Returns the values with the most events and their ids; ties by value, the missing one (null) last. */
export async function topValues(
  values: ValueIds,
  counts: Float64Array,
  only: Only,
): Promise<readonly CountedText[]> {
  const { idsOf, idsFrom, textsOf } = values;
  if (idsOf !== null && only === null) {
    const idAt = (place: number) => place + idsFrom;
    return await mostFrequent({ counts, idAt }, TREND_VALUES_MAX, textsOf);
  }
  const ranking = new Ranking(TREND_VALUES_MAX);
  await ranking.offerAll(
    idsOf === null || only === null
      ? await sharedValues(values, counts, only)
      : await namedValues(values, idsOf, counts, only),
  );
  return ranking.ranked;
}

/** Returns the line of each id: that of its value, in the order of `top`; 0 for all other values. */
function breakdownOf(
  { from, idsFrom, idMax, users }: ValueIds,
  top: readonly CountedText[],
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
 * Breaks down by a field the events in a span that any match takes: the values with the most events get lines
 * of their own. For a field of sessions, `selected` must have whole sessions.
 * @param only the values that may get lines, no more than there are lines; null: all
 */
export async function readBreakdown(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  { by, only }: { readonly by: Field; readonly only: Only },
  span: Span,
  selected: SelectedTimelines,
  matches: MatchPasses,
) {
  const values = await fieldValueIds({ sql, scope }, by, span, selected, matches);
  const counts = await selected.scan(VALUE_COUNTS, () => {
    const { from, idsFrom, idMax, users } = values;
    return { matches, span, from, idsFrom, idMax, users };
  }, { askedEvents: passesOfMatches(matches) });
  const top = await topValues(values, counts, only);
  return { top: top.map(({ text }) => text), breakdown: breakdownOf(values, top) };
}

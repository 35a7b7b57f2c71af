import { lengthened } from "../../timelines/actor_way.ts";
import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import { TREND_VALUES_MAX } from "../../limits.ts";
import type { Field } from "../../query/filters.ts";
import type { Span } from "../../query/selection.ts";
import { fieldValueIds } from "../../scans/field_value_ids.ts";
import { type MatchTests, UNMATCHED } from "../../scans/match_tests.ts";
import type { Lines } from "../../scans/match_walk.ts";
import { walkMatched } from "../../scans/matched_walk.ts";
import { select } from "../../scans/medians.ts";
import type { Read } from "../../scans/read.ts";
import type { SelectedHistories } from "../../scans/selected_histories.ts";
import { NO_ID, type ValueIds } from "../../scans/value_ids.ts";
import { compareBytes } from "../../scans/value_texts.ts";

/** The most frequent values of a field, and the lines of all. */
export interface TrendLines {
  /** Most events first, ties by value, the missing one (null) last. */
  readonly top: readonly (string | null)[];
  /** Line 0 is of all other values, the others are in the order of `top`. */
  readonly lines: Lines;
}

/** Counts the events that any of the matches takes, by the id of a field's value. */
class ValueCount {
  /** The count of id i stands at `i - idsFrom`. */
  #counts: Float64Array;

  constructor(readonly tests: MatchTests, readonly span: Span, readonly values: ValueIds) {
    this.#counts = new Float64Array(values.idMax - values.idsFrom + 1);
  }

  follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const { fromMs, times, names, paths, contexts, marks } = segment;
    const fromTime = this.span.fromMs - fromMs;
    const toTime = this.span.toMs - fromMs;
    if (times[end - 1]! < fromTime || times[start]! >= toTime) return;
    const { tests, values: { idsFrom, idMax, users } } = this;
    while (this.#counts.length <= idMax - idsFrom) this.#counts = lengthened(this.#counts);
    const counts = this.#counts;
    const { scope, groupOf, isScopeNarrowed } = tests;
    const { contextMin, contextMax } = scope;
    const ids = this.values.idsOf(segment);
    const actorId = users === null || users[actor] === 1 ? actor : NO_ID;
    for (let at = start; at < end; at++) {
      const group = groupOf[names[at]!]!;
      if (group <= UNMATCHED) continue;
      const time = times[at]!;
      if (time < fromTime) continue;
      if (time >= toTime) return;
      const context = contexts[at]!;
      if (context < contextMin || context > contextMax) continue;
      const path = paths[at]!;
      if (isScopeNarrowed && !scope.passesBeyondName(path, context, actor, marks[at]!)) continue;
      if (!tests.takesAny(group, path, context, actor, marks[at]!)) continue;
      counts[(ids === null ? actorId : ids[at]!) - idsFrom]!++;
    }
  }

  /** How many events each id has, without such as cannot be among the most frequent values. */
  candidates(): Map<number, number> {
    const counts = this.#counts;
    const { idsFrom, areShared } = this.values;
    const places: number[] = [];
    counts.forEach((count, place) => {
      if (count > 0) places.push(place);
    });
    let least = 0;
    // Of several ids with one value each counts.
    if (!areShared && places.length > TREND_VALUES_MAX) {
      const ranked = Float64Array.from(places, (place) => counts[place]!);
      const edge = ranked.length - TREND_VALUES_MAX;
      select(ranked, 0, ranked.length, edge);
      least = ranked[edge]!;
    }
    const chosen = places.filter((place) => counts[place]! >= least);
    return new Map(chosen.map((place) => [place + idsFrom, counts[place]!]));
  }
}

interface TopValue {
  readonly value: string | null;
  /** Those with events. */
  readonly ids: number[];
  events: number;
}

/** The values with most events, ties by value, the missing one (null) last, and the ids that mean them. */
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

/** The line of each id: that of its value, 0 for any other. */
function linesOf({ idsOf, idsFrom, idMax, users }: ValueIds, top: readonly TopValue[]): Lines {
  const lineOf = new Uint8Array(idMax - idsFrom + 1);
  for (const [i, { ids }] of top.entries()) {
    for (const id of ids) lineOf[id - idsFrom] = i + 1;
  }
  if (users !== null) {
    for (let actor = 0; actor < lineOf.length; actor++) {
      if (users[actor] !== 1) lineOf[actor] = lineOf[NO_ID]!;
    }
  }
  return { idsOf, count: top.length + 1, lineOf, idsFrom };
}

/**
 * How the events in a span that any of the matches takes are told apart by a field: the values with
 * most events have lines of their own. Of a session's field, sessions must lie whole in what was
 * selected.
 */
export async function readLines(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  { by, only }: { readonly by: Field; readonly only: ReadonlySet<string | null> | null },
  span: Span,
  selected: SelectedHistories,
  tests: MatchTests,
): Promise<TrendLines> {
  const values = await fieldValueIds({ sql, scope }, by, span, selected, tests);
  const counted = new ValueCount(tests, span, values);
  await walkMatched(sql, selected, tests, false, (actor, segment, start, end) => {
    counted.follow(actor, segment, start, end);
  });
  const top = await readTop(values, counted.candidates(), only);
  return { top: top.map(({ value }) => value), lines: linesOf(values, top) };
}

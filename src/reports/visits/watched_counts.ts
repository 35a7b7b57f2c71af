import type { LoadedSegment } from "../../timelines/loaded_segment.ts";
import type { FilteredPart } from "../../scans/filtered_timelines.ts";
import { type Decimal, decimalOf } from "../../scans/decimal_sum.ts";
import { PlaceAmounts } from "../../scans/place_amounts.ts";
import { placeFrom } from "../../timelines/ascending.ts";
import type { ScanSource } from "../../scans/read.ts";
import { type Goal, listGoals } from "../saved/goal_definitions.ts";
import { worthOf, worthProperty } from "../saved/goal_worth.ts";
import { selectMatches } from "../../scans/selected_events.ts";
import {
  mergeWatched,
  type Watched,
  WATCHED_COUNTS,
  type WatchedCounts,
  type WatchedInputs,
  type WatchedSums,
} from "./watched_visitor.ts";
import type { StoredVisit, VisitConversion } from "./visit_rows.ts";

/** The figures of the selected events of one actor in one span. */
interface WatchedFigures {
  readonly events: number;
  readonly pageviews: number;
  /** The time of the last event; null: there is none. */
  readonly lastMs: number | null;
  /** The goals that the events reached, by slug. */
  readonly goals: readonly VisitConversion[];
}

/** Returns the place of an event in a loaded segment, by its place in the stored one; -1: it is not loaded. */
function placeIn({ slice, times }: LoadedSegment, stored: number): number {
  if (slice === null) return stored;
  const { firstPlace, picked } = slice;
  const place = stored - firstPlace;
  if (picked === null) return place < times.length ? place : -1;
  const at = placeFrom(picked, place);
  return picked[at] === place ? at : -1;
}

/** Returns the number of a property at an event; null where there is none. */
function numberAt(
  { segments }: FilteredPart,
  segmentId: number,
  stored: number,
  key: string,
): Decimal | null {
  // A part may hold several slices of one segment.
  for (const segment of segments) {
    const at = segment.segmentId === segmentId ? placeIn(segment, stored) : -1;
    if (at < 0) continue;
    const column = segment.property(key);
    const entry = placeFrom(column.places, at);
    if (column.places[entry] !== at) return null;
    const code = column.codes[entry]!;
    return decimalOf(column.texts[code] ?? String(column.numberAt(code)));
  }
  return null;
}

/** Adds up the counts of the watched spans, part by part. */
class WatchedTotals {
  /** Null: no part was counted. */
  #counts: WatchedSums | null = null;
  /** By watched span, then goal: the sum of the goal's property, for goals that have one. */
  readonly #sums = new PlaceAmounts();

  constructor(readonly goals: readonly Goal[]) {}

  add({ taken, ...counts }: WatchedCounts, part: FilteredPart): void {
    this.#counts = this.#counts === null ? counts : mergeWatched(this.#counts, counts);
    for (const [i, match] of taken.matches.entries()) {
      const key = worthProperty(this.goals[match]!.value)!;
      const number = numberAt(part, taken.segmentIds[i]!, taken.places[i]!, key);
      if (number !== null) this.#sums.add(taken.watched[i]! * this.goals.length + match, number);
    }
  }

  figuresAt(i: number): WatchedFigures {
    const lastMs = this.#counts?.lastMs[i] ?? -Infinity;
    return {
      events: this.#counts?.events[i] ?? 0,
      pageviews: this.#counts?.pageviews[i] ?? 0,
      lastMs: lastMs === -Infinity ? null : lastMs,
      goals: this.goals.flatMap((goal, match) => this.#reached(goal, i, match)),
    };
  }

  #reached({ slug, title, value }: Goal, i: number, match: number): VisitConversion[] {
    const place = i * this.goals.length + match;
    const totalConversions = this.#counts?.totals[place] ?? 0;
    if (totalConversions === 0) return [];
    const amount = this.#sums.at(place);
    const worth = worthOf(value, { totalConversions, amount });
    return [{ slug, title, totalConversions, value: worth }];
  }
}

/**
 * Counts the events that pass `bots` and the filters of the scope, of a few actors in a few spans each, in
 * one scan that skips all other actors. Where filters are on sessions, spans must hold whole sessions.
 * @param ofSessions whether only events in sessions count
 */
export async function countWatched(
  source: ScanSource,
  watched: readonly Watched[],
  goals: readonly Goal[],
  ofSessions: boolean,
): Promise<WatchedFigures[]> {
  if (watched.length === 0) return [];
  const span = {
    fromMs: watched.reduce((min, { fromMs }) => Math.min(min, fromMs), Infinity),
    toMs: watched.reduce((max, { toMs }) => Math.max(max, toMs), -Infinity),
  };
  const keys = goals.map(({ value }) => worthProperty(value));
  const goalMatches = goals.map(({ match }) => match);
  const { selected, matches } = await selectMatches(source, span, goalMatches, {
    columns: [...new Set(keys)].flatMap((property) => property === null ? [] : [{ property }]),
  });
  const inputs: WatchedInputs = {
    watched: watched.toSorted((a, b) => a.actor - b.actor || a.fromMs - b.fromMs),
    ofSessions,
    matches,
    listed: keys.map((key) => key !== null),
  };
  const totals = new WatchedTotals(goals);
  await selected.scanParts(WATCHED_COUNTS, () => inputs, (counts, part) => {
    totals.add(counts, part);
  }, { byRun: true });
  const placeOf = new Map(inputs.watched.map((one, place) => [one, place]));
  return watched.map((one) => totals.figuresAt(placeOf.get(one)!));
}

/** Returns the span of a whole visit. */
export function watchedOf(
  { actor_id, first_ms, last_ms }: Pick<StoredVisit, "actor_id" | "first_ms" | "last_ms">,
): Watched {
  return { actor: actor_id, fromMs: first_ms, toMs: last_ms + 1 };
}

/** Returns the goals that each visit reached by its own events, under `bots` and no other filter. */
export async function conversionsOf(
  { sql, scope, timelines }: ScanSource,
  visits: readonly StoredVisit[],
  known: readonly Goal[] | null = null,
): Promise<VisitConversion[][]> {
  const goals = known ?? await listGoals(sql, scope.projectId);
  if (goals.length === 0) return visits.map(() => []);
  const source = { sql, scope: { ...scope, filters: [] }, timelines };
  const figures = await countWatched(source, visits.map(watchedOf), goals, true);
  return figures.map(({ goals }) => [...goals]);
}

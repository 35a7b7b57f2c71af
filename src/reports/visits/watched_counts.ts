import type { ScanSource } from "../../scans/read.ts";
import { prepareNumbers } from "../../scans/number_columns.ts";
import { PlaceAmounts } from "../../scans/place_amounts.ts";
import { selectMatches } from "../../scans/selected_events.ts";
import { type Goal, listGoals } from "../saved/goal_definitions.ts";
import { worthOf, worthProperty } from "../saved/goal_worth.ts";
import type { StoredVisit, VisitConversion } from "./visit_rows.ts";
import { type Watched, WATCHED_COUNTS, type WatchedCounts } from "./watched_visitor.ts";

/** Returns the figures of each watched span, and the goals that its events reached; `lastMs` null: it has none. */
function figuresOf(
  { events, pageviews, lastMs, totals, amounts }: WatchedCounts,
  goals: readonly Goal[],
) {
  const sums = new PlaceAmounts();
  sums.addAll(amounts);
  const conversionsAt = (place: number, { slug, title, value }: Goal): VisitConversion[] => {
    const totalConversions = totals[place]!;
    if (totalConversions === 0) return [];
    const worth = worthOf(value, { totalConversions, amount: sums.at(place) });
    return [{ slug, title, totalConversions, value: worth }];
  };
  return Array.from(lastMs, (ms, i) => ({
    events: events[i]!,
    pageviews: pageviews[i]!,
    lastMs: ms === -Infinity ? null : ms,
    goals: goals.flatMap((goal, match) => conversionsAt(i * goals.length + match, goal)),
  }));
}

/**
 * Counts the events of a few actors in a few spans each that pass `bots` and the filters of the scope, in one
 * scan that skips all other actors. With filters on sessions, the spans must contain whole sessions.
 * @param ofSessions whether only events in sessions count
 */
export async function countWatched(
  source: ScanSource,
  watched: readonly Watched[],
  goals: readonly Goal[],
  ofSessions: boolean,
): Promise<ReturnType<typeof figuresOf>> {
  if (watched.length === 0) return [];
  const span = {
    fromMs: watched.reduce((min, { fromMs }) => Math.min(min, fromMs), Infinity),
    toMs: watched.reduce((max, { toMs }) => Math.max(max, toMs), -Infinity),
  };
  const summed = goals.map(({ value }) => worthProperty(value));
  const properties = new Set(summed.filter((key) => key !== null));
  const goalMatches = goals.map(({ match }) => match);
  const { selected, matches } = await selectMatches(source, span, goalMatches, {
    columns: [...properties].map((property) => ({ property })),
  });
  for (const key of properties) prepareNumbers(selected.timelines, key);
  const inputs = { watched, ofSessions, matches, summed, isListing: false };
  return figuresOf(await selected.scan(WATCHED_COUNTS, () => inputs, { byRun: true }), goals);
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
  return figures.map(({ goals }) => goals);
}

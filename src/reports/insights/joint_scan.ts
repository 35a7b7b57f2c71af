import { FIGURES, placesOf } from "./insight_candidates.ts";
import { countLines, type FoundCandidates, type Visited, withMatches } from "./insight_scan.ts";
import { type CellFigures, type Slice, sliceKey } from "./joint_cells.ts";
import { groupBySlices, type NumberedSlice } from "./joint_groups.ts";
import { JOINT_ID, type LineTally } from "./line_tally.ts";

interface CountedTogether {
  /** How many cells have events or sessions. */
  readonly count: number;
  /** By the key of each slice that is counted: 1 at each of its cells. */
  readonly holds: ReadonlyMap<string, Uint8Array>;
  /** By match of `matches`. */
  readonly figures: readonly CellFigures[];
}

/** Drops the segments before the previous period. */
function inPeriods(visited: Visited): Visited {
  const { calendar } = visited;
  const first = calendar.segments.findIndex(({ period }) => period !== null);
  return {
    ...visited,
    calendar: { ...calendar, segments: calendar.segments.slice(first) },
    byPeople: visited.byPeople.map((segments) => segments.slice(first)),
  };
}

function numbered({ numbers }: FoundCandidates, slices: readonly Slice[]): NumberedSlice[] {
  return slices.flatMap((slice): NumberedSlice[] => {
    const { dimension, value } = slice;
    const number = numbers.get(sliceKey(slice));
    return dimension === null || number === undefined ? [] : [{ dimension, value, number }];
  });
}

/** Returns the figures of some cells at the places of the range and of the period before. */
function figuresAt(
  tally: LineTally,
  cells: readonly number[],
  [now, before]: readonly [number, number],
): CellFigures {
  const countsAt = (place: number) => cells.map((cell) => tally.at(cell, place));
  const [countsNow, countsBefore] = [countsAt(now), countsAt(before)];
  return Object.fromEntries(FIGURES.map((figure) => [figure, {
    now: Int32Array.from(countsNow, (counts) => counts[figure]),
    before: Int32Array.from(countsBefore, (counts) => counts[figure]),
  }])) as CellFigures;
}

/**
 * Counts the range and the period before by joint cells of the slices, in one more scan of the same timelines.
 * If the slices make too many cells, the last are left out.
 * @param matches the indexes of the questions that are counted
 */
export async function countTogether(
  found: FoundCandidates,
  slices: readonly Slice[],
  matches: readonly number[],
  cellsMax?: number,
): Promise<CountedTogether> {
  const { values } = found;
  const visited = inPeriods(withMatches(found.visited, matches));
  const { ids, count, holds } = groupBySlices(values, numbered(found, slices), cellsMax);
  const own = Int32Array.from({ length: count }, (_, cell) => cell);
  const table = { of: JOINT_ID, idsFrom: 0, width: 1, linesOf: own };
  const lines = { tables: [table], paths: null, count };
  const places = placesOf(
    visited.byPeople,
    ({ period }) => period === null ? null : { period, slot: null },
  );
  const tallies = await countLines(visited, places, matches.map(() => lines), ids);
  const placeOf = (period: "current" | "previous") =>
    places.groups.findIndex((group) => group.period === period) + 1;
  const both = [placeOf("current"), placeOf("previous")] as const;
  const cells = [...own].filter((cell) =>
    tallies.some((tally) =>
      both.some((place) => {
        const { events, sessions } = tally.at(cell, place);
        return events + sessions > 0;
      })
    )
  );
  return {
    count: cells.length,
    holds: new Map(
      [...holds].map(([key, held]) => [key, Uint8Array.from(cells, (cell) => held[cell]!)]),
    ),
    figures: tallies.map((tally) => figuresAt(tally, cells, both)),
  };
}

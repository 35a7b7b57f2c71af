import { INSIGHT_JOINT_CELLS_MAX } from "../../limits.ts";
import { type NumberedValues, SESSION_IDS, type SessionId } from "../visitors/session_values.ts";
import { type Dimension, FIGURES, placesOf, type Slice, sliceKey } from "./insight_candidates.ts";
import type { CellFigures, JointCells } from "./insight_change.ts";
import type { ValuesOf } from "./insight_lines.ts";
import { countLines, type FoundCandidates, type Visited, withMatches } from "./insight_scan.ts";
import type { IdGroups } from "./insight_visitor.ts";
import { JOINT_ID, type LineTally } from "./line_tally.ts";

/** A slice with the number of its value. */
interface NumberedSlice extends Slice {
  readonly dimension: Dimension;
  readonly number: number;
}

/** The groups of the ids of one kind, all in one at first, and the slices that they are split by. */
function groupsOf(kind: SessionId, values: ValuesOf) {
  const known = [...values.values()].find(({ of }) => of === kind);
  const groupOf = new Int32Array(known?.numberOf.length ?? 0);
  const ids: IdGroups = { idsFrom: known?.idsFrom ?? 0, groupOf, count: 1 };
  return { ids, slices: [] as NumberedSlice[] };
}

/** Splits groups by whether their ids have a value, given by number. */
function splitBy(ids: IdGroups, { numberOf }: NumberedValues, number: number): IdGroups {
  const renumbered = new Int32Array(2 * ids.count).fill(-1);
  let count = 0;
  const groupOf = ids.groupOf.map((group, place) => {
    const split = 2 * group + Number(numberOf[place] === number);
    if (renumbered[split] === -1) renumbered[split] = count++;
    return renumbered[split]!;
  });
  return { ...ids, groupOf, count };
}

const cellsIn = (kinds: readonly { readonly ids: IdGroups }[]): number =>
  kinds.reduce((cells, { ids }) => cells * ids.count, 1);

/**
 * Makes cells such that each slice is a set of cells: `holds` has, by the key of each slice, 1 at these cells. A
 * slice that would make too many cells is left out; those after it are still tried.
 */
function groupBySlices(values: ValuesOf, slices: readonly NumberedSlice[]) {
  const kinds = SESSION_IDS.map((kind) => groupsOf(kind, values));
  for (const slice of slices) {
    const ofDimension = values.get(slice.dimension)!;
    const own = kinds[SESSION_IDS.indexOf(ofDimension.of)]!;
    const before = own.ids;
    own.ids = splitBy(before, ofDimension, slice.number);
    if (cellsIn(kinds) <= INSIGHT_JOINT_CELLS_MAX) own.slices.push(slice);
    else own.ids = before;
  }
  const holds = new Map<string, Uint8Array>();
  for (const [place, { ids: { groupOf, count }, slices }] of kinds.entries()) {
    // The groups are the digits of a cell's number: see `jointCell`.
    const width = cellsIn(kinds.slice(place + 1));
    for (const slice of slices) {
      const { numberOf } = values.get(slice.dimension)!;
      const inSlice = new Uint8Array(count);
      for (const [i, group] of groupOf.entries()) {
        if (numberOf[i] === slice.number) inSlice[group] = 1;
      }
      const isHeld = (_: unknown, cell: number) => inSlice[Math.floor(cell / width) % count]!;
      holds.set(sliceKey(slice), Uint8Array.from({ length: cellsIn(kinds) }, isHeld));
    }
  }
  return { ids: kinds.map(({ ids }) => ids), count: cellsIn(kinds), holds };
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
 * Counts the range and the period before by joint cells of the slices that have events or sessions, in one more
 * scan of the same timelines. Slices that would make too many cells are left out.
 * @param matches the questions that are counted: their indexes by the slug of the goal, or null
 */
export async function countTogether(
  found: FoundCandidates,
  slices: readonly Slice[],
  matches: ReadonlyMap<string | null, number>,
): Promise<JointCells> {
  const visited = inPeriods(withMatches(found.visited, [...matches.values()]));
  const { ids, count, holds } = groupBySlices(found.values, numbered(found, slices));
  const own = Int32Array.from({ length: count }, (_, cell) => cell);
  const table = { of: JOINT_ID, idsFrom: 0, width: 1, linesOf: own };
  const lines = { tables: [table], paths: null, count };
  const places = placesOf(
    visited.byPeople,
    ({ period }) => period === null ? null : { period, slot: null },
  );
  const tallies = await countLines(visited, places, visited.ofMatches.map(() => lines), ids);
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
  holds.set(sliceKey({ dimension: null, value: null }), new Uint8Array(count).fill(1));
  return {
    count: cells.length,
    holds: new Map(
      [...holds].map(([key, held]) => [key, Uint8Array.from(cells, (cell) => held[cell]!)]),
    ),
    matches: new Map([...matches.keys()].map((slug, i) => [
      slug,
      figuresAt(tallies[i]!, cells, both),
    ])),
  };
}

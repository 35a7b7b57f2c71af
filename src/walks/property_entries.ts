import type { LoadedSegment } from "../histories/loaded_segment.ts";
import type { PropertyColumn } from "../histories/property_columns.ts";
import type { Span } from "../selection/selection.ts";
import type { MatchTests } from "./match_tests.ts";
import type { PropertyOfSegments } from "./marked_histories.ts";

/** An event that has the property: which value of the column is its, and where it stands. */
export type VisitEntry = (
  column: PropertyColumn,
  code: number,
  actor: number,
  segment: LoadedSegment,
  at: number,
) => void;

/** The entry of a segment's column behind the one that was looked at last. */
interface Cursor {
  readonly column: PropertyColumn;
  next: number;
}

/** The first entry from `low` on whose place is not before `start`. */
function entryFrom(places: Uint32Array, start: number, low: number): number {
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (places[middle]! < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** JSON numbers alone begin like this. */
export function isJsonNumber(value: string): boolean {
  return /^[-\d]/.test(value);
}

/** Finds the selected events in a span which one match takes and which have a property. */
export class PropertyEntries {
  readonly #tests: MatchTests;
  readonly #match: number;
  readonly #span: Span;
  readonly #visit: VisitEntry;
  readonly #cursors: ReadonlyMap<LoadedSegment, Cursor>;

  /** `columns`: of each of the segments that are followed, the property. */
  constructor(
    tests: MatchTests,
    match: number,
    span: Span,
    columns: PropertyOfSegments,
    visit: VisitEntry,
  ) {
    this.#tests = tests;
    this.#match = match;
    this.#span = span;
    this.#visit = visit;
    this.#cursors = new Map(
      [...columns].map(([segment, column]) => [segment, { column, next: 0 }]),
    );
  }

  follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    const cursor = this.#cursors.get(segment)!;
    const { column } = cursor;
    const { places, codes } = column;
    let next = cursor.next;
    // Whoever is followed next mostly stands next in the segment too.
    if (next > 0 && places[next - 1]! >= start) next = entryFrom(places, start, 0);
    else if (next < places.length && places[next]! < start && places[++next]! < start) {
      next = entryFrom(places, start, next);
    }
    for (; next < places.length && places[next]! < end; next++) {
      const at = places[next]!;
      if (this.#takes(segment, at, actor)) this.#visit(column, codes[next]!, actor, segment, at);
    }
    cursor.next = next;
  }

  #takes(segment: LoadedSegment, at: number, actor: number): boolean {
    const { fromMs, times, names, paths, contexts, marks } = segment;
    const ms = fromMs + times[at]!;
    if (ms < this.#span.fromMs || ms >= this.#span.toMs) return false;
    const { scope, tests } = this.#tests;
    const [name, path, context, mark] = [names[at]!, paths[at]!, contexts[at]!, marks[at]!];
    return scope.passes(name, path, context, actor, mark) &&
      tests[this.#match]!.passes(name, path, context, actor, mark);
  }
}

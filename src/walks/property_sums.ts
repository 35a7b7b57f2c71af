import type { LoadedSegment } from "../histories/loaded_segment.ts";
import type { PropertyColumn } from "../histories/property_columns.ts";
import type { Span } from "../selection/selection.ts";
import { DecimalSum } from "./decimal_sum.ts";
import type { MatchTests } from "./match_tests.ts";
import { isJsonNumber, PropertyEntries } from "./property_entries.ts";
import type { PropertyOfSegments } from "./marked_histories.ts";

/** Sums the numbers that a property is at the selected events in a span which one match takes. */
export class PropertySum {
  readonly #entries: PropertyEntries;
  /** How often each value of a column was met. */
  readonly #counts: ReadonlyMap<PropertyColumn, Float64Array>;

  /** `columns`: of each of the segments that are followed, the property. */
  constructor(tests: MatchTests, match: number, span: Span, columns: PropertyOfSegments) {
    this.#counts = new Map(
      columns.values().map((column) => [column, new Float64Array(column.values.length)]),
    );
    this.#entries = new PropertyEntries(tests, match, span, columns, (column, code) => {
      this.#counts.get(column)![code]!++;
    });
  }

  follow(actor: number, segment: LoadedSegment, start: number, end: number): void {
    this.#entries.follow(actor, segment, start, end);
  }

  /** Exactly; null where no event had a number. */
  get value(): number | null {
    const sum = new DecimalSum();
    for (const [{ values }, counts] of this.#counts) {
      for (const [code, count] of counts.entries()) {
        const value = values[code]!;
        if (count > 0 && isJsonNumber(value)) sum.add(value, count);
      }
    }
    return sum.value;
  }
}

import type { PropertyColumn } from "../timelines/property_columns.ts";
import { positiveOp } from "../query/filter_conditions.ts";
import { type Filter, type FilterOp, numberOf } from "../query/filters.ts";
import { propertyText } from "./value_texts.ts";

const COMPARISONS: Partial<Record<FilterOp, (a: number, b: number) => boolean>> = {
  gt: (a, b) => a > b,
  gte: (a, b) => a >= b,
  lt: (a, b) => a < b,
  lte: (a, b) => a <= b,
};
const TEXT_COMPARISONS: Partial<Record<FilterOp, (a: string, b: string) => boolean>> = {
  is: (a, b) => a === b,
  contains: (a, b) => a.includes(b),
  starts_with: (a, b) => a.startsWith(b),
};

/**
 * Whether a value of a column fulfils a condition. A text is returned instead if only the database can
 * compare it.
 */
type ValueTest = (column: PropertyColumn, code: number) => boolean | string;

/** Returns the text of a value; null: the value is null. */
function textOf(column: PropertyColumn, code: number): string | null {
  const json = column.texts[code];
  return json === undefined ? String(column.numberAt(code)) : propertyText(json);
}

/**
 * Returns the test of a filter's condition, without its negation: numbers compare as numbers, all else as
 * texts. Patterns are left to the database.
 */
export function valueTest(filter: Filter): ValueTest {
  const op = positiveOp(filter);
  const numbers = filter.values.map(numberOf).filter((number) => number !== null);
  const compares = COMPARISONS[op];
  if (compares !== undefined) {
    return (column, code) => {
      const number = column.numberAt(code);
      return numbers.some((one) => compares(number, one));
    };
  }
  const comparesText = TEXT_COMPARISONS[op];
  const texts = filter.values.map(String);
  return (column, code) => {
    if (op === "exists") return column.texts[code] !== "null";
    if (op === "is") {
      const number = column.numberAt(code);
      if (!Number.isNaN(number)) return numbers.includes(number);
    }
    const text = textOf(column, code);
    if (text === null) return false;
    if (comparesText === undefined) return text;
    return texts.some((one) => comparesText(text, one));
  };
}

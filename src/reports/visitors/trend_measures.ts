import { propertyOf, readField } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";

const COUNTS = ["total", "visitors", "perVisitor"] as const;
const FIGURES = ["sum", "avg", "min", "max", "p50", "p90"] as const;

/** What is counted of events. */
interface CountMeasure {
  readonly kind: typeof COUNTS[number];
  readonly key: null;
}

/** What is computed of the numbers that one property of the events holds. */
export interface FigureMeasure {
  readonly kind: typeof FIGURES[number];
  readonly key: string;
}

export type Measure = CountMeasure | FigureMeasure;

/** What a measure may be. */
export const MEASURES = `${COUNTS.join(", ")}, or ${
  FIGURES.join(", ")
} and a property, as in sum:properties.price`;

/** `measure`: a count, or a figure and a property behind a colon. Throws Problem `invalid_parameter`. */
export function readMeasure(query: URLSearchParams): Measure {
  const text = query.get("measure") || "total";
  const counted = COUNTS.find((kind) => kind === text);
  if (counted !== undefined) return { kind: counted, key: null };
  const colon = text.indexOf(":");
  const kind = FIGURES.find((figure) => figure === text.slice(0, colon));
  const field = text.slice(colon + 1);
  if (kind === undefined || propertyOf(field) === null) {
    throw invalidParameter("measure", `Use ${MEASURES}.`);
  }
  // As any other field: its length and its characters are bounded.
  readField(new URLSearchParams({ measure: field }), "measure");
  return { kind, key: propertyOf(field)! };
}

import { propertyOf, readField } from "../../query/filters.ts";
import { invalidParameter } from "../../query/parameters.ts";

const COUNTS = ["total", "visitors", "perVisitor"] as const;
const FIGURES = ["sum", "avg", "min", "max", "p50", "p90"] as const;

/** A figure of the numbers in one property of the events. */
export interface FigureMeasure {
  readonly kind: typeof FIGURES[number];
  readonly key: string;
}

export type Measure = { readonly kind: typeof COUNTS[number]; readonly key: null } | FigureMeasure;

/** The possible values of `measure`, for descriptions. */
export const MEASURES = `${COUNTS.join(", ")}, or ${
  FIGURES.join(", ")
} and a property, as in sum:properties.price`;

/** Reads `measure`: a count, or a figure, a colon and a property. Throws Problem `invalid_parameter`. */
export function readMeasure(query: URLSearchParams): Measure {
  const text = query.get("measure") || "total";
  const counted = COUNTS.find((kind) => kind === text);
  if (counted !== undefined) return { kind: counted, key: null };
  const colon = text.indexOf(":");
  const kind = FIGURES.find((figure) => figure === text.slice(0, colon));
  const field = text.slice(colon + 1);
  if (kind === undefined || !propertyOf(field)) {
    throw invalidParameter("measure", `Use ${MEASURES}.`);
  }
  // Checks the key's length and characters, as for any other field.
  readField(new URLSearchParams({ measure: field }), "measure");
  return { kind, key: propertyOf(field)! };
}

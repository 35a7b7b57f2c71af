import type { EventMatch, Filter } from "./filters.ts";
import { matchFilters } from "./selection.ts";

/**
 * The first character of technical names. Their events link identities, and are counted only if a read names
 * them, as its event or in a filter on the name.
 */
const TECHNICAL = "$";
/** A pattern that begins with a literal `$`. */
const TECHNICAL_PATTERN = /^\^?\\\$/;

const isTechnical = (value: unknown): boolean => String(value).startsWith(TECHNICAL);

/** Whether a filter lists the names exactly. */
function isExact({ field, op }: Filter): boolean {
  return field === "name" && op === "is";
}

/** Whether a filter asks for names that begin with `$`. */
function asksForTechnical({ field, op, values }: Filter): boolean {
  if (field !== "name") return false;
  if (op === "contains" || op === "starts_with") return values.some(isTechnical);
  return op === "matches" && values.some((value) => TECHNICAL_PATTERN.test(String(value)));
}

/** Whether events of technical names may pass. */
export function mayMeanTechnical(filters: readonly Filter[]): boolean {
  return filters.some((filter) =>
    asksForTechnical(filter) || isExact(filter) && filter.values.some(isTechnical)
  );
}

/**
 * Returns the filters, with one more that leaves technical names out unless the read names them.
 * @param others more filters that events must pass
 * @param named technical names that are kept
 */
export function withoutTechnical(
  filters: readonly Filter[],
  others: readonly Filter[] = [],
  named: readonly string[] = [],
): readonly Filter[] {
  if ([...filters, ...others].some((one) => isExact(one) || asksForTechnical(one))) return filters;
  return [...filters, { field: "name", op: "is_not_technical", values: named }];
}

/** Returns the filters, with one more that leaves out the technical names that no match lists exactly. */
export function withoutUnnamed(
  filters: readonly Filter[],
  matches: readonly EventMatch[],
): readonly Filter[] {
  const ofMatches = matches.flatMap((match) => match.filters);
  if (ofMatches.some(asksForTechnical)) return filters;
  const listed = matches.flatMap(matchFilters).filter(isExact)
    .flatMap(({ values }) => values.map(String));
  return withoutTechnical(filters, [], listed.filter(isTechnical));
}

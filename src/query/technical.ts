import type { EventMatch, Filter } from "./filters.ts";

/**
 * What technical names begin with. Their events tell who is who, and are counted only where a
 * question names them: by its event, or by a filter on the name.
 */
const TECHNICAL = "$";
/** A pattern that asks for the sign itself. */
const TECHNICAL_PATTERN = /^\^?\\\$/;

const beginsSo = (value: unknown): boolean => String(value).startsWith(TECHNICAL);

/** Whether a filter on the name says which events are meant, so that no other is. */
function isExact({ field, op }: Filter): boolean {
  return field === "name" && op === "is";
}

/** Whether a filter asks for names that begin like technical ones. */
function asksForTechnical({ field, op, values }: Filter): boolean {
  if (field !== "name") return false;
  if (op === "contains" || op === "starts_with") return values.some(beginsSo);
  return op === "matches" && values.some((value) => TECHNICAL_PATTERN.test(String(value)));
}

/** Whether these filters leave it open which names are meant, so that technical ones are not. */
function areNamesOpen(filters: readonly Filter[]): boolean {
  return !filters.some((filter) => isExact(filter) || asksForTechnical(filter));
}

/** Whether events of technical names may pass. */
export function mayMeanTechnical(filters: readonly Filter[]): boolean {
  return filters.some((filter) =>
    asksForTechnical(filter) || isExact(filter) && filter.values.some(beginsSo)
  );
}

/**
 * The filters, with one more that leaves technical names out, unless the question names them.
 * @param others filters that hold beside them
 * @param named names that are meant all the same
 */
export function withoutTechnical(
  filters: readonly Filter[],
  others: readonly Filter[] = [],
  named: readonly string[] = [],
): readonly Filter[] {
  if (!areNamesOpen([...filters, ...others])) return filters;
  return [...filters, { field: "name", op: "is_not_technical", values: named }];
}

/** The filters, with one more that leaves out those technical names that none of the matches names. */
export function withoutUnnamed(
  filters: readonly Filter[],
  matches: readonly EventMatch[],
): readonly Filter[] {
  const ofMatches = matches.flatMap((match) => match.filters);
  if (ofMatches.some(asksForTechnical)) return filters;
  return withoutTechnical(filters, [], technicalNamesOf(matches));
}

/** The technical names that matches name exactly. */
function technicalNamesOf(matches: readonly EventMatch[]): string[] {
  return matches.flatMap(({ name, filters }) => [
    ...name === null ? [] : [name],
    ...filters.filter(isExact).flatMap(({ values }) => values.map(String)),
  ]).filter(beginsSo);
}

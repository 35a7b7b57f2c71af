import fc from "fast-check";
import { FIELD_VALUES } from "./field_values.ts";
import type { EventMatch, Filter, Operator, ReadParams } from "./filters.ts";
import { NAMES, type RandomWorld } from "./random_history.ts";

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

export const FIELDS = Object.keys(FIELD_VALUES);
const NUMBER_FIELDS = ["properties.total", "properties.xq", "properties.viewportWidthq"] as const;
/** Each value of a text field is as good a pattern as any; these say more. */
const PATTERNS = [
  "^/a",
  "a|c",
  "[0-9]",
  "e$",
  "^.o",
  "o+",
  "^\\$",
  "/",
  "^https?:",
  "e[+]21",
] as const;

const TEXT_OPERATORS: readonly Operator[] = [
  "is",
  "is_not",
  "contains",
  "not_contains",
  "starts_with",
];
const NUMBER_OPERATORS: readonly Operator[] = ["gt", "gte", "lt", "lte"];

const textFilter: fc.Arbitrary<Filter> = fc.constantFrom(...FIELDS).chain((field) =>
  fc.record({
    field: fc.constant(field),
    op: fc.constantFrom(...TEXT_OPERATORS),
    values: fc.uniqueArray(fc.constantFrom(...FIELD_VALUES[field]!), {
      minLength: 1,
      maxLength: 2,
    }),
  })
);
const patternFilter: fc.Arbitrary<Filter> = fc.record({
  field: fc.constantFrom(...FIELDS),
  op: fc.constant("matches" as const),
  values: fc.constantFrom(...PATTERNS).map((pattern) => [pattern]),
});
const presenceFilter: fc.Arbitrary<Filter> = fc.record({
  field: fc.constantFrom(...FIELDS),
  op: fc.constantFrom("exists" as const, "not_exists" as const),
  values: fc.constant([]),
});
const numberFilter: fc.Arbitrary<Filter> = fc.record({
  field: fc.constantFrom(...NUMBER_FIELDS),
  op: fc.constantFrom(...NUMBER_OPERATORS),
  values: fc.constantFrom(0, "0.5", 5, 10, 390).map((value) => [value]),
});
const filter = fc.oneof(
  { weight: 6, arbitrary: textFilter },
  { weight: 1, arbitrary: patternFilter },
  { weight: 2, arbitrary: presenceFilter },
  { weight: 2, arbitrary: numberFilter },
);

/** Mostly none: under two filters little is left. */
export const filters: fc.Arbitrary<Filter[]> = fc.oneof(
  { weight: 8, arbitrary: fc.constant<Filter[]>([]) },
  { weight: 3, arbitrary: filter.map((one) => [one]) },
  { weight: 1, arbitrary: fc.tuple(filter, filter).map((both) => [...both]) },
);

export type Match = EventMatch & { readonly name: string };

export const match: fc.Arbitrary<Match> = fc.record({
  name: fc.constantFrom("page_view", ...NAMES),
  filters: fc.oneof(
    { weight: 5, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: filter.map((one) => [one]) },
  ),
});

/** Parameters that are told once the world is known: where its events gather, and when it is asked. */
export type Anchored<T> = (random: RandomWorld) => T;

export type Span = Pick<ReadParams, "from" | "to">;

export const dateText = (ms: number) => new Date(ms).toISOString().slice(0, 10);

export const span: fc.Arbitrary<Anchored<Span>> = fc.record({
  byInstants: fc.constantFrom(false, false, true),
  last: fc.constantFrom(-8, 0, 1, 1, 1, 1, 1, 2, 8),
  days: fc.constantFrom(1, 2, 2, 3, 3, 8, 31, 40),
  startMinutes: fc.nat({ max: 36 }).map((count) => count * 5),
  lengthMinutes: fc.nat({ max: 600 }).map((count) => (count + 1) * 5),
}).map((drawn) => ({ anchorMs }) => {
  if (!drawn.byInstants) {
    const lastMs = anchorMs + drawn.last * DAY_MS;
    return { from: dateText(lastMs - (drawn.days - 1) * DAY_MS), to: dateText(lastMs) };
  }
  const fromMs = anchorMs + drawn.startMinutes * MINUTE_MS;
  const toMs = fromMs + drawn.lengthMinutes * MINUTE_MS;
  return { from: new Date(fromMs).toISOString(), to: new Date(toMs).toISOString() };
});

/** What each world's segments are called. */
export const SEGMENT_SLUGS = ["some", "others"] as const;

export const GOAL_SLUGS = ["one", "two"] as const;

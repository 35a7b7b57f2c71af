import fc from "fast-check";
import type { ImportedFact, ImportedRow } from "./imported.ts";
import type { RandomWorld } from "./random_history.ts";
import type { World } from "./world.ts";

const DAY_MS = 86_400_000;

/** By dimension: values that own events have too, and some that they do not. */
const VALUES: Readonly<Record<string, readonly (string | null)[]>> = {
  channel: ["Direct", "Email", "Organic Search", "Paid Search"],
  source: [null, "google", "news.example", "theirs"],
  medium: [null, "email", "theirs"],
  country: [null, "DE", "US"],
  browser: ["Firefox", "Theirs", null],
  device: ["desktop", "mobile"],
  entryPath: ["/", "/a", "/theirs"],
  path: ["/", "/a", "/theirs", "/b"],
  exitPath: ["/", "/theirs"],
};

const count = fc.option(fc.nat({ max: 9 }), { nil: null, freq: 5 });

function rowOf(value: string | null): fc.Arbitrary<ImportedRow> {
  return fc.record({
    visitors: count,
    visits: count,
    pageviews: count,
    bounces: count,
    seconds: count,
    events: count,
  }).map((figures) =>
    // Nothing can be made of bounces and seconds without visits.
    figures.visits === null
      ? { value, ...figures, bounces: null, seconds: null }
      : { value, ...figures }
  );
}

function rowsOf(dimension: string): fc.Arbitrary<ImportedRow[]> {
  if (dimension === "all") return rowOf(null).map((row) => [row]);
  return fc.subarray([...VALUES[dimension]!])
    .chain((values) => fc.tuple(...values.map(rowOf)));
}

/** Some dimensions of one day, as one source tells them. */
function dayOf(anchorMs: number): fc.Arbitrary<ImportedFact[]> {
  return fc.record({
    source: fc.constantFrom("plausible", "plausible", "fathom", "goatcounter"),
    ago: fc.constantFrom(-3, -1, 0, 0, 1, 1, 1, 2, 2, 3, 4, 7, 8, 30, 40),
    dimensions: fc.subarray(["all", "all", ...Object.keys(VALUES)], { minLength: 4 }),
  }).chain(({ source, ago, dimensions }) => {
    const day = new Date(anchorMs - ago * DAY_MS).toISOString().slice(0, 10);
    return fc.tuple(
      ...[...new Set(dimensions)].map((dimension) =>
        rowsOf(dimension).map((rows) => ({ source, day, dimension, rows }) as ImportedFact)
      ),
    );
  });
}

/** The same of a source once: the first stands. */
function distinct(facts: readonly ImportedFact[]): ImportedFact[] {
  const byKey = new Map<string, ImportedFact>();
  for (const fact of facts) {
    const key = `${fact.source} ${fact.day} ${fact.dimension}`;
    if (!byKey.has(key)) byKey.set(key, fact);
  }
  return [...byKey.values()];
}

/**
 * A world with daily sums of other products, or, half of the time, as it was. Its own events begin
 * within what is asked about as a rule, so that there is something before them.
 */
export function randomImports({ world, anchorMs }: RandomWorld): fc.Arbitrary<World> {
  const own = fc.record({
    beginsAt: fc.constantFrom(-2, 0, 0, 0, 1, 1, 400),
    days: fc.array(dayOf(anchorMs), { minLength: 1, maxLength: 12 }),
  }).map(({ beginsAt, days }): World => ({
    ...world,
    events: world.events.filter(({ occurred_at }) =>
      Date.parse(occurred_at) >= anchorMs - 1 + beginsAt * DAY_MS
    ),
    imported: distinct(days.flat()),
  }));
  return fc.noBias(fc.oneof(fc.constant(world), own));
}

import fc from "fast-check";
import assert from "node:assert/strict";
import type { LoadedSegment } from "../../../src/timelines/loaded_segment.ts";
import type { BotChoice } from "../../../src/query/selection.ts";
import {
  type CountedNumbers,
  figuresOf,
  percentileOf,
  PropertyFigures,
  sumCounted,
} from "../../../src/reports/visitors/property_figures.ts";
import { decimalOf } from "../../../src/scans/decimal_sum.ts";
import type { NumberColumn } from "../../../src/scans/number_columns.ts";
import { passesOf } from "../../support/event_passes.ts";
import { MatchTests } from "../../../src/scans/match_tests.ts";
import { differenceOf } from "../../reads/answers.ts";
import { mean, percentile, sum } from "../../reference/statistics.ts";

/** Numbers are quarters, whose sums doubles hold exactly. */
const VALUES = [
  ...["0", "1", "-7", "2.5", "-0.25", "1e3", "12345678", '"1"', '"-2"', '""', '"8 apples"'],
  ...["true", "false", "null", "[3]", '{"a":4}', "[]"],
];
const NUMBERS_MAX = 7;
const FROM_MS = 1_000;

const EVENT = fc.record({
  name: fc.integer({ min: 1, max: 3 }),
  path: fc.nat({ max: 2 }),
  context: fc.integer({ min: -2, max: 2 }),
  eventBits: fc.nat({ max: 3 }),
  ms: fc.nat({ max: 20 }),
  value: fc.option(fc.nat({ max: VALUES.length - 1 }), { freq: 4 }),
  /** Whether a slice begins here, the turn and the actor of the slice, and whether it is visited. */
  begins: fc.boolean(),
  turn: fc.nat({ max: 1_000 }),
  actor: fc.nat({ max: 3 }),
  isFollowed: fc.constantFrom(true, true, true, false),
});
type Told = typeof EVENT extends fc.Arbitrary<infer T> ? T : never;

function segmentOf(
  events: readonly Told[],
  segmentId: number,
  column: NumberColumn = columnOf(events),
): LoadedSegment {
  const columns: Partial<LoadedSegment> = {
    column: () => column,
    segmentId,
    fromMs: FROM_MS,
    toMs: FROM_MS + 20,
    identities: Int32Array.of(1),
    starts: Uint32Array.of(0, events.length),
    times: Uint32Array.from(events, ({ ms }) => ms),
    names: Uint8Array.from(events, ({ name }) => name),
    paths: Uint8Array.from(events, ({ path }) => path),
    contexts: Int8Array.from(events, ({ context }) => context),
    traffics: new Uint8Array(events.length),
    runBits: Int32Array.of(-1),
    filterBits: Uint8Array.from(events, ({ eventBits }) => eventBits),
  };
  return columns as LoadedSegment;
}

function columnOf(events: readonly Told[], values = VALUES): NumberColumn {
  const having = [...events.entries()].filter(([, { value }]) => value !== null);
  const decimals = values.map(decimalOf);
  const numbers = Float64Array.from(decimals, (one) => one?.number ?? NaN);
  return {
    ...{ numbers, memory: numbers, bytes: numbers.byteLength },
    places: Uint32Array.from(having, ([place]) => place),
    codes: Uint32Array.from(having, ([, { value }]) => value!),
    wholes: Float64Array.from(decimals, (one) => one?.whole ?? 0),
    exponents: Int32Array.from(decimals, (one) => one?.exponent ?? 0),
    digits: new Map(),
  };
}

/** Events of a segment from `start` to before `end`, which one actor did. */
interface Slice {
  readonly segment: number;
  readonly start: number;
  readonly end: number;
  readonly first: Told;
}

/** Returns the slices that are visited, in the order of their turns. */
function slicesOf(groups: readonly (readonly Told[])[]): Slice[] {
  return groups.flatMap((events, segment) => {
    const starts = [...events.keys()].filter((at) => at === 0 || events[at]!.begins);
    return starts.map((start, i) => {
      const end = starts[i + 1] ?? events.length;
      return { segment, start, end, first: events[start]! };
    });
  }).filter(({ first }) => first.isFollowed).sort((a, b) => a.first.turn - b.first.turn);
}

/** Which ids pass: most of them, or all. */
const table = (length: number) =>
  fc.option(
    fc.uint8Array({ minLength: length, maxLength: length, max: 4 })
      .map((numbers) => numbers.map((number) => Math.min(1, number))),
    { freq: 2 },
  );
const test = fc.record({
  bots: fc.constantFrom<BotChoice>("exclude", "include", "include", "only"),
  passing: fc.record({
    names: table(4),
    paths: table(3),
    contexts: table(5),
    actors: table(4),
  }),
  filterBits: fc.constantFrom(0, 0, 0, 1, 2, 3),
}).map(({ bots, passing, filterBits }) => passesOf(bots, passing, filterBits));
const asked = fc.record({
  tests: fc.tuple(test, test, test).map(([scope, ...tests]) =>
    new MatchTests({ scope, tests, counted: null }, [])
  ),
  match: fc.nat({ max: 1 }),
  fromMs: fc.integer({ min: -2, max: 10 }).map((ms) => FROM_MS + ms),
  toMs: fc.integer({ min: 8, max: 22 }).map((ms) => FROM_MS + ms),
});

const FIGURES = {
  sum,
  avg: mean,
  min: (numbers: readonly number[]) => percentile(numbers, 0),
  max: (numbers: readonly number[]) => percentile(numbers, 1),
  p50: (numbers: readonly number[]) => percentile(numbers, 0.5),
  p90: (numbers: readonly number[]) => percentile(numbers, 0.9),
} as const;
const KINDS = Object.keys(FIGURES) as (keyof typeof FIGURES)[];

Deno.test("PropertyFigures: the numbers of selected events, in whatever order slices are followed", () => {
  let figured = 0;
  let nothing = 0;
  const groups = fc.array(fc.array(EVENT, { minLength: 1, maxLength: 30, size: "max" }), {
    maxLength: 3,
    size: "max",
  });
  fc.assert(
    fc.property(groups, asked, fc.constantFrom(...KINDS), (groups, question, kind) => {
      const { tests, match, fromMs, toMs } = question;
      const middleMs = Math.max(fromMs, Math.min(toMs, FROM_MS + 9));
      const buckets = [{ fromMs, toMs: middleMs }, { fromMs: middleMs, toMs }];
      const segments = groups.map((events, i) => segmentOf(events, i));
      const figures = new PropertyFigures(tests, match, { kind, key: "v" }, buckets);
      const numbers: number[][] = [[], []];
      for (const { segment, start, end, first: { actor } } of slicesOf(groups)) {
        figures.follow(actor, segments[segment]!, start, end);
        for (
          const { name, path, context, eventBits, ms, value } of groups[segment]!.slice(start, end)
        ) {
          const bucket = buckets.findIndex((one) =>
            FROM_MS + ms >= one.fromMs && FROM_MS + ms < one.toMs
          );
          const isTaken = [tests.scope, tests.tests[match]!]
            .every((one) => one.passes(name, path, context, actor, eventBits));
          const isNumber = value !== null && value < NUMBERS_MAX;
          if (bucket >= 0 && isTaken && isNumber) numbers[bucket]!.push(Number(VALUES[value]));
        }
      }
      const expected = numbers.map((some) => FIGURES[kind](some));
      assert.equal(differenceOf(figuresOf(kind, figures.counts()), expected), null);
      if (numbers.flat().length === 0) nothing++;
      else figured++;
    }),
    { numRuns: 3_000 },
  );
  assert.ok(figured > 100 && nothing > 100, `${figured} figures, ${nothing} of nothing`);
});

Deno.test("PropertyFigures: decimals of several segments are summed exactly", () => {
  const everything = { names: null, paths: null, contexts: null, actors: null };
  const test = passesOf("exclude", everything);
  const event = { name: 1, path: 0, context: 0, eventBits: 0, ms: 0, value: 0 };
  const told = { ...event, begins: false, turn: 0, actor: 1, isFollowed: true };
  const segments = ["0.1", "0.2"].map((value, i) =>
    segmentOf([told], i, columnOf([told], [value]))
  );
  const tests = new MatchTests({ scope: test, tests: [test], counted: null }, []);
  const measure = { kind: "sum", key: "v" } as const;
  const sum = new PropertyFigures(tests, 0, measure, [{ fromMs: 0, toMs: 2_000 }]);
  assert.deepEqual(figuresOf("sum", sum.counts()), [0]);
  for (const segment of segments) sum.follow(1, segment, 0, 1);
  assert.deepEqual(figuresOf("sum", sum.counts()), [0.3]);
});

const countedOf = (pairs: readonly (readonly [number, number])[]): CountedNumbers => {
  const ordered = pairs.toSorted(([a], [b]) => a - b);
  return {
    numbers: Float64Array.from(ordered, ([number]) => number),
    counts: Float64Array.from(ordered, ([, count]) => count),
  };
};

Deno.test("counted numbers: those of many lists are added up", async () => {
  const pair = fc.tuple(fc.integer({ min: -20, max: 20 }), fc.integer({ min: 1, max: 5 }));
  const list = fc.uniqueArray(pair, { selector: ([number]) => number });
  await fc.assert(fc.asyncProperty(fc.array(list), async (lists) => {
    const sums = new Map<number, number>();
    for (const [number, count] of lists.flat()) {
      sums.set(number, (sums.get(number) ?? 0) + count);
    }
    assert.deepEqual(await sumCounted(lists.map(countedOf)), countedOf([...sums]));
  }));
});

Deno.test("counted numbers: no other work waits until all are added up", async () => {
  const lists = Array.from({ length: 26 }, (_, of) => {
    const pairs = Array.from({ length: 40_000 }, (_, i) => [26 * i + of, 1] as const);
    return countedOf(pairs);
  });
  let turns = 0;
  const timer = setInterval(() => turns++, 0);
  const { numbers } = await sumCounted(lists);
  clearInterval(timer);
  assert.equal(numbers.length, 26 * 40_000);
  assert.ok(turns > 0);
});

Deno.test("percentileOf: between two numbers whose distance is not a finite double", () => {
  const counted = { numbers: Float64Array.of(-1e308, 1e308), counts: Float64Array.of(1, 1) };
  assert.deepEqual([0, 0.5, 0.75, 1].map((share) => percentileOf(counted, share)), [
    ...[-1e308, 0, 0.5e308, 1e308],
  ]);
});

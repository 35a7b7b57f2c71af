import fc from "fast-check";
import assert from "node:assert/strict";
import type { LoadedSegment } from "../../src/histories/loaded_segment.ts";
import type { PropertyColumn } from "../../src/histories/property_columns.ts";
import type { BotChoice } from "../../src/selection/selection.ts";
import { EventTest } from "../../src/walks/event_tests.ts";
import { MatchTests } from "../../src/walks/match_tests.ts";
import { PropertySum } from "../../src/walks/property_sums.ts";

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
  mark: fc.nat({ max: 3 }),
  ms: fc.nat({ max: 20 }),
  value: fc.option(fc.nat({ max: VALUES.length - 1 }), { freq: 4 }),
  /** Whether a stretch begins here; where its turn is, whose it is, and whether it is followed. */
  begins: fc.boolean(),
  turn: fc.nat({ max: 1_000 }),
  actor: fc.nat({ max: 3 }),
  isFollowed: fc.constantFrom(true, true, true, false),
});
type Told = typeof EVENT extends fc.Arbitrary<infer T> ? T : never;

function segmentOf(events: readonly Told[], segmentId: number): LoadedSegment {
  return {
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
    depths: new Float64Array(0),
    scrolls: new Uint32Array(0),
    nameBits: Int32Array.of(-1),
    marks: Uint8Array.from(events, ({ mark }) => mark),
  };
}

function columnOf(events: readonly Told[]): PropertyColumn {
  const having = [...events.entries()].filter(([, { value }]) => value !== null);
  return {
    places: Uint32Array.from(having, ([place]) => place),
    codes: Uint32Array.from(having, ([, { value }]) => value!),
    values: VALUES,
    isPartial: false,
    bytes: 0,
  };
}

/** Events of a segment from `start` to before `end`, which one actor did. */
interface Stretch {
  readonly segment: number;
  readonly start: number;
  readonly end: number;
  readonly first: Told;
}

/** All that is followed, in the order of the turns. */
function stretchesOf(groups: readonly (readonly Told[])[]): Stretch[] {
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
  marks: fc.constantFrom(0, 0, 0, 1, 2, 3),
}).map(({ bots, passing, marks }) => {
  const reach = { term_max: 3, context_min: -2, context_max: 2, identity_max: 3 };
  return new EventTest(bots, passing, marks, reach);
});
const asked = fc.record({
  tests: fc.tuple(test, test, test).map(([scope, ...tests]) => new MatchTests(scope, tests)),
  match: fc.nat({ max: 1 }),
  fromMs: fc.integer({ min: -2, max: 10 }).map((ms) => FROM_MS + ms),
  toMs: fc.integer({ min: 8, max: 22 }).map((ms) => FROM_MS + ms),
});

Deno.test("PropertySum: the numbers of selected events, in whatever order stretches are followed", () => {
  let summed = 0;
  let nothing = 0;
  const groups = fc.array(fc.array(EVENT, { minLength: 1, maxLength: 30, size: "max" }), {
    maxLength: 3,
    size: "max",
  });
  fc.assert(
    fc.property(groups, asked, (groups, { tests, match, ...span }) => {
      const segments = groups.map(segmentOf);
      const columns = segments.map((segment, i) => [segment, columnOf(groups[i]!)] as const);
      const sum = new PropertySum(tests, match, span, new Map(columns));
      const numbers: number[] = [];
      for (const { segment, start, end, first: { actor } } of stretchesOf(groups)) {
        sum.follow(actor, segments[segment]!, start, end);
        for (const { name, path, context, mark, ms, value } of groups[segment]!.slice(start, end)) {
          const isInSpan = FROM_MS + ms >= span.fromMs && FROM_MS + ms < span.toMs;
          const isTaken = [tests.scope, tests.tests[match]!]
            .every((one) => one.passes(name, path, context, actor, mark));
          const isNumber = value !== null && value < NUMBERS_MAX;
          if (isInSpan && isTaken && isNumber) numbers.push(Number(VALUES[value]));
        }
      }
      const expected = numbers.length === 0 ? null : numbers.reduce((a, b) => a + b);
      assert.equal(sum.value, expected);
      if (expected === null) nothing++;
      else summed++;
    }),
    { numRuns: 3_000 },
  );
  assert.ok(summed > 100 && nothing > 100, `${summed} sums, ${nothing} of nothing`);
});

Deno.test("PropertySum: decimals of several segments are summed exactly", () => {
  const everything = { names: null, paths: null, contexts: null, actors: null };
  const reach = { term_max: 3, context_min: 0, context_max: 2, identity_max: 3 };
  const test = new EventTest("exclude", everything, 0, reach);
  const event = { name: 1, path: 0, context: 0, mark: 0, ms: 0, value: 0 };
  const told = { ...event, begins: false, turn: 0, actor: 1, isFollowed: true };
  const segments = [0, 1].map((i) => segmentOf([told], i));
  const values = ["0.1", "0.2"];
  const columns = segments.map((segment, i) =>
    [segment, { ...columnOf([told]), values: [values[i]!] }] as const
  );
  const tests = new MatchTests(test, [test]);
  const sum = new PropertySum(tests, 0, { fromMs: 0, toMs: 2_000 }, new Map(columns));
  assert.equal(sum.value, null);
  for (const segment of segments) sum.follow(1, segment, 0, 1);
  assert.equal(sum.value, 0.3);
});

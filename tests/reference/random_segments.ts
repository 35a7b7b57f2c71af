import fc from "fast-check";
import { NAMES, type RandomWorld } from "./random_history.ts";
import {
  type Anchored,
  filters,
  GOAL_SLUGS,
  match,
  SEGMENT_SLUGS,
  type Span,
  span,
} from "./random_parts.ts";
import type { Condition, NamedSpan, SegmentDefinition } from "./segments.ts";
import type { World } from "./world.ts";

const times = fc.constantFrom<{ readonly atLeast?: number; readonly atMost?: number }>(
  {},
  {},
  { atLeast: 2 },
  { atLeast: 3 },
  { atMost: 0 },
  { atMost: 2 },
  { atLeast: 1, atMost: 1 },
);
/** When something was done: mostly at a time that has events. */
const when: fc.Arbitrary<Anchored<{ readonly within?: "range" | `${number}d` | NamedSpan }>> = fc
  .oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom({}, { within: "range" as const }, { within: "2d" as const }, {
        within: "40d" as const,
      }).map((within) => () => within),
    },
    {
      weight: 1,
      arbitrary: span.map((anchored) => (random: RandomWorld) => ({
        within: spanIn(anchored, random),
      })),
    },
  );
const matchOfAny = fc.oneof(
  { weight: 3, arbitrary: match },
  { weight: 1, arbitrary: fc.constantFrom<string>("page_view", ...NAMES) },
  { weight: 1, arbitrary: fc.constant({ name: null }) },
);
const leaf: fc.Arbitrary<Anchored<Condition>> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(matchOfAny, times, when).map(
      ([did, often, within]) => (random: RandomWorld) => ({
        did,
        ...often,
        ...within(random),
      }),
    ),
  },
  {
    weight: 2,
    arbitrary: span.map((anchored) => (random: RandomWorld) => ({
      firstSeen: spanIn(anchored, random),
    })),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom(...GOAL_SLUGS), when).map(
      ([goal, within]) => (random: RandomWorld) => ({
        goal,
        ...within(random),
      }),
    ),
  },
);

function spanIn(anchored: Anchored<Span>, random: RandomWorld): NamedSpan {
  const { from, to } = anchored(random);
  return { from: from!, to: to! };
}

/** A condition of up to so many combinations inside one another. */
function conditionOf(levels: number): fc.Arbitrary<Anchored<Condition>> {
  if (levels === 0) return leaf;
  const part = conditionOf(levels - 1);
  const parts = fc.array(part, { minLength: 1, maxLength: 3 });
  const all = (some: readonly Anchored<Condition>[], random: RandomWorld) =>
    some.map((one) => one(random));
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    {
      weight: 1,
      arbitrary: part.map((one): Anchored<Condition> => (random) => ({ not: one(random) })),
    },
    {
      weight: 1,
      arbitrary: parts.map((some): Anchored<Condition> => (random) => ({ all: all(some, random) })),
    },
    {
      weight: 1,
      arbitrary: parts.map((some): Anchored<Condition> => (random) => ({ any: all(some, random) })),
    },
  );
}

export const segments: fc.Arbitrary<Anchored<SegmentDefinition[]>> = fc.tuple(
  ...SEGMENT_SLUGS.map((slug) =>
    fc.tuple(filters, fc.option(conditionOf(2), { freq: 5 })).map(
      ([filters, actors]) => (random: RandomWorld): SegmentDefinition => ({
        slug,
        title: `Segment ${slug}`,
        filters,
        actors: actors?.(random) ?? null,
      }),
    )
  ),
).map((some) => (random) => some.map((one) => one(random)));

/** The world with segments, which its reads ask for. */
export function randomSegments(random: RandomWorld): fc.Arbitrary<World> {
  return fc.noBias(segments).map((anchored) => ({ ...random.world, segments: anchored(random) }));
}

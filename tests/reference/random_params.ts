import fc from "fast-check";
import type { AcquisitionField } from "./acquisition.ts";
import type { Interval } from "./calendar.ts";
import type { ReadParams } from "./filters.ts";
import type { GoalDefinition } from "./goals.ts";
import {
  NAMES,
  PATHS,
  type RandomWorld,
  randomWorld,
  SELECTORS,
  TIMEZONES,
} from "./random_history.ts";
import {
  type Anchored,
  dateText,
  DAY_MS,
  FIELDS,
  filters,
  GOAL_SLUGS,
  match,
  SEGMENT_SLUGS,
  type Span,
  span,
} from "./random_parts.ts";
import type { ParamsOf, ReadName } from "./reads.ts";
import type { OfPeople, OfVisits } from "./behind.ts";
import {
  cellOf,
  clicksOf,
  figureOf,
  nowOf,
  type NumberOf,
  rowOf,
  stepOf,
  waysOf,
} from "./random_numbers.ts";
import { segments } from "./random_segments.ts";
import type { World } from "./world.ts";

const ownCompare = fc.record({ first: fc.integer({ min: -40, max: 5 }), more: fc.nat({ max: 8 }) })
  .map(({ first, more }): Anchored<ReadParams["compare"]> => ({ anchorMs }) => ({
    from: dateText(anchorMs + first * DAY_MS),
    to: dateText(anchorMs + (first + more) * DAY_MS),
  }));
const COMPARES = [
  "none",
  "previous",
  "previous",
  "year",
  ...SEGMENT_SLUGS.map((slug) => `segment:${slug}` as const),
] as const;
const namedCompare = fc.constantFrom(...COMPARES)
  .map((word): Anchored<ReadParams["compare"]> => () => word);
const compare: fc.Arbitrary<Anchored<Pick<ReadParams, "compare">>> = fc.oneof(
  { weight: 3, arbitrary: namedCompare },
  { weight: 1, arbitrary: ownCompare },
).map((compared) => (random) => ({ compare: compared(random)! }));

/** Whole local days of the project's own zone, mostly up to today, which is not over yet. */
const recentSpan: fc.Arbitrary<Anchored<Span>> = fc.record({
  daysAgo: fc.constantFrom(0, 0, 0, 1, 2, -1),
  days: fc.constantFrom(1, 2, 3, 7, 8, 31, 40),
}).map(({ daysAgo, days }) => ({ world }) => {
  const { asOfMs, project: { timezone } } = world;
  const today = Temporal.Instant.fromEpochMilliseconds(asOfMs).toZonedDateTimeISO(timezone)
    .toPlainDate();
  const to = today.subtract({ days: daysAgo });
  return { from: to.subtract({ days: days - 1 }).toString(), to: to.toString() };
});

const bots = fc.constantFrom<NonNullable<ReadParams["bots"]>>(
  ...["exclude", "exclude", "exclude", "exclude", "include", "only"] as const,
);

const segment: fc.Arbitrary<Pick<ReadParams, "segment">> = fc.constantFrom(
  {},
  {},
  ...SEGMENT_SLUGS.map((segment) => ({ segment })),
);

const narrowed: fc.Arbitrary<Anchored<ReadParams>> = fc.record({
  span: fc.option(span, { freq: 10 }),
  timezone: fc.option(fc.constantFrom(...TIMEZONES)),
  filters,
  bots,
  segment,
}).map(({ span, timezone, segment, ...rest }) => (random) => ({
  ...span?.(random),
  ...timezone === null ? {} : { timezone },
  ...segment,
  ...rest,
}));
/** What a dashboard asks for first: nothing left out, in the project's own time zone. */
const plain: fc.Arbitrary<Anchored<ReadParams>> = fc.record({
  span: fc.option(fc.oneof({ weight: 2, arbitrary: recentSpan }, { weight: 1, arbitrary: span })),
  namesZone: fc.boolean(),
}).map(({ span, namesZone }) => (random) => ({
  ...span?.(random),
  ...namesZone ? { timezone: random.world.project.timezone } : {},
}));
const shared = fc.oneof({ weight: 3, arbitrary: narrowed }, { weight: 2, arbitrary: plain });

/** The parameters that all reads share, and some of a read's own. */
function withShared<T>(own: fc.Arbitrary<T>): fc.Arbitrary<Anchored<ReadParams & T>> {
  return fc.tuple(shared, own).map(([common, mine]) => (random) => ({
    ...common(random),
    ...mine,
  }));
}

/** As `withShared`, of a read that compares. */
function withCompare<T>(own: fc.Arbitrary<T>): fc.Arbitrary<Anchored<ReadParams & T>> {
  return fc.tuple(withShared(own), compare).map(([params, compared]) => (random) => ({
    ...params(random),
    ...compared(random),
  }));
}

const nothing = fc.constant({});
/** Of the reads that answer with buckets. */
const interval = fc.constantFrom<Interval | null>(null, "hour", "day", "week", "month")
  .map((interval) => interval === null ? {} : { interval });

const goals: fc.Arbitrary<GoalDefinition[]> = fc.tuple(
  ...GOAL_SLUGS.map((slug) =>
    fc.record({
      slug: fc.constant(slug),
      title: fc.constant(`Goal ${slug}`),
      match,
      value: fc.constantFrom<GoalDefinition["value"]>(
        undefined,
        { fixed: 2.5, currency: "EUR" },
        { property: "total", currency: "USD" },
      ),
    }).map(({ value, ...goal }): GoalDefinition => value === undefined ? goal : { ...goal, value })
  ),
);

/** Nothing is split by what one person may have several of. */
const by = fc.constantFrom(
  ...FIELDS.filter((field) => field !== "anonymousId"),
  "properties.n",
  "properties.n",
);
const optionalBy = fc.option(by).map((field) => field === null ? {} : { by: field });

const acquisition = fc.record({
  by: fc.constantFrom<AcquisitionField>(
    "channel",
    "source",
    "medium",
    "campaign",
    "term",
    "content",
    "referrer",
    "entryPath",
    "country",
    "region",
    "city",
    "browser",
    "os",
    "device",
  ),
  goal: fc.constantFrom(undefined, ...GOAL_SLUGS),
}).map(({ by, goal }) => goal === undefined ? { by } : { by, goal });

const funnel = fc.tuple(
  fc.record({
    steps: fc.array(match, { minLength: 1, maxLength: 4, size: "max" }),
    window: fc.constantFrom("300s", "5m", "30m", "1h", "24h", "7d", "365d"),
    order: fc.constantFrom("ordered" as const, "strict" as const, "unordered" as const),
    entry: fc.constantFrom("any" as const, "first" as const),
    exclude: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(match, { minLength: 1, maxLength: 2 }) },
    ),
  }),
  optionalBy,
).map(([own, group]) => ({ ...own, ...group }));

const startOrReturn = fc.oneof(
  { weight: 3, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: match },
);
const retention = fc.record({
  start: startOrReturn,
  return: startOrReturn,
  cohort: fc.constantFrom("first" as const, "recurring" as const),
  criterion: fc.constantFrom("on" as const, "on_or_after" as const),
  interval: fc.constantFrom("day" as const, "week" as const, "month" as const),
  periods: fc.integer({ min: 1, max: 5 }),
}).map(({ start, return: back, ...rest }) => ({
  ...start === null ? {} : { start },
  ...back === null ? {} : { return: back },
  ...rest,
}));

const labelled = fc.tuple(match, fc.constantFrom(null, "One", "Two"))
  .map(([one, label]) => label === null ? one : { ...one, label });
const trends = fc.tuple(
  fc.record({
    event: fc.oneof(
      fc.constant(undefined),
      fc.constantFrom(...NAMES),
      labelled,
      fc.array(fc.oneof(fc.constantFrom<string>(...NAMES), labelled), {
        minLength: 2,
        maxLength: 3,
      }),
    ),
    measure: fc.constantFrom(
      "total",
      "visitors",
      "perVisitor",
      ...["sum", "avg", "min", "max", "p50", "p90"].map((kind) => `${kind}:properties.total`),
    ),
  }),
  optionalBy,
  interval,
).map(([own, group, buckets]) => ({ ...own, ...group, ...buckets }));

const eventName = fc.constantFrom("page_view", "page_view", ...NAMES);
const place = fc.oneof(
  { weight: 4, arbitrary: eventName },
  { weight: 1, arbitrary: match },
  { weight: 1, arbitrary: fc.constantFrom(...PATHS).map((path) => ({ path })) },
);
/** Where a way begins and ends: few have a certain one of both. */
const ends = fc.oneof(
  { weight: 4, arbitrary: fc.constant({}) },
  { weight: 3, arbitrary: place.map((start) => ({ start })) },
  { weight: 3, arbitrary: place.map((end) => ({ end })) },
  { weight: 1, arbitrary: fc.record({ start: place, end: place }) },
  { weight: 1, arbitrary: fc.record({ start: fc.constant("page_view"), end: eventName }) },
);
const journeys = fc.tuple(
  ends,
  fc.record({
    by: fc.constantFrom("path" as const, "name" as const, "both" as const),
    steps: fc.integer({ min: 2, max: 5 }),
    top: fc.constantFrom(1, 2, 8),
    scope: fc.constantFrom("session" as const, "actor" as const),
    window: fc.constantFrom("5m", "30m", "1d", "7d"),
  }),
).map(([where, rest]) => ({ ...where, ...rest }));

/** Mostly everybody's; else one's own, or those that reached something. */
const visitsOf = fc.record({
  actor: fc.constantFrom(undefined, undefined, undefined, "u1", "u3", "a1", "a2", "nobody"),
  goal: fc.constantFrom(undefined, undefined, undefined, ...GOAL_SLUGS),
}).map(({ actor, goal }) => ({
  ...actor === undefined ? {} : { actor },
  ...goal === undefined ? {} : { goal },
}));

/** With a number of another read, or without. */
function withNumber<P extends ReadParams, O>(
  own: fc.Arbitrary<Anchored<P>>,
  numbers: fc.Arbitrary<NumberOf<O>>,
): fc.Arbitrary<Anchored<P | ReadParams & { readonly of: O }>> {
  const numbered = fc.tuple(shared, numbers).map(([common, number]) => (random: RandomWorld) => {
    const params = common(random);
    return { ...params, of: number(random.world, params) };
  });
  return fc.oneof<fc.Arbitrary<Anchored<P | ReadParams & { readonly of: O }>>[]>(own, numbered);
}
const heatmap = fc.tuple(
  fc.oneof(
    fc.constantFrom("/", "/", ...PATHS).map((path) => ({ path })),
    fc.constantFrom("*", "*", "/*", "/a*", "*b", "/*/b", "/a_b", "/a?b", "**").map((pattern) => ({
      pattern,
    })),
  ),
  fc.record({
    device: fc.constantFrom(
      "desktop" as const,
      "desktop" as const,
      "tablet" as const,
      "mobile" as const,
    ),
    kind: fc.constantFrom(
      "click" as const,
      "rage" as const,
      "dead" as const,
      "scroll" as const,
    ),
  }),
).map(([page, own]) => ({ ...page, ...own }));

const visits = withNumber(
  withShared(visitsOf),
  fc.oneof<fc.Arbitrary<NumberOf<OfVisits>>[]>(
    waysOf(journeys, "session"),
    rowOf(acquisition, ["sessions"]),
    figureOf("bounces"),
  ),
);
const people = withNumber(
  withShared(nothing),
  fc.oneof<fc.Arbitrary<NumberOf<OfPeople>>[]>(
    stepOf(funnel),
    cellOf(retention),
    waysOf(journeys, "actor"),
    rowOf(acquisition, ["visitors", "newVisitors", "conversions"]),
    figureOf("newVisitors"),
    clicksOf(heatmap, SELECTORS),
    nowOf,
  ),
);

const vitals = fc.tuple(
  fc.constantFrom(...["path", "device", "country", "browser", "os", undefined] as const),
  interval,
).map(([by, buckets]) => by === undefined ? buckets : { by, ...buckets });

const PARAMS: { readonly [R in ReadName]: fc.Arbitrary<Anchored<ParamsOf[R]>> } = {
  kpis: withCompare(interval),
  acquisition: withShared(acquisition),
  pages: withShared(nothing),
  funnels: withCompare(funnel),
  retention: withCompare(retention),
  goals: withCompare(interval),
  trends: withCompare(trends),
  journeys: withShared(journeys),
  insights: withShared(fc.constantFrom({}, {}, { limit: 1 }, { limit: 100 })),
  visits,
  actors: people,
  heatmaps: withShared(heatmap),
  "heatmaps/paths": withShared(nothing),
  vitals: withShared(vitals),
  live: fc.tuple(fc.record({ filters, bots, timezone: fc.constantFrom(...TIMEZONES) }), segment)
    .map(([params, segment]) => () => ({ ...params, ...segment })),
};

export const READ_NAMES = Object.keys(PARAMS) as readonly ReadName[];

export interface RandomRead<R extends ReadName = ReadName> {
  readonly world: World;
  readonly read: R;
  readonly params: ParamsOf[R];
  /** Goals to be defined in the project before. */
  readonly goals: readonly GoalDefinition[];
}

/** Parameters of one read for a world that is already there: one store of many reads. */
export function randomParams<R extends ReadName>(
  read: R,
  random: RandomWorld,
): fc.Arbitrary<ParamsOf[R]> {
  return fc.noBias(PARAMS[read] as fc.Arbitrary<Anchored<ParamsOf[R]>>).map((anchored) =>
    anchored(random)
  );
}

/** A world of up to `eventsMax` events and a read of it; both shrink. */
export function randomRead<R extends ReadName>(
  read: R,
  eventsMax = 80,
): fc.Arbitrary<RandomRead<R>> {
  const drawn = fc.tuple(
    randomWorld(eventsMax),
    PARAMS[read] as fc.Arbitrary<Anchored<ParamsOf[R]>>,
    goals,
    segments,
  );
  return fc.noBias(drawn).map(([random, anchored, goals, segments]) => ({
    world: { ...random.world, segments: segments(random) },
    read,
    params: anchored(random),
    goals,
  }));
}

export const randomGoals: fc.Arbitrary<readonly GoalDefinition[]> = goals;

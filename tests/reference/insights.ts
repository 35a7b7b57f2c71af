import type { Calendar } from "../../src/reports/insights/insight_calendar.ts";
import {
  type Candidate,
  type Counts,
  type Dimension,
  DIMENSIONS,
  sliceKey,
} from "../../src/reports/insights/insight_candidates.ts";
import type { Cause } from "../../src/reports/insights/insight_causes.ts";
import {
  findChanges,
  type Finding,
  type MeasuredMetric,
  METRICS,
} from "../../src/reports/insights/insight_findings.ts";
import type { JointCells } from "../../src/reports/insights/insight_change.ts";
import { instantText } from "./calendar.ts";
import { type EventMatch, fieldText, lookedAt, type ReadParams, takes, within } from "./filters.ts";
import type { GoalDefinition } from "./goals.ts";
import { figuresOfNothing, foundCauses } from "./found_causes.ts";
import { type ComparedDays, comparedDays, type Span } from "./insight_days.ts";
import { actorsFor } from "./segments.ts";
import { actorsOf, byValue, type Fact, groupBy, isPageView, type World } from "./world.ts";

const VALUES_MAX = 50;
const WEEKS_MIN = 2;

/** What one finding tells beside its sentence and its drilldown. */
type Told = Omit<
  Finding,
  "goal" | "dimension" | "value" | "explains" | "dispersion" | "clusters" | "excessOfDays"
>;

export interface InsightsResult {
  readonly findings: readonly (Told & { readonly evidence: readonly Told[] })[];
  readonly changes: number;
  readonly tested: number;
  readonly weeks: number;
  readonly previous: { readonly from: string; readonly to: string } | null;
}

/** Events that a match takes, with the values that each is of. */
interface Looked {
  readonly goal: GoalDefinition | null;
  readonly facts: readonly Fact[];
}

/**
 * `GET /v1/insights`: what candidates come to, and what changes come to together, is counted here from
 * the definitions; which of these counts is a change, and which changes have one cause, is what
 * `findChanges` and `searchCauses` say, whose cases are written by hand.
 */
export function readInsights(
  world: World,
  params: ReadParams & { readonly limit?: number },
  goals: readonly GoalDefinition[],
): InsightsResult {
  const days = comparedDays(world, params);
  if (days === null || days.weeks < WEEKS_MIN) {
    return { findings: [], changes: 0, tested: 0, weeks: 0, previous: null };
  }
  const everybody = world.whole ?? world;
  const looked = lookedFor(everybody, params, goals);
  const counted = { ...days, peopleIn: peopleOf(everybody, params, days, goals) };
  const { findings, tested } = changesOf(everybody, counted, looked);
  const causes = findings.length < 2
    ? findings.map((finding): Cause => ({ finding, evidence: [] }))
    : foundCauses(findings, cellsOf(everybody, counted, looked, findings), tested);
  return {
    findings: causes.slice(0, params.limit ?? 100)
      .map(({ finding, evidence }) => ({ ...told(finding), evidence: evidence.map(told) })),
    changes: findings.length,
    tested,
    weeks: days.weeks,
    previous: {
      from: instantText(days.previous.fromMs),
      to: instantText(days.previous.toMs),
    },
  };
}

/** What is compared, and whose events count in each span: null is everybody. */
interface CountedDays extends ComparedDays {
  readonly peopleIn: (span: Span) => ReadonlySet<string> | null;
}

/** A segment has its own people in each of the ranges that are compared. */
function peopleOf(
  everybody: World,
  params: ReadParams,
  { peopleRangeOf }: ComparedDays,
  goals: readonly GoalDefinition[],
): CountedDays["peopleIn"] {
  const segment = everybody.segments?.find(({ slug }) => slug === params.segment);
  const condition = segment?.actors ?? null;
  if (condition === null) return () => null;
  const known = new Map<unknown, Set<string>>();
  return (span) => {
    const range = peopleRangeOf(span);
    if (!known.has(range)) {
      known.set(range, actorsFor(everybody, params, range, condition, goals));
    }
    return known.get(range)!;
  };
}

/** Everything, then the goals. */
export function lookedFor(
  world: World,
  params: ReadParams,
  goals: readonly GoalDefinition[],
): Looked[] {
  const of = (match: EventMatch) => lookedAt(world, params).filter(takes(world, params, match));
  return [
    { goal: null, facts: of({}) },
    ...goals.map((goal) => ({ goal, facts: of(goal.match) })),
  ];
}

/** All changes, by score. */
export function changesOf(world: World, days: CountedDays, looked: readonly Looked[]) {
  const calendar = {
    weekdays: days.daysBefore.map(({ weekday }) => weekday),
    days: days.counts,
    weeks: days.weeks,
    rangeWeekdays: days.isWeek ? days.days.map(({ weekday }) => weekday) : [],
  } as unknown as Calendar;
  const candidates = looked.map(({ facts }) => candidatesOf(world, days, facts));
  const measured = METRICS.flatMap((metric): MeasuredMetric[] =>
    metric === "conversions"
      ? looked.slice(1).map(({ goal }, i) => ({
        metric,
        goal: goal as MeasuredMetric["goal"],
        candidates: candidates[i + 1]!,
      }))
      : [{ metric, goal: null, candidates: candidates[0]! }]
  );
  return findChanges(measured, calendar);
}

function valueOf(world: World, fact: Fact, dimension: Dimension): string | null {
  return fieldText(fact, dimension, world);
}

function candidatesOf(world: World, days: CountedDays, facts: readonly Fact[]): Candidate[] {
  const inPeriods = facts.filter((fact) =>
    [days.range, days.previous].some((period) =>
      within(period)(fact) && (days.peopleIn(period)?.has(fact.actor) ?? true)
    )
  );
  const values = DIMENSIONS.flatMap((dimension) => {
    const own = groupBy(facts, (fact) => valueOf(world, fact, dimension));
    return [...groupBy(inPeriods, (fact) => valueOf(world, fact, dimension))]
      .sort(([a, ofA], [b, ofB]) => ofB.length - ofA.length || byValue(a, b))
      .slice(0, VALUES_MAX)
      .map(([value]) => candidateOf(days, own.get(value)!, dimension, value));
  });
  return [candidateOf(days, facts, null, null), ...values];
}

function candidateOf(
  { range, previous, days, isWeek, daysBefore, peopleIn }: CountedDays,
  facts: readonly Fact[],
  dimension: Dimension | null,
  value: string | null,
): Candidate {
  const countsIn = counterOf(facts, peopleIn);
  return {
    dimension,
    value,
    current: countsIn(range),
    previous: countsIn(previous),
    ofDays: days.map(countsIn).reduce(together),
    days: isWeek ? days.map(countsIn) : [],
    daysBefore: daysBefore.map(countsIn),
  };
}

/** The items of a span, where all are in the order of their times. */
function inSpan<T>(items: readonly T[], msOf: (item: T) => number, { fromMs, toMs }: Span): T[] {
  const firstFrom = (ms: number) => {
    let [low, high] = [0, items.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (msOf(items[middle]!) < ms) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return items.slice(firstFrom(fromMs), firstFrom(toMs));
}

/** Sessions that hold one of the events count where they start, the events where they happen. */
function counterOf(
  facts: readonly Fact[],
  peopleIn: CountedDays["peopleIn"],
): (span: Span) => Counts {
  const sessions = [...new Set(facts.flatMap(({ session }) => session ?? []))]
    .sort((a, b) => a.startMs - b.startMs);
  return (span) => {
    const people = peopleIn(span);
    const counts = ({ actor }: { readonly actor: string }) => people?.has(actor) ?? true;
    const events = inSpan(facts, ({ atMs }) => atMs, span).filter(counts);
    const started = inSpan(sessions, ({ startMs }) => startMs, span).filter(counts);
    return {
      visitors: actorsOf(events).size,
      pageviews: events.filter(isPageView).length,
      events: events.length,
      sessions: started.length,
      bounces: started.filter(({ bounce }) => bounce).length,
    };
  };
}

function together(a: Counts, b: Counts): Counts {
  return {
    visitors: a.visitors + b.visitors,
    pageviews: a.pageviews + b.pageviews,
    events: a.events + b.events,
    sessions: a.sessions + b.sessions,
    bounces: a.bounces + b.bounces,
  };
}

/** Events of the same slices are of one cell. */
export function cellsOf(
  world: World,
  { range, previous, peopleIn }: CountedDays,
  looked: readonly Looked[],
  findings: readonly Finding[],
): JointCells {
  const slices = [...new Map(findings.map((finding) => [sliceKey(finding), finding])).values()];
  const isIn = (fact: Fact, { dimension, value }: typeof slices[number]) =>
    dimension === null || valueOf(world, fact, dimension) === value;
  const cellOf = (fact: Fact) => slices.map((slice) => Number(isIn(fact, slice))).join("");
  const cells = [...new Set(looked.flatMap(({ facts }) => facts.map(cellOf)))];
  const placeOf = new Map(cells.map((cell, place) => [cell, place]));
  const matches = looked.map(({ goal, facts }) => {
    const figures = figuresOfNothing(cells.length);
    for (const [cell, own] of groupBy(facts, cellOf)) {
      const place = placeOf.get(cell)!;
      const countsIn = counterOf(own, peopleIn);
      for (const [at, span] of [["now", range], ["before", previous]] as const) {
        for (const [figure, count] of Object.entries(countsIn(span))) {
          figures[figure as keyof Counts][at][place] = count;
        }
      }
    }
    return [goal?.slug ?? null, figures] as const;
  });
  const whole = new Uint8Array(cells.length).fill(1);
  return {
    count: cells.length,
    holds: new Map([
      [sliceKey({ dimension: null, value: null }), whole],
      ...slices.map((slice, i) =>
        [sliceKey(slice), Uint8Array.from(cells, (cell) => Number(cell[i]))] as const
      ),
    ]),
    matches: new Map(matches),
  };
}

function told(finding: Finding): Told {
  const {
    goal,
    dimension,
    value,
    explains: _,
    dispersion: __,
    clusters: ___,
    excessOfDays: ____,
    ...rest
  } = finding;
  return {
    ...rest,
    ...goal === null ? {} : { goal: goal.slug },
    ...dimension === null ? {} : { dimension, value },
  };
}

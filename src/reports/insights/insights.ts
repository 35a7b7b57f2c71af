import { z } from "zod";
import {
  FILTERS_MAX,
  INSIGHT_CAUSES_MAX,
  INSIGHT_CHANGE_MIN,
  INSIGHT_COUNT_CHANGE_MIN,
  INSIGHT_FALSE_DISCOVERIES,
  INSIGHT_GOALS_MAX,
  INSIGHT_GROUPED_MAX,
  INSIGHT_NOTES_MAX,
  INSIGHT_RATE_CHANGE_MIN,
  INSIGHT_VALUES_MAX,
  INSIGHT_WEEKS,
  INSIGHT_WEEKS_MIN,
} from "../../limits.ts";
import type { Filter } from "../../query/filters.ts";
import { matchFilters } from "../../query/selection.ts";
import type { Read } from "../../scans/read.ts";
import { yielding } from "../../store/yielding.ts";
import { listGoals } from "../saved/goal_definitions.ts";
import { type Calendar, calendarOf } from "./insight_calendar.ts";
import { type CandidateQuestion, DIMENSIONS, sliceKey } from "./insight_candidates.ts";
import { type Cause, type Search, searchCauses } from "./insight_causes.ts";
import { findChanges, type Finding, type MeasuredMetric, METRICS } from "./insight_findings.ts";
import { readCandidates } from "./insight_scan.ts";
import { NoteOfFinding, notesOfChange, notesOfRange } from "./insight_notes.ts";
import { notedSentence, previousName, sentenceOf } from "./insight_sentences.ts";
import { countTogether } from "./joint_scan.ts";
import type { Answer, Report } from "../answer/report.ts";

const metricFigure = (description: string) => z.number().describe(description);

const CHANGE_SHOWN = {
  kind: z.enum(["total_change", "value_change", "new_value", "vanished_value"]).describe(
    "new_value: nothing in either period before; vanished_value: nothing in the range",
  ),
  metric: z.enum(METRICS),
  goal: z.string().optional().describe("Slug, with the metric conversions"),
  dimension: z.enum(DIMENSIONS).optional().describe("Absent: the total"),
  value: z.string().nullable().optional().describe("With `dimension`; null where it is missing"),
  current: metricFigure("In the range; for bounceRate, a fraction"),
  previous: metricFigure("In the previous period"),
  change: z.number().nullable().describe("(current − previous) / previous"),
  weekdays: z.object({
    current: metricFigure(
      "Sum over the range's days, each counted separately; for bounceRate, the rate of these days together",
    ),
    expected: metricFigure(
      "Sum, over these days, of the means of their weekdays in the weeks before; for bounceRate, the expected rate",
    ),
    change: z.number().nullable(),
  }),
  contribution: z.number().nullable().describe(
    "Share of the total's change: (current − previous) of the value / that of the total; of bounceRate its bounces / all sessions. Null where the total did not change",
  ),
  pValue: metricFigure("Two-sided; the larger one of both comparisons"),
  adjustedPValue: metricFigure("By Benjamini and Hochberg over all `tested`"),
  score: metricFigure(
    "The change as a fraction of the total; values that explain the total's change rank above it",
  ),
  text: z.string().meta({
    description: "The finding as an English sentence. Text from events stands in quotes",
    example: "Visitors rose 38 % to 1,204 (from 872) against the previous 7 days.",
  }),
  drilldown: z.string().describe(
    "Path (`BASE_PATH` included) and query of the read of key figures whose `totals` and `previous.totals` hold the numbers, those of conversions as visitors",
  ),
};

const Insight = z.object({
  ...CHANGE_SHOWN,
  notes: z.array(NoteOfFinding).describe(
    `Notes that the change begins with, the latest first, at most ${INSIGHT_NOTES_MAX}; \`text\` quotes the first`,
  ),
  evidence: z.array(z.object(CHANGE_SHOWN).meta({ id: "InsightEvidence" })).describe(
    "Changes that the same sessions explain by two thirds or more: the same cause, seen in other values and metrics. By score",
  ),
}).meta({ id: "Insight" });

export const INSIGHTS_REPLY = {
  findings: z.array(Insight).describe(`By score, at most \`limit\`, and ${INSIGHT_CAUSES_MAX}`),
  changes: z.int().describe("Changes found, before those with one cause were grouped"),
  tested: z.int().describe("Comparisons made, which p-values are adjusted for"),
  weeks: z.int().describe(
    `Weeks before the range that were compared. Nothing is tested with fewer than ${INSIGHT_WEEKS_MIN}, or if the project's first event is in the previous period`,
  ),
  previous: z.object({ from: z.iso.datetime(), to: z.iso.datetime() }).nullable().describe(
    "The period compared with; null if nothing was tested",
  ),
};

/** `GET /v1/insights`: what changed, and which values made it change. `place`: where the server's paths begin. */
export const createInsights = (place: { readonly basePath: string }): Report => ({
  path: "/v1/insights",
  summary: "What changed beyond chance, and which channel, page, place or device explains it",
  parameters: {},
  byDays: true,
  compares: "previous",
  warnsOfPending: true,
  semantics:
    `Each metric, in total and for the ${INSIGHT_VALUES_MAX} values with most events of each dimension, is compared with the previous period and, day by day, with the mean of the same weekdays in the ${INSIGHT_WEEKS} weeks before the range. ` +
    "With a segment, the previous period and each of these weeks have their own people: those of the range moved back to it. " +
    `A change is reported if it has the same direction in both comparisons, is at least ${
      100 * INSIGHT_CHANGE_MIN
    }% and ${INSIGHT_COUNT_CHANGE_MIN} (bounceRate: ${
      100 * INSIGHT_RATE_CHANGE_MIN
    } points) in each, and its larger p-value (t-test, variance as in those weeks) passes Benjamini-Hochberg at ${
      100 * INSIGHT_FALSE_DISCOVERIES
    }%. Conversions are distinct actors. contribution = share of the total's change. ` +
    "Changes with one cause are one finding, named by the narrowest value that explains most of it. Causes are found one by one: the next is the value that moved most against everything outside the causes so far (if none did, the total). " +
    "A change is evidence of the cause that explains most of it if two thirds or more of its excess (range less previous period) are in causes; in a broader cause only what moved in proportion with it counts. False discoveries are held at 5% over causes, too. " +
    "notes: those of the range's days and of the day before, if two thirds or more of the days' excess over their weekdays is on the note's day and later, and that day or the next has at least half of the mean excess of these days; none in a range of more than a week. " +
    `Only the ${INSIGHT_GROUPED_MAX} changes with the highest scores are grouped, into at most ${INSIGHT_CAUSES_MAX} causes. Weaker ones are not reported.`,
  reply: INSIGHTS_REPLY,
  ask: (query) => {
    const parameters = { basePath: place.basePath, hasInterval: Boolean(query.get("interval")) };
    return { answer: (read) => answer(read, parameters) };
  },
});

interface InsightParameters {
  readonly basePath: string;
  readonly hasInterval: boolean;
}

/** Returns the time of the project's first event; null: there is none. */
async function readFirstEventMs({ sql, scope }: Read): Promise<number | null> {
  const [row] = await sql.query<{ first_ms: number | null }>(
    "SELECT min(first_ms) AS first_ms FROM actors WHERE project_id = (SELECT $1::int)",
    [scope.projectId],
  );
  return row!.first_ms;
}

/** Returns the filters of the request, without those of its segment, which come first. */
function ownFilters({ scope, segment }: Pick<Read, "scope" | "segment">): readonly Filter[] {
  return scope.filters.slice(segment?.filters.length ?? 0);
}

/**
 * Measures all metrics; goals and dimensions only if a drilldown with their filters is possible. `found`: the
 * candidates of all selected events, then those of each goal.
 */
async function readMeasured(read: Read, calendar: Calendar) {
  const left = FILTERS_MAX - ownFilters(read).length;
  const dimensionsWithin = (filters: number) => filters > 0 ? DIMENSIONS : [];
  const goals = (await listGoals(read.sql, read.scope.projectId)).slice(0, INSIGHT_GOALS_MAX)
    .filter((goal) => matchFilters(goal.match).length <= left);
  const among = await read.amongRanges?.(calendar.ranges) ?? null;
  const found = await readCandidates({ ...read, ...among }, calendar, [
    { match: null, dimensions: dimensionsWithin(left) },
    ...goals.map((goal): CandidateQuestion => ({
      match: goal.match,
      dimensions: dimensionsWithin(left - matchFilters(goal.match).length),
    })),
  ]);
  const [candidates, ...ofGoals] = found.lists;
  const measured = [
    ...METRICS.filter((metric) => metric !== "conversions")
      .map((metric): MeasuredMetric => ({ metric, goal: null, candidates: candidates! })),
    ...goals.map((goal, i): MeasuredMetric => ({
      metric: "conversions",
      goal,
      candidates: ofGoals[i]!,
    })),
  ];
  return { measured, found, goals };
}

/** Runs a search, yielding to the event loop in between. */
async function inTurns<T>(search: Search<T>): Promise<T> {
  const turn = yielding();
  while (true) {
    const { done, value } = search.next();
    if (done) return value;
    await turn();
  }
}

/** Groups findings, sorted by score, by cause. If they or their slices are too many, the last are left out. */
async function causesOf(
  { found, goals }: Awaited<ReturnType<typeof readMeasured>>,
  findings: readonly Finding[],
  tested: number,
) {
  const grouped = findings.slice(0, INSIGHT_GROUPED_MAX);
  // A single finding has nothing to be grouped with.
  if (grouped.length < 2) return grouped.map((finding): Cause => ({ finding, evidence: [] }));
  const questions = [null, ...goals].map((goal, i) => [goal?.slug ?? null, i] as const)
    .filter(([slug]) => grouped.some(({ goal }) => (goal?.slug ?? null) === slug));
  const slices = new Map(grouped.map((finding) => [sliceKey(finding), finding]));
  const cells = await countTogether(found, [...slices.values()], new Map(questions));
  const inCells = grouped.filter((finding) => cells.holds.has(sliceKey(finding)));
  return await inTurns(searchCauses(inCells, cells, tested));
}

/** Returns the path and query of the read of key figures that shows the numbers of a finding. */
function drilldownOf(
  read: Read,
  { basePath, hasInterval }: InsightParameters,
  { goal, dimension, value }: Finding,
): string {
  const { project, range, scope, interval, segment } = read;
  const filters: Filter[] = [
    ...ownFilters(read),
    ...goal === null ? [] : matchFilters(goal.match),
    ...dimension === null ? [] : [
      value === null
        ? { field: dimension, op: "not_exists", values: [] } as const
        : { field: dimension, op: "is", values: [value] } as const,
    ],
  ];
  const parameters = new URLSearchParams({
    project: project.id,
    from: range.fromDate?.toString() ?? range.from.toISOString(),
    to: range.toDate?.toString() ?? range.to.toISOString(),
    timezone: range.timezone,
    ...hasInterval ? { interval } : {},
    compare: "previous",
    bots: scope.bots,
    ...segment === undefined ? {} : { segment: segment.slug },
  });
  if (filters.length > 0) parameters.set("filters", JSON.stringify(filters));
  return `${basePath}/v1/kpis?${parameters}`;
}

/** Returns which of some findings explains most of a total's change; undefined: none, or it is not a total. */
function explainerOf(total: Finding, findings: readonly Finding[]): Finding | undefined {
  if (total.kind !== "total_change") return undefined;
  const { metric, goal } = total;
  return findings.find((one) => one.explains && one.metric === metric && one.goal === goal);
}

const NOTHING = { findings: [], changes: 0, tested: 0, weeks: 0, previous: null };

async function answer(read: Read, parameters: InsightParameters): Promise<Answer> {
  const query = { compare: "previous" };
  const firstEventMs = await readFirstEventMs(read);
  const calendar = firstEventMs === null ? null : calendarOf(read.range, read.asOfMs, firstEventMs);
  if (calendar === null || calendar.weeks < INSIGHT_WEEKS_MIN) return { query, result: NOTHING };
  const all = await readMeasured(read, calendar);
  const { findings, tested } = findChanges(all.measured, calendar);
  const causes = await causesOf(all, findings, tested);
  const before = previousName(read.range, read.asOfMs);
  const shown = (finding: Finding, ofCause: readonly Finding[]) => {
    const { kind, metric, goal, dimension, value, current, previous, change } = finding;
    const { weekdays, contribution, score, pValue, adjustedPValue } = finding;
    const figures = { current, previous, change, weekdays, contribution, score };
    return {
      kind,
      metric,
      ...goal === null ? {} : { goal: goal.slug },
      ...dimension === null ? {} : { dimension, value },
      ...figures,
      pValue,
      adjustedPValue,
      text: sentenceOf(finding, before, explainerOf(finding, ofCause)),
      drilldown: drilldownOf(read, parameters, finding),
    };
  };
  const noted = causes.length === 0
    ? []
    : await notesOfRange(read.sql, read.scope.projectId, read.range);
  const listed = causes.slice(0, read.limit).map(({ finding, evidence }) => {
    const ofCause = [finding, ...evidence];
    const lead = shown(finding, ofCause);
    const notes = notesOfChange(noted, finding.excessOfDays);
    return {
      ...lead,
      text: lead.text + notedSentence(notes),
      notes: notes.map(({ note: { at, text } }) => ({ at, text })),
      evidence: evidence.map((one) => shown(one, ofCause)),
    };
  });
  const { previous: { from, to }, weeks } = calendar;
  const previous = { from: from.toISOString(), to: to.toISOString() };
  const result = { findings: listed, changes: findings.length, tested, weeks, previous };
  return { query, result, comparedTo: to };
}

import { z } from "zod";
import { namesPerson } from "../../query/filters.ts";
import type { Read } from "../../scans/read.ts";
import {
  FUNNEL_QUERY,
  type FunnelDefinition,
  FunnelShown,
  labelOf,
  plainDefinition,
  readDefinition,
} from "./funnel_definition.ts";
import { type FunnelGroupTally, type StepTally, tallyAttempts } from "./funnel_tally.ts";
import { findAttempts } from "./funnel_scan.ts";
import { changeOf, ChangeShown, pointsOf, PointsShown } from "../answer/changes.ts";
import { COMPARED_SHOWN, comparisonOf } from "../answer/compared_read.ts";
import { type Answer, rate, RateShown, type Report } from "../answer/report.ts";
import { isSmall, OTHER, shownCount, tooFewVisitors } from "../answer/small_groups.ts";
import { noSuchDefinition } from "../saved/saved_definitions.ts";
import { FUNNEL_KIND, listFunnels, requireFunnel } from "./saved_funnels.ts";

const Seconds = z.number().nullable();
const StepShown = z.object({
  label: z.string(),
  actors: z.int().nullable().describe(
    "Who reached the step in the attempt that counts; null: too few for a share.",
  ),
  conversionFromStart: RateShown,
  conversionFromPrevious: RateShown,
  dropoff: z.int().nullable().describe(
    "Who reached the previous step and not this one; null: too few came here for a share.",
  ),
  secondsFromPrevious: z.object({ median: Seconds, p90: Seconds }),
}).meta({ id: "FunnelStep" });
const GroupShown = z.object({
  value: z.string().nullable().describe(
    "At the entry; null: missing; $other: all groups but the largest 25, and those of too few people for a share.",
  ),
  entered: z.int(),
  converted: z.int().nullable(),
  steps: z.array(StepShown),
}).meta({ id: "FunnelGroup" });

const FIGURES = {
  steps: z.array(StepShown),
  entered: z.int().describe("Who did the first step in the range."),
  converted: z.int().nullable().describe(
    "Who reached the last step; null, here and below: too few for a share.",
  ),
  excluded: z.int().nullable().describe("Whose attempt was ended by an excluded event."),
  open: z.int().nullable().describe("Neither converted nor excluded, with a window not over yet."),
  groups: z.array(GroupShown).optional().describe("With `by`, the largest first."),
};

type StepReply = z.output<typeof StepShown>;

const FunnelChange = z.object({
  entered: ChangeShown,
  converted: ChangeShown,
  conversionRatePoints: PointsShown.describe(
    "current − previous of converted / entered, 0.044 is +4.4 points",
  ),
  steps: z.array(z.object({
    actors: ChangeShown,
    conversionFromStartPoints: PointsShown,
    conversionFromPreviousPoints: PointsShown,
  })),
}).meta({ id: "FunnelChange" });

type FunnelChange = z.output<typeof FunnelChange>;

/** The figures of a funnel in replies. */
export const FUNNEL_REPLY = {
  ...FIGURES,
  previous: z.object({ ...COMPARED_SHOWN, ...FIGURES }).optional().describe(
    "Only with `compare`: the funnel in the range or segment compared with",
  ),
  change: FunnelChange.optional(),
};

type FunnelFigures = z.output<z.ZodObject<typeof FIGURES>>;

const SEMANTICS =
  "The actors who did step 1 in [from, to) enter; each later step at its earliest event after the " +
  "step before, up to `window` after the entry, also past `to`. One event is one step. strict: the " +
  "very next event, clicks, scrolls and technical names ($…) passed over unless a step names them. unordered: any step enters, step k is " +
  "reached with k different ones. entry=any: of all attempts of an actor the deepest counts, then the earliest; " +
  "first: that of the first entry in the range. An excluded event ends an attempt that waits for a " +
  "step, even if it matches that step. open: neither converted nor excluded, with a window not over yet. " +
  "change = (current - previous) / previous of counts; points = current - previous of rates.";

function shownSteps(
  labels: readonly string[],
  steps: readonly StepTally[],
  visitorsMin: number,
): StepReply[] {
  const entered = steps[0]!.actors;
  const seconds = (ms: number | null) => ms === null ? null : ms / 1000;
  return steps.map(({ actors, medianMs, p90Ms }, i) => {
    const before = steps[i - 1]?.actors ?? entered;
    const isShown = !isSmall(actors, visitorsMin);
    // The times of a step that too few people reached could be those of a single person.
    const [median, p90] = isShown ? [medianMs, p90Ms] : [null, null];
    return {
      label: labels[i]!,
      actors: isShown ? actors : null,
      conversionFromStart: isShown ? rate(actors, entered) : rate(0, 0),
      conversionFromPrevious: isShown ? rate(actors, before) : rate(0, 0),
      dropoff: isShown ? before - actors : null,
      secondsFromPrevious: { median: seconds(median), p90: seconds(p90) },
    };
  });
}

/** Adds up groups: each actor is in exactly one. Their times cannot be added, and are null. */
function sumOf(groups: readonly FunnelGroupTally[]): FunnelGroupTally {
  const steps = groups[0]!.steps.map((_, i): StepTally => ({
    actors: groups.reduce((sum, group) => sum + group.steps[i]!.actors, 0),
    medianMs: null,
    p90Ms: null,
  }));
  return { value: OTHER, steps };
}

/** Merges groups of too few people, and `$other` with them, into one. */
function withoutSmall(
  groups: readonly FunnelGroupTally[],
  visitorsMin: number,
): readonly FunnelGroupTally[] {
  const isTooSmall = ({ steps }: FunnelGroupTally) => isSmall(steps[0]!.actors, visitorsMin);
  if (!groups.some(isTooSmall)) return groups;
  const isKept = (group: FunnelGroupTally) => group.value !== OTHER && !isTooSmall(group);
  return [...groups.filter(isKept), sumOf(groups.filter((group) => !isKept(group)))];
}

function shown(
  { steps }: FunnelDefinition,
  tally: Awaited<ReturnType<typeof tallyAttempts>>,
  visitorsMin: number,
): FunnelFigures {
  const labels = steps.map(labelOf);
  const shownActors = (actors: number) => shownCount(actors, visitorsMin);
  const counted = (tallies: readonly StepTally[]) => ({
    steps: shownSteps(labels, tallies, visitorsMin),
    entered: tallies[0]!.actors,
    converted: shownActors(tallies.at(-1)!.actors),
  });
  const { excluded, open, groups } = tally;
  return {
    ...counted(tally.steps),
    excluded: shownActors(excluded),
    open: shownActors(open),
    ...groups === null ? {} : {
      groups: withoutSmall(groups, visitorsMin)
        .map(({ value, steps }) => ({ value, ...counted(steps) })),
    },
  };
}

/** Returns the figures of a funnel in the range of a read; null: too few entered for a share. */
async function figuresOf(read: Read, definition: FunnelDefinition): Promise<FunnelFigures | null> {
  const { visitorsMin } = read;
  const { attempts, textsOf } = await findAttempts(read, definition, { withEntries: false });
  const tally = await tallyAttempts(attempts, definition.steps.length, textsOf);
  if (isSmall(tally.steps[0]!.actors, visitorsMin)) return null;
  return shown(definition, tally, visitorsMin);
}

function changesOf(current: FunnelFigures, previous: FunnelFigures): FunnelChange {
  const overall = ({ steps }: FunnelFigures) => steps.at(-1)!.conversionFromStart;
  return {
    entered: changeOf(current.entered, previous.entered),
    converted: changeOf(current.converted, previous.converted),
    conversionRatePoints: pointsOf(overall(current), overall(previous)),
    steps: current.steps.map((step, i) => {
      const before = previous.steps[i]!;
      return {
        actors: changeOf(step.actors, before.actors),
        conversionFromStartPoints: pointsOf(step.conversionFromStart, before.conversionFromStart),
        conversionFromPreviousPoints: pointsOf(
          step.conversionFromPrevious,
          before.conversionFromPrevious,
        ),
      };
    }),
  };
}

async function run(read: Read, definition: FunnelDefinition): Promise<Answer> {
  const current = await figuresOf(read, definition);
  if (current === null) throw tooFewVisitors(read.visitorsMin);
  const comparison = await comparisonOf(read, async (compared) => {
    const previous = await figuresOf(compared, definition);
    return previous && { previous, change: changesOf(current, previous) };
  });
  return {
    query: { ...plainDefinition(definition) },
    result: { ...current, ...comparison },
  };
}

/** Tells whether a share may show a funnel: not if a filter names a person. */
function isNameless({ steps, exclude }: FunnelDefinition): boolean {
  return ![...steps, ...exclude].some(({ filters }) => filters.some(namesPerson));
}

/** `GET /v1/funnels`: with `steps` the figures of that funnel, without them the saved funnels. */
export const FUNNELS: Report = {
  path: "/v1/funnels",
  summary: "How far actors get through a sequence of steps; without `steps`, the saved funnels",
  parameters: FUNNEL_QUERY,
  compares: "asked",
  semantics: SEMANTICS,
  reply: {
    ...Object.fromEntries(
      Object.entries(FUNNEL_REPLY).map(([name, type]) => [name, type.optional()]),
    ),
    funnels: z.array(FunnelShown).optional().describe(
      "The saved funnels, by slug; only without `steps`.",
    ),
  },
  ask: (query) => {
    const definition = readDefinition(query);
    if (definition === null) {
      return {
        answer: async ({ sql, scope, isShared }) => {
          const funnels = await listFunnels(sql, scope.projectId);
          return { result: { funnels: isShared ? funnels.filter(isNameless) : funnels } };
        },
        isCounted: false,
      };
    }
    const { steps, exclude, by } = definition;
    return {
      answer: (read) => run(read, definition),
      terms: { matches: { steps, exclude }, fields: [by] },
    };
  },
};

/** `GET /v1/funnels/:slug`: the figures of a saved funnel. */
export const SAVED_FUNNEL: Report = {
  path: "/v1/funnels/:slug",
  summary: "Runs a saved funnel",
  parameters: {},
  compares: "asked",
  semantics: SEMANTICS,
  reply: { slug: z.string(), title: z.string(), ...FUNNEL_REPLY },
  ask: (_query, params) => ({
    answer: async (read) => {
      const funnel = await requireFunnel(read.sql, read.scope.projectId, params.slug ?? "");
      if (read.isShared && !isNameless(funnel)) throw noSuchDefinition(FUNNEL_KIND);
      const { slug, title, ...definition } = funnel;
      const { steps, exclude } = definition;
      const { result, ...answer } = await run(read, definition);
      return { ...answer, result: { slug, title, ...result }, matches: { steps, exclude } };
    },
  }),
};

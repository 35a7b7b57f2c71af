import { z } from "zod";
import { SESSION_GAP_MS } from "../../limits.ts";
import { unnamedInteractions } from "../../reserved_terms.ts";
import type { EventMatch } from "../../query/filters.ts";
import { matchFilters, type Span } from "../../query/selection.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { spanOf } from "../../query/range.ts";
import { eventPasses } from "../../scans/event_tests.ts";
import type { CountedKeys } from "../../scans/key_counts.ts";
import { mostFrequentOfEach, type TextsOf } from "../../scans/most_frequent.ts";
import type { Read, ScanSource } from "../../scans/read.ts";
import { selectTimelines } from "../../scans/selected_timelines.ts";
import { readTexts } from "../../scans/value_texts.ts";
import { OTHER } from "../answer/small_groups.ts";
import {
  isBackward,
  isNameCode,
  NODE_KINDS,
  type StepRules,
  type StepsBy,
  termOf,
} from "./journey_steps.ts";
import {
  JOURNEY_LINKS,
  JOURNEY_NODES,
  type JourneyInputs,
  type JourneyNodes,
  linksBetweenShown,
  OTHER_PLACE,
  placesOf,
} from "./journey_visitor.ts";
import { LINKS_COUNTED_MAX } from "./link_counts.ts";

export interface JourneyQuestion {
  readonly start: EventMatch | null;
  readonly end: EventMatch | null;
  readonly by: StepsBy;
  readonly steps: number;
  readonly top: number;
  readonly of: "session" | "actor";
  readonly windowMs: number;
}

const Kind = z.enum(NODE_KINDS);

export const JOURNEY_REPLY = {
  total: z.int().describe("Sessions, or actors, with such a way"),
  nodes: z.array(z.object({
    step: z.int(),
    value: z.string().nullable().describe("Null: page views without a path"),
    kind: Kind,
    count: z.int(),
  })).describe("By step, the largest first, then $other, then $end"),
  links: z.array(z.object({
    step: z.int().describe("The step it leads from; it leads to the next"),
    from: z.string().nullable(),
    fromKind: Kind,
    to: z.string().nullable(),
    toKind: Kind,
    count: z.int(),
  })),
};

type CountedJourneys = z.output<z.ZodObject<typeof JOURNEY_REPLY>>;
type CountedNode = CountedJourneys["nodes"][number];
type CountedLink = CountedJourneys["links"][number];

const END = "$end";

function rulesOf({ start, end, steps, of, windowMs }: JourneyQuestion): StepRules {
  return {
    hasStart: start !== null,
    hasEnd: end !== null,
    steps,
    windowMs: of === "actor" ? windowMs : Infinity,
  };
}

/**
 * Returns the span from which events are loaded. For sessions it begins one pause early, to find those that
 * began before the span.
 */
function reachOf({ of, windowMs }: JourneyQuestion, rules: StepRules, span: Span): Span {
  if (of === "session") return { fromMs: span.fromMs - SESSION_GAP_MS, toMs: span.toMs };
  return isBackward(rules)
    ? { fromMs: span.fromMs - windowMs, toMs: span.toMs }
    : { fromMs: span.fromMs, toMs: span.toMs + windowMs + 1 };
}

/** The values of a step that have nodes of their own, and how many ways have each of them there. */
type ShownValues = Awaited<ReturnType<typeof largestValues>>[number];

/** Returns the `top` values of each step with the most ways; ties in the order of their texts. */
async function largestValues(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  { counts }: JourneyNodes,
  top: number,
) {
  const textsOf: TextsOf = async (codes, most) => {
    const terms = await readTexts(sql, scope, "path", [...new Set(codes.map(termOf))], most);
    return new Map(
      codes.flatMap((code) => {
        const text = terms.get(termOf(code));
        return text === undefined ? [] : [[code, text] as const];
      }),
    );
  };
  const lists = counts.map(({ keys, counts }) => ({ counts, idAt: (at: number) => keys[at]! }));
  const largest = await mostFrequentOfEach(lists, top, textsOf);
  return largest.map((own) =>
    own.map(({ text, count, ids }) => ({ code: ids[0]!, value: text, count }))
  );
}

/** Returns the nodes of a step, counted from 1, by their place: `$other`, the values, `$end`. */
function nodesAt(
  step: number,
  values: ShownValues,
  { counts }: CountedKeys,
  ended: number,
  places: number,
): CountedNode[] {
  const own = values.map(({ code, value, count }): CountedNode => ({
    step,
    value,
    kind: isNameCode(code) ? "name" : "path",
    count,
  }));
  const all = counts.reduce((sum, count) => sum + count, 0);
  const others = all - own.reduce((sum, { count }) => sum + count, 0);
  const nodes: CountedNode[] = [{ step, value: OTHER, kind: "other", count: others }, ...own];
  nodes[places - 1] = { step, value: END, kind: "end", count: ended };
  return nodes;
}

/** Returns the links that ways have. @param order the places, as they are shown */
function linksOf(
  nodes: readonly (readonly CountedNode[])[],
  counts: Int32Array,
  order: readonly number[],
): CountedLink[] {
  const places = order.length;
  const links: CountedLink[] = [];
  for (let step = 1; step < nodes.length; step++) {
    for (const fromPlace of order) {
      for (const toPlace of order) {
        const count = counts[((step - 1) * places + fromPlace) * places + toPlace]!;
        if (count === 0) continue;
        const { value: from, kind: fromKind } = nodes[step - 1]![fromPlace]!;
        const { value: to, kind: toKind } = nodes[step]![toPlace]!;
        links.push({ step, from, fromKind, to, toKind, count });
      }
    }
  }
  return links;
}

/** The ways to follow, and the timelines in which to follow them. */
export type SelectedWays = Awaited<ReturnType<typeof selectWays>>;

type JourneySource = ScanSource & Pick<Read, "range">;

/**
 * Loads the timelines of a question, and resolves its matches.
 * @param linksMax how many distinct links one scan may count: see `LINKS_COUNTED_MAX`
 */
export async function selectWays(
  read: JourneySource,
  question: JourneyQuestion,
  linksMax = LINKS_COUNTED_MAX,
) {
  const { sql, scope, range } = read;
  const { start, end, by, of } = question;
  const span = spanOf(range);
  const rules = rulesOf(question);
  const matches = [start, end].filter((match) => match !== null);
  const selected = await selectTimelines(read, reachOf(question, rules, span), {
    filters: matches.flatMap(({ filters }) => filters),
    sessions: of === "session",
  });
  const { eventFilters, timelines } = selected;
  // With scope=session the filters select whole sessions; with scope=actor they narrow every event.
  const narrowing = of === "session" ? [] : eventFilters;
  const lists = [
    withoutTechnical(eventFilters),
    ...matches.map((match) => [
      ...narrowing,
      ...withoutTechnical(matchFilters(match), eventFilters),
    ]),
  ];
  const [all, ...found] = await eventPasses(sql, scope, scope.bots, lists, timelines.bits);
  const ways: JourneyInputs = {
    of,
    span,
    rules,
    by,
    reach: selected.reach,
    selected: all!,
    passedOver: unnamedInteractions(matches),
    start: start === null ? null : found.shift()!,
    end: end === null ? null : found.shift()!,
    linksMax,
  };
  return { selected, ways };
}

/** Asks for events of any name: a start or an end may have a technical name, which no selected event has. */
const askedBy = ({ selected }: JourneyInputs) => ({ askedEvents: { ...selected, names: null } });

/** Counts the values at each step, and returns those with nodes of their own too. */
export async function scanSteps(
  read: JourneySource,
  { selected, ways }: SelectedWays,
  top: number,
) {
  const nodes = await selected.scan(JOURNEY_NODES, () => ways, askedBy(ways));
  return { nodes, shown: await largestValues(read, nodes, top) };
}

/**
 * Counts the ways of sessions or actors in one scan. If there are more than `linksMax` distinct links, a
 * second scan counts those between the nodes that are shown.
 */
export async function scanJourneys(
  read: JourneySource,
  question: JourneyQuestion,
  linksMax = LINKS_COUNTED_MAX,
): Promise<CountedJourneys> {
  const found = await selectWays(read, question, linksMax);
  const { selected, ways } = found;
  const { nodes, shown } = await scanSteps(read, found, question.top);
  const codes = shown.map((values) => values.map(({ code }) => code));
  const links = nodes.links === null
    ? await selected.scan(JOURNEY_LINKS, () => ({ ways, shown: codes }), askedBy(ways))
    : linksBetweenShown(nodes, nodes.links, codes);
  const places = placesOf(codes);
  const placed = shown.map((values, i) =>
    nodesAt(i + 1, values, nodes.counts[i]!, nodes.ended[i]!, places)
  );
  const order = [...Array.from({ length: places - 2 }, (_, i) => i + 1), OTHER_PLACE, places - 1];
  return {
    total: nodes.total,
    nodes: placed.flatMap((some) =>
      order.flatMap((place) => some[place] ?? []).filter(({ count }) => count > 0)
    ),
    links: linksOf(placed, links, order),
  };
}

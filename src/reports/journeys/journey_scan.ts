import { SESSION_GAP_MS } from "../../limits.ts";
import { CLICK, RESERVED_NAMES, SCROLL } from "../../query/terms.ts";
import type { EventMatch } from "../../query/filters.ts";
import { matchFilters, type Span } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { withoutTechnical } from "../../query/technical.ts";
import { spanOf } from "../../query/range.ts";
import { eventPasses } from "../../scans/event_tests.ts";
import type { Read } from "../../scans/read.ts";
import { type SelectedTimelines, selectTimelines } from "../../scans/selected_timelines.ts";
import { isNameCode, type NODE_KINDS, type StepRules, type StepsBy } from "./journey_steps.ts";
import {
  JOURNEY_LINKS,
  JOURNEY_NODES,
  type JourneyInputs,
  type JourneyNodes,
  OTHER_PLACE,
  placesOf,
  toldLinks,
} from "./journey_visitor.ts";
import { LINKS_COUNTED_MAX } from "./link_counts.ts";

/** What is asked. */
export interface JourneyQuestion {
  readonly start: EventMatch | null;
  readonly end: EventMatch | null;
  readonly by: StepsBy;
  readonly steps: number;
  readonly top: number;
  readonly of: "session" | "actor";
  readonly windowMs: number;
}

/** A value of a step that is told by itself. */
interface ToldValue {
  readonly code: number;
  readonly value: string | null;
}

/** What a scan found, made ready to be shown. */
interface CountedJourneys {
  readonly total: number;
  /** Of each step its values, the largest first, with how many ways have it; others and those that ended last. */
  readonly nodes: readonly (readonly CountedNode[])[];
  readonly links: readonly CountedLink[];
}

interface CountedNode {
  readonly value: string | null;
  readonly kind: typeof NODE_KINDS[number];
  readonly count: number;
}

interface CountedLink {
  /** The step it leads from, counted from 1. */
  readonly step: number;
  readonly from: CountedNode;
  readonly to: CountedNode;
  readonly count: number;
}

const OTHER = "$other";
const END = "$end";

function rulesOf({ start, end, steps, of, windowMs }: JourneyQuestion): StepRules {
  return {
    direction: start === null && end !== null ? "backward" : "forward",
    hasStart: start !== null,
    hasEnd: end !== null,
    steps,
    windowMs: of === "actor" ? windowMs : Infinity,
  };
}

/** How far events are looked at. Of sessions that cross its begin only that they do matters. */
function reachOf({ of, windowMs }: JourneyQuestion, { direction }: StepRules, span: Span): Span {
  if (of === "session") return { fromMs: span.fromMs - SESSION_GAP_MS, toMs: span.toMs };
  return direction === "forward"
    ? { fromMs: span.fromMs, toMs: span.toMs + windowMs + 1 }
    : { fromMs: span.fromMs - windowMs, toMs: span.toMs };
}

/** Names whose events are no steps: what a page reports by itself, unless it is asked for. */
function passedOver(matches: readonly EventMatch[]): number[] {
  const named = new Set(matches.map(({ name }) => name));
  return [CLICK, SCROLL].filter((id) => !named.has(RESERVED_NAMES[id - 1]!));
}

/** The codes of a step that may be among its largest: those, and what ties with the least of them. */
function candidates(counts: Int32Array, top: number): number[] {
  const codes: number[] = [];
  counts.forEach((count, code) => count > 0 && codes.push(code));
  const sizes = Int32Array.from(codes, (code) => counts[code]!).sort().reverse();
  const least = sizes[top - 1] ?? 0;
  return codes.filter((code) => counts[code]! >= least);
}

/** Of each step the values with the most ways, then in the order of their texts. */
async function toldValues(
  { sql, scope }: Pick<Read, "sql" | "scope">,
  { counts }: JourneyNodes,
  top: number,
): Promise<ToldValue[][]> {
  const found = counts.flatMap((own, step) =>
    candidates(own, top).map((code) => ({ step, code, count: own[code]! }))
  );
  const params = new SqlParams();
  const lists = [
    params.ints(found.map(({ step }) => step)),
    params.ints(found.map(({ code }) => code)),
    params.ints(found.map(({ count }) => count)),
  ];
  const rows = await sql.query<{ step: number; code: number; value: string | null }>(
    `SELECT step, code, value FROM (
      SELECT c.step, c.code, t.term AS value, row_number() OVER (
        PARTITION BY c.step ORDER BY c.count DESC, t.term COLLATE "C", c.code % 2
      ) AS place
      FROM unnest(${lists.join(", ")}) AS c (step, code, count)
      LEFT JOIN terms t
        ON t.project_id = ${params.int(scope.projectId)} AND t.term_id = c.code / 2
    ) AS ordered WHERE place <= ${params.int(top)} ORDER BY step, place`,
    params.values,
  );
  const told: ToldValue[][] = counts.map(() => []);
  for (const { step, code, value } of rows) told[step]!.push({ code, value });
  return told;
}

/** The nodes of a step by their place: others, the told ones, the end. */
function nodesAt(
  values: readonly ToldValue[],
  counts: Int32Array,
  ended: number,
  places: number,
): CountedNode[] {
  const own = values.map(({ code, value }): CountedNode => ({
    value,
    kind: isNameCode(code) ? "name" : "path",
    count: counts[code]!,
  }));
  const all = counts.reduce((sum, count) => sum + count, 0);
  const others = all - own.reduce((sum, { count }) => sum + count, 0);
  const nodes: CountedNode[] = [{ value: OTHER, kind: "other", count: others }, ...own];
  nodes[places - 1] = { value: END, kind: "end", count: ended };
  return nodes;
}

/** Told values first, then the others, then those that ended; without empty ones. */
function inOrder([others, ...rest]: readonly CountedNode[]): CountedNode[] {
  const end = rest.at(-1)!;
  return [...rest.slice(0, -1), others!, end].filter((node) =>
    node !== undefined && node.count > 0
  );
}

function linksOf(nodes: readonly (readonly CountedNode[])[], counts: Int32Array): CountedLink[] {
  const places = nodes[0]!.length;
  const order = [...Array.from({ length: places - 2 }, (_, i) => i + 1), OTHER_PLACE, places - 1];
  const links: CountedLink[] = [];
  for (let step = 1; step < nodes.length; step++) {
    for (const from of order) {
      for (const to of order) {
        const count = counts[((step - 1) * places + from) * places + to]!;
        if (count === 0) continue;
        links.push({ step, from: nodes[step - 1]![from]!, to: nodes[step]![to]!, count });
      }
    }
  }
  return links;
}

/** Which ways are followed, and where. */
export interface SelectedWays {
  readonly selected: SelectedTimelines;
  readonly ways: JourneyInputs;
}

/** What a scan works with. */
type Source = Pick<Read, "sql" | "scope" | "range" | "timelines">;

/** @param linksMax different links that one scan may count: see `LINKS_COUNTED_MAX` */
export async function selectWays(
  read: Source,
  question: JourneyQuestion,
  linksMax = LINKS_COUNTED_MAX,
): Promise<SelectedWays> {
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
  // Of sessions the filters select whole ones; of actors they narrow every event.
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
    ...{ of, span, rules, by, reach: selected.reach, selected: all! },
    passedOver: passedOver(matches),
    start: start === null ? null : found.shift()!,
    end: end === null ? null : found.shift()!,
    linksMax,
  };
  return { selected, ways };
}

/** What ways have at each step, and of it the codes that are told by themselves. */
export async function scanSteps(
  read: Source,
  { selected, ways }: SelectedWays,
  top: number,
): Promise<{ readonly nodes: JourneyNodes; readonly told: readonly (readonly ToldValue[])[] }> {
  const nodes = await selected.scan(JOURNEY_NODES, () => ways);
  return { nodes, told: await toldValues(read, nodes, top) };
}

/**
 * Ways of sessions or actors. One scan counts all; where it meets more than `linksMax` different links,
 * a second one counts those between the values that are told by themselves.
 */
export async function scanJourneys(
  read: Source,
  question: JourneyQuestion,
  linksMax = LINKS_COUNTED_MAX,
): Promise<CountedJourneys> {
  const found = await selectWays(read, question, linksMax);
  const { selected, ways } = found;
  const { nodes, told } = await scanSteps(read, found, question.top);
  const codes = told.map((values) => values.map(({ code }) => code));
  const links = nodes.links === null
    ? await selected.scan(JOURNEY_LINKS, () => ({ ways, told: codes }))
    : toldLinks(nodes, nodes.links, codes);
  const places = placesOf(codes);
  const placed = Array.from(
    { length: question.steps },
    (_, step) => nodesAt(told[step]!, nodes.counts[step]!, nodes.ended[step]!, places),
  );
  return { total: nodes.total, nodes: placed.map(inOrder), links: linksOf(placed, links) };
}

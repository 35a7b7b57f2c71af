import { z } from "zod";
import { FUNNEL_EXCLUSIONS_MAX, FUNNEL_STEPS_MAX } from "../../limits.ts";
import {
  EventMatch,
  type Field,
  FiltersSchema,
  GROUPING_USAGE,
  isGroupingField,
  readField,
  readJson,
} from "../../query/filters.ts";
import { invalidParameter, oneOf, readAll } from "../../query/parameters.ts";
import { readWindow, WINDOW_USAGE, windowMs } from "../../query/window.ts";
import { Title } from "../../text_schemas.ts";

const ORDERS = ["ordered", "strict", "unordered"] as const;
const ENTRIES = ["any", "first"] as const;
const WINDOW_DEFAULT = "7d";

const Steps = z.array(EventMatch, "Use a list of steps.")
  .min(1, "Give at least one step.")
  .max(FUNNEL_STEPS_MAX, `Use at most ${FUNNEL_STEPS_MAX} steps.`)
  .describe("The steps, each an event's name or an event match.");
const Exclusions = z.array(EventMatch, "Use a list of events.")
  .max(FUNNEL_EXCLUSIONS_MAX, `Use at most ${FUNNEL_EXCLUSIONS_MAX} events.`)
  .describe("Events that must not happen in between.");
const Window = z.string(WINDOW_USAGE).refine((text) => windowMs(text) !== null, WINDOW_USAGE)
  .meta({ description: "How long after the entry a step may happen, inclusive.", example: "7d" });
const By = z.string().refine(isGroupingField, GROUPING_USAGE)
  .nullable().describe("Field by whose value at the entry actors are grouped.");

const MEMBERS = {
  steps: Steps,
  window: Window.default(WINDOW_DEFAULT),
  order: z.enum(ORDERS, `Use one of ${ORDERS.join(", ")}.`).default("ordered"),
  entry: z.enum(ENTRIES, `Use one of ${ENTRIES.join(", ")}.`).default("any"),
  exclude: Exclusions.default([]),
  by: By.default(null),
};

export interface FunnelDefinition {
  readonly steps: readonly EventMatch[];
  readonly window: string;
  readonly order: typeof ORDERS[number];
  readonly entry: typeof ENTRIES[number];
  readonly exclude: readonly EventMatch[];
  readonly by: Field | null;
}

/** Body of `PUT /v1/funnels/:slug`. */
export const FunnelBody = z.strictObject({
  title: Title.meta({ description: "What people call the funnel.", example: "Checkout" }),
  ...MEMBERS,
}).meta({ id: "FunnelDefinition" });

const EventMatchShown: z.ZodType<EventMatch> = z.object({
  name: z.string().nullable(),
  filters: FiltersSchema,
  label: z.string().optional(),
}).meta({ id: "EventMatchShown", description: "An event by its name (null: any) and filters." });

/** A saved funnel as replies show it. */
export const FunnelShown = z.object({
  slug: z.string().meta({ example: "checkout" }),
  title: z.string(),
  steps: z.array(EventMatchShown),
  window: z.string().meta({ example: "7d" }),
  order: z.enum(ORDERS),
  entry: z.enum(ENTRIES),
  exclude: z.array(EventMatchShown),
  by: z.string().nullable(),
  updatedAt: z.iso.datetime(),
}).meta({ id: "SavedFunnel" });

/** The parameters that define a funnel. */
export const FUNNEL_QUERY: Readonly<Record<string, string>> = {
  steps: 'JSON list of 1 to 10 event matches {"name","filters","label"}. Without it, the saved ' +
    "funnels are listed",
  window: "How long after its entry an actor may take: a number and s, m, h or d. Default: 7d",
  order: "ordered (default): other events may come between; strict: each step is the very next " +
    "event; unordered: the steps in any order",
  entry: "any (default): the best attempt counts; first: that of the first entry in the range",
  exclude: "JSON list of event matches that must not happen in between. Default: []",
  by: "Filter field by whose value at the entry actors are grouped",
};

/** Returns a match with its members in the order of the API. */
function inOrder(match: EventMatch): EventMatch {
  const { name, filters, label } = match;
  return { name, filters, ...label === undefined ? {} : { label } };
}

/** Returns only the members of a definition, in the order of the API. */
export function plainDefinition(definition: FunnelDefinition): FunnelDefinition {
  const { steps, window, order, entry, exclude, by } = definition;
  return { steps: steps.map(inOrder), window, order, entry, exclude: exclude.map(inOrder), by };
}

/** Returns the label of a step, else the name of its events. */
export function labelOf({ label, name }: EventMatch): string {
  return label ?? name ?? "Any event";
}

/**
 * Reads the definition from the parameters; null without `steps`. Throws Problem
 * `invalid_parameter` that names every wrong parameter, or one that needs `steps`.
 */
export function readDefinition(query: URLSearchParams): FunnelDefinition | null {
  const { steps, ...others } = readAll({
    steps: () => readJson(query, "steps", Steps),
    window: () => readWindow(query, WINDOW_DEFAULT),
    order: () => oneOf(query, "order", ORDERS, "ordered"),
    entry: () => oneOf(query, "entry", ENTRIES, "any"),
    exclude: () => readJson(query, "exclude", Exclusions) ?? [],
    by: () => readField(query, "by"),
  });
  if (steps !== null) return plainDefinition({ steps, ...others });
  const stray = Object.keys(FUNNEL_QUERY).find((name) => query.get(name));
  if (stray !== undefined) throw invalidParameter(stray, "Give `steps` too.");
  return null;
}

import { PROPERTY } from "../filter_fields.ts";
import type { Params } from "../location_state.ts";
import { isWhole } from "../filter_editor.tsx";
import type { Filter } from "../location_query.ts";
import { type EventMatch, matchBody } from "../match_editor.tsx";
import { writtenMatch } from "./trends_match.ts";

export type FunnelOrder = "ordered" | "strict" | "unordered";
export type FunnelEntry = "any" | "first";

/** The definition of a funnel, as the API takes it. */
export interface FunnelDefinition {
  readonly steps: readonly EventMatch[];
  /** A number and `s`, `m`, `h` or `d`. */
  readonly window: string;
  readonly order: FunnelOrder;
  readonly entry: FunnelEntry;
  readonly exclude: readonly EventMatch[];
  readonly by: string | null;
}

export interface SavedFunnel extends FunnelDefinition {
  readonly slug: string;
  readonly title: string;
}

/** The API's limits. */
export const STEPS_MAX = 10;
export const EXCLUSIONS_MAX = 10;
const WINDOW_DAYS_MAX = 366;

/** The parameters of the address that define a funnel. */
export const DEFINITION_NAMES = ["steps", "window", "order", "entry", "exclude", "by"] as const;

export const WINDOW_UNITS = [
  { value: "m", label: "minutes", seconds: 60 },
  { value: "h", label: "hours", seconds: 3600 },
  { value: "d", label: "days", seconds: 86_400 },
  { value: "s", label: "seconds", seconds: 1 },
] as const;

export const DEFAULTS: Omit<FunnelDefinition, "steps"> = {
  window: "7d",
  order: "ordered",
  entry: "any",
  exclude: [],
  by: null,
};

/** The count, as it was typed, and the unit of a window. */
export function windowParts(window: string): { count: string; unit: string } {
  const unit = WINDOW_UNITS.find(({ value }) => window.endsWith(value))?.value ?? "d";
  return { count: window.slice(0, -1), unit };
}

/** A window in words: "7 days", "1 hour". */
export function windowText(window: string): string {
  const { count, unit } = windowParts(window);
  const label = WINDOW_UNITS.find(({ value }) => value === unit)!.label;
  return `${count} ${count === "1" ? label.slice(0, -1) : label}`;
}

/** What is wrong with a window; null: nothing. */
export function windowFault(window: string): string | null {
  const { count, unit } = windowParts(window);
  if (!/^[1-9]\d{0,8}$/.test(count)) return "Use a whole number from 1.";
  const { seconds } = WINDOW_UNITS.find(({ value }) => value === unit)!;
  return Number(count) * seconds > WINDOW_DAYS_MAX * 86_400
    ? `Use at most ${WINDOW_DAYS_MAX} days.`
    : null;
}

/** What is wrong with the field of a breakdown; null: nothing. */
export function byFault(by: string | null): string | null {
  return by === PROPERTY ? "Name the property." : null;
}

/** Whether the definition can be run as it is. */
export function isRunnable({ window, by }: FunnelDefinition): boolean {
  return windowFault(window) === null && byFault(by) === null;
}

/** An exclusion without an event yet, which is left out of requests; the name null would mean every event. */
export const NEW_EXCLUSION: EventMatch = { name: "", filters: [] };

/** The number of conditions without a value. */
export function unfinishedConditions({ steps, exclude }: FunnelDefinition): number {
  return [...steps, ...exclude].flatMap(({ filters }) => filters)
    .filter((filter) => !isWhole(filter)).length;
}

/** The definition as the API takes it, its members in a fixed order: equal ones are equal as JSON. */
export function plain(definition: FunnelDefinition): FunnelDefinition {
  const { steps, window, order, entry, exclude, by } = definition;
  const filterOf = ({ field, op, values }: Filter) => ({ field, op, values });
  const matchOf = (match: EventMatch): EventMatch => {
    const { name, filters, label } = matchBody(match);
    return { name: name || null, filters: filters.map(filterOf), ...(label ? { label } : {}) };
  };
  const begun = exclude.filter((match) => match.name !== "" || match.filters.some(isWhole));
  return { steps: steps.map(matchOf), window, order, entry, exclude: begun.map(matchOf), by };
}

export function isSame(one: FunnelDefinition, other: FunnelDefinition): boolean {
  return JSON.stringify(plain(one)) === JSON.stringify(plain(other));
}

/** The matches in the shortest form that the API takes, so that addresses stay readable. */
function matchesText(matches: readonly EventMatch[]): string | null {
  if (matches.length === 0) return null;
  return JSON.stringify(matches.map(({ name, filters, label }) => {
    if (name !== null && filters.length === 0 && !label) return name;
    return { name, ...(filters.length === 0 ? {} : { filters }), ...(label ? { label } : {}) };
  }));
}

/** The definition as parameters, of a read and of the address alike; defaults are left out. */
export function definitionParams(
  definition: FunnelDefinition,
): Record<typeof DEFINITION_NAMES[number], string | null> & Params {
  const { steps, window, order, entry, exclude, by } = plain(definition);
  return {
    steps: matchesText(steps),
    window: window === DEFAULTS.window ? null : window,
    order: order === DEFAULTS.order ? null : order,
    entry: entry === DEFAULTS.entry ? null : entry,
    exclude: matchesText(exclude),
    by,
  };
}

function readMatches(text: string | null, most: number): EventMatch[] | null {
  try {
    const parsed: unknown = JSON.parse(text ?? "null");
    if (!Array.isArray(parsed)) return null;
    const matches = parsed.slice(0, most).map(writtenMatch);
    return matches.every((match) => match !== null) ? matches : null;
  } catch {
    return null;
  }
}

/** The funnel that an address defines; null: it has no steps that can be read. */
export function readDefinition(param: (name: string) => string | null): FunnelDefinition | null {
  const steps = readMatches(param("steps"), STEPS_MAX);
  if (steps === null || steps.length === 0) return null;
  const window = param("window") ?? DEFAULTS.window;
  const order = param("order");
  return plain({
    steps,
    window: windowFault(window) === null ? window : DEFAULTS.window,
    order: order === "strict" || order === "unordered" ? order : DEFAULTS.order,
    entry: param("entry") === "first" ? "first" : DEFAULTS.entry,
    exclude: readMatches(param("exclude"), EXCLUSIONS_MAX) ?? [],
    by: param("by") || null,
  });
}

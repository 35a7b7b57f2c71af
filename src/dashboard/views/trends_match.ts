import type { EventMatch } from "../match_editor.tsx";
import type { Filter } from "../location_query.ts";

const ANY_EVENT: EventMatch = { name: null, filters: [] };

function isFilter(value: unknown): value is Filter {
  const { field, op, values } = (value ?? {}) as Partial<Filter>;
  return typeof field === "string" && typeof op === "string" && Array.isArray(values);
}

function isMatch(value: unknown): value is EventMatch {
  const { name, filters } = (value ?? {}) as Partial<EventMatch>;
  return (name === null || typeof name === "string") &&
    Array.isArray(filters) && filters.every(isFilter);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function matchFrom(value: unknown): EventMatch {
  if (typeof value === "string" && value !== "") return { name: value, filters: [] };
  const whole = { filters: [], ...value as Partial<EventMatch> | null };
  return isMatch(whole) ? { name: whole.name, filters: whole.filters } : ANY_EVENT;
}

/** An event match as addresses and the API write it: a bare name or JSON. Any event where it is neither. */
export function readMatch(text: string | null): EventMatch {
  if (text === null || text === "") return ANY_EVENT;
  return matchFrom(/^\s*[{"]/.test(text) ? parsed(text) : text);
}

/** One match, or a JSON list of them; never none. */
export function readMatches(text: string | null): readonly EventMatch[] {
  const list = text?.startsWith("[") ? parsed(text) : null;
  return Array.isArray(list) && list.length > 0 ? list.map(matchFrom) : [readMatch(text)];
}

/** The text that `readMatch` takes; null: any event. */
export function textOfMatch({ name, filters }: EventMatch): string | null {
  if (filters.length > 0) return JSON.stringify({ name, filters });
  if (name === null) return null;
  return /^\s*[{"[]/.test(name) ? JSON.stringify({ name, filters }) : name;
}

/** The text that `readMatches` takes; null: any event alone. */
export function textOfMatches(matches: readonly EventMatch[]): string | null {
  if (matches.length === 1) return textOfMatch(matches[0]!);
  return JSON.stringify(matches.map(({ name, filters }) => ({ name, filters })));
}

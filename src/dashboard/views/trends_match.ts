import type { EventMatch } from "../match_editor.tsx";
import { isFilter } from "../location_query.ts";

const ANY_EVENT: EventMatch = { name: null, filters: [] };

/** A match as addresses write it, by hand or not: a bare name, or its members. Null: it is none. */
export function writtenMatch(value: unknown): EventMatch | null {
  if (typeof value === "string" && value !== "") return { name: value, filters: [] };
  if (typeof value !== "object" || value === null) return null;
  const { name = null, filters: written = [], label } = value as Partial<EventMatch>;
  if (name !== null && typeof name !== "string") return null;
  // Filters that take no values may leave them out.
  const filters = Array.isArray(written) ? written.map((each) => ({ values: [], ...each })) : null;
  if (!filters?.every(isFilter)) return null;
  return {
    name: name === "" ? null : name,
    filters,
    ...(typeof label === "string" && label !== "" ? { label } : {}),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function matchFrom(value: unknown): EventMatch {
  const { name, filters } = writtenMatch(value) ?? ANY_EVENT;
  return { name, filters };
}

/** An event match as addresses and the API write it: a bare name or JSON. Any other text means any event. */
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

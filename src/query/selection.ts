import { deviceOf } from "./field_values.ts";
import type { EventMatch, Filter, SessionField } from "./filters.ts";

export const BOT_CHOICES = ["exclude", "include", "only"] as const;
export type BotChoice = typeof BOT_CHOICES[number];

/** What a read looks at, whatever the time. */
export interface Scope {
  readonly projectId: number;
  /** Host of the project's site, in lower case; null where none is set. */
  readonly siteHost: string | null;
  readonly bots: BotChoice;
  readonly filters: readonly Filter[];
  /** Whether a condition chooses actors too, whose timelines alone the read then finds. */
  readonly choosesActors?: boolean;
}

/** Whether less than everything is looked at, bots apart: then no sum of days has the answer. */
export function isNarrowed({ filters, choosesActors }: Scope): boolean {
  return filters.length > 0 || choosesActors === true;
}

/** Epoch milliseconds, `[fromMs, toMs)`. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The name of a match is a filter like any other. */
export function matchFilters({ name, filters }: EventMatch): readonly Filter[] {
  return name === null ? filters : [{ field: "name", op: "is", values: [name] }, ...filters];
}

/** What to join for a value, and the value as an expression; null where it is missing. */
interface ValueSql {
  readonly joins: string;
  readonly value: string;
}

/** Fields of a session that it can be told by: beside its own, those of its first page view. */
export type SessionDimension =
  | SessionField
  | "referrer"
  | "path"
  | "host"
  | "country"
  | "region"
  | "city"
  | "browser"
  | "os"
  | "device";

/** Where the values of a field stand by number: a table (alias v), its key, and the value's text. */
export interface Dictionary {
  readonly table: "terms" | "contexts" | "traffic" | "referrers" | "identities";
  readonly id: string;
  readonly text: string;
}

/** The dictionary of a field of events or sessions; that of `referrer` is what the traffic says. */
export function dictionaryOf(field: SessionDimension | "name" | "title"): Dictionary {
  switch (field) {
    case "name":
    case "title":
    case "path":
    case "entryPath":
    case "exitPath":
      return { table: "terms", id: "term_id", text: "v.term" };
    case "device":
      return { table: "contexts", id: "context_id", text: deviceOf("v") };
    case "host":
    case "country":
    case "region":
    case "city":
    case "browser":
    case "os":
      return { table: "contexts", id: "context_id", text: `v.${field}` };
    default:
      return { table: "traffic", id: "traffic_id", text: `v.${field}` };
  }
}

/**
 * The value of a field of a session (alias s): a join to put behind `sessions s`, which takes the alias
 * v and has at most one row for each, and a text expression. Its path is the one it was entered by.
 */
export function sessionValue(field: SessionDimension): ValueSql {
  const { table, id, text } = dictionaryOf(field);
  const ofTerms = field === "exitPath" ? "exit_path_id" : "entry_path_id";
  const column = table === "terms" ? ofTerms : id;
  const on = `v.project_id = s.project_id AND v.${id} = s.${column}`;
  return { joins: `LEFT JOIN ${table} v ON ${on}`, value: text };
}

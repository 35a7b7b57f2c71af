import { deviceOf } from "./field_values.ts";
import type { EVENT_FIELDS, EventMatch, Filter, SessionField } from "./filters.ts";
import { keyedRow } from "../db/keyed_rows.ts";

export const BOT_CHOICES = ["exclude", "include", "only"] as const;
export type BotChoice = typeof BOT_CHOICES[number];

/** The events that a read selects, apart from their time. */
export interface Scope {
  readonly projectId: number;
  /** Host of the project's site, in lower case; null where none is set. */
  readonly siteHost: string | null;
  readonly bots: BotChoice;
  readonly filters: readonly Filter[];
  /** Whether a condition chooses actors too; if so, the read's timelines are of these actors only. */
  readonly choosesActors?: boolean;
}

/** Whether a filter or a condition on actors (not `bots`) narrows the scope: rollups then cannot answer. */
export function isNarrowed({ filters, choosesActors }: Scope): boolean {
  return filters.length > 0 || choosesActors === true;
}

/** Epoch milliseconds, `[fromMs, toMs)`. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Returns the filters of a match, with one for its name. */
export function matchFilters({ name, filters }: EventMatch): readonly Filter[] {
  return name === null ? filters : [{ field: "name", op: "is", values: [name] }, ...filters];
}

/** Fields that break sessions down: their own, and those of their first page view. */
export type SessionDimension =
  | SessionField
  | Exclude<typeof EVENT_FIELDS[number], "name" | "title" | "userId">;

/** The table (alias v) that numbers the values of a field, its key, and the SQL of a value's text. */
export interface Dictionary {
  readonly table: "terms" | "contexts" | "traffic" | "referrers" | "identities";
  readonly id: string;
  readonly text: string;
}

type OfDictionary = SessionDimension | "name" | "title";
const TERM_FIELDS = ["name", "title", "path", "entryPath", "exitPath"] as const;
const CONTEXT_FIELDS = ["host", "country", "region", "city", "browser", "os", "device"] as const;

const isOneOf = <T extends OfDictionary>(field: OfDictionary, some: readonly T[]): field is T =>
  (some as readonly OfDictionary[]).includes(field);

/** Returns the dictionary of a field of events or sessions; for `referrer` it is `traffic`. */
export function dictionaryOf(field: OfDictionary): Dictionary {
  if (isOneOf(field, TERM_FIELDS)) return { table: "terms", id: "term_id", text: "v.term" };
  if (isOneOf(field, CONTEXT_FIELDS)) {
    const text = field === "device" ? deviceOf("v") : `v.${field}`;
    return { table: "contexts", id: "context_id", text };
  }
  const ofTraffic: SessionField | "referrer" = field;
  return { table: "traffic", id: "traffic_id", text: `v.${ofTraffic}` };
}

/**
 * Returns SQL for the value of a session's field: a join to put after `sessions s`, which takes the alias
 * v and has at most one row for each session, and a text expression, null where the value is missing. `path` is
 * the entry path.
 */
export function sessionValue(field: SessionDimension) {
  const { table, key, text } = valueOfSession(field);
  return { joins: `LEFT JOIN ${table} v ON v.project_id = s.project_id AND ${key}`, value: text };
}

/**
 * Returns the same for a list `s` of ids: each is looked up, as the list may be short and the dictionary long.
 * @param project the parameter for the project's number
 */
export function listedValue(field: SessionDimension, project: string) {
  const { table, key, text } = valueOfSession(field);
  return { joins: `LEFT JOIN ${keyedRow(`${table} v`, key, project)} AS v ON true`, value: text };
}

function valueOfSession(field: SessionDimension) {
  const { table, id, text } = dictionaryOf(field);
  const ofTerms = field === "exitPath" ? "exit_path_id" : "entry_path_id";
  return { table, text, key: `v.${id} = s.${table === "terms" ? ofTerms : id}` };
}

import type { Sql } from "../db/sql.ts";
import {
  deviceOf,
  isLifted,
  isStored,
  jsonNumber,
  jsonText,
  propertyJson,
  referrerHost,
} from "./field_values.ts";
import { eventFilters, factFilters, type Place, sessionFilters } from "./filter_conditions.ts";
import {
  type EventMatch,
  type Field,
  type Filter,
  isSessionField,
  propertyOf,
  type SessionField,
} from "./filters.ts";
import type { SqlParams } from "./sql_params.ts";
import { withoutTechnical } from "./technical.ts";

export type BotChoice = "exclude" | "include" | "only";

/** What a read looks at, whatever the time. */
export interface Scope {
  readonly projectId: number;
  /** Host of the project's site, in lower case; null where none is set. */
  readonly siteHost: string | null;
  readonly bots: BotChoice;
  readonly filters: readonly Filter[];
}

/** Epoch milliseconds, `[fromMs, toMs)`. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Contexts of bots have negative ids. */
const FACTS_OF: Readonly<Record<BotChoice, readonly string[]>> = {
  exclude: ["f.context_id >= 0"],
  include: [],
  only: ["f.context_id < 0"],
};
const SESSIONS_OF: Readonly<Record<BotChoice, readonly string[]>> = {
  exclude: ["s.humans > 0"],
  include: [],
  only: ["s.events > s.humans"],
};

function placeOf(params: SqlParams, { projectId, siteHost }: Scope): Place {
  return { params, project: params.int(projectId), siteHost };
}

/** The name of a match is a filter like any other. */
export function matchFilters({ name, filters }: EventMatch): readonly Filter[] {
  return name === null ? filters : [{ field: "name", op: "is", values: [name] }, ...filters];
}

/**
 * Conditions on facts (alias f), joined by AND: of the project, in the span (null: of any time), by
 * those that `bots` asks for, through all filters, and as the match wants them. Technical ones are
 * left out where neither filters nor match name them.
 */
export function factConditions(
  params: SqlParams,
  scope: Scope,
  span: Span | null,
  match?: EventMatch,
): string {
  const filters = [...match === undefined ? [] : matchFilters(match), ...scope.filters];
  return anyFactConditions(params, { ...scope, filters: withoutTechnical(filters) }, span);
}

/** The same without a match, with technical facts too. */
export function anyFactConditions(params: SqlParams, scope: Scope, span: Span | null): string {
  const place = placeOf(params, scope);
  return [
    `f.project_id = ${place.project}`,
    ...span === null ? [] : [
      `f.tick >= ${params.ms(span.fromMs)} << 16`,
      `f.tick < ${params.ms(span.toMs)} << 16`,
    ],
    ...FACTS_OF[scope.bots],
    ...factFilters(place, scope.filters),
  ].join(" AND ");
}

/**
 * Conditions on sessions (alias s), joined by AND, for those that count: they start in the span, their
 * properties pass the filters, and at least one of their events, in the span or not, is selected.
 */
export function sessionConditions(params: SqlParams, scope: Scope, span: Span): string {
  const place = placeOf(params, scope);
  const from = `${params.ms(span.fromMs)} << 16`;
  const conditions = [
    `s.project_id = ${place.project}`,
    `s.first_tick >= ${from}`,
    `s.first_tick < ${params.ms(span.toMs)} << 16`,
    ...sessionFilters(place, scope.filters),
    ...SESSIONS_OF[scope.bots],
  ];
  const ofEvents = eventFilters(place, scope.filters);
  if (ofEvents.length > 0) {
    const selected = [
      `f.project_id = ${place.project}`,
      "f.actor_id = s.actor_id",
      "f.session_id = s.session_id",
      // Implied, and what the indexes by actor and by time can use.
      "f.tick BETWEEN s.first_tick AND s.last_tick",
      `f.tick >= ${from}`,
      ...FACTS_OF[scope.bots],
      ...ofEvents,
    ];
    conditions.push(`EXISTS (SELECT FROM facts f WHERE ${selected.join(" AND ")})`);
  }
  return conditions.join(" AND ");
}

/**
 * To be called before a statement with `sessionConditions`: where filters look into stored events,
 * the rest of the snapshot joins by hash, that of a large project too (of small ones see
 * `planJoins`): to look up each session by itself would take a long history more than 15 s instead of 5.
 */
export async function planSessionJoins(sql: Sql, { filters }: Scope): Promise<void> {
  if (!filters.some(({ field }) => isStored(field))) return;
  await sql.query("SELECT set_config('enable_nestloop', 'off', true)");
}

/** What to join for a value, and the value as an expression; null where it is missing. */
export interface ValueSql {
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

/** A left join of a table as `v`, which has at most one row for each on the left. */
function joined(table: string, alias: string, on: string, value: string): ValueSql {
  return {
    joins: `LEFT JOIN ${table} v ON v.project_id = ${alias}.project_id AND ${on}`,
    value,
  };
}

function valueAtSession(field: SessionDimension, alias: string): ValueSql {
  switch (field) {
    case "entryPath":
    case "path":
      return joined("terms", alias, `v.term_id = ${alias}.entry_path_id`, "v.term");
    case "exitPath":
      return joined("terms", alias, `v.term_id = ${alias}.exit_path_id`, "v.term");
    case "host":
    case "country":
    case "region":
    case "city":
    case "browser":
    case "os":
      return joined("contexts", alias, `v.context_id = ${alias}.context_id`, `v.${field}`);
    case "device":
      return joined("contexts", alias, `v.context_id = ${alias}.context_id`, deviceOf("v"));
    default:
      return joined("traffic", alias, `v.traffic_id = ${alias}.traffic_id`, `v.${field}`);
  }
}

/**
 * The value of a field of a session (alias s): joins to put behind `sessions s`, which take the alias
 * v, and a text expression. Its path is the one it was entered by.
 */
export function sessionValue(field: SessionDimension): ValueSql {
  return valueAtSession(field, "s");
}

/** A stored event beside its fact (alias f), by a left join. */
function storedBeside(alias: string): string {
  return `LEFT JOIN events ${alias} ON ${alias}.project_id = f.project_id AND ${alias}.event_id = f.event_id`;
}

/** A property of a fact as JSON. A look-up of the stored event takes the alias, where one is needed. */
function factProperty(
  params: SqlParams,
  key: string,
  alias: string,
): { readonly joins: string; readonly json: string } {
  const keyParam = params.text(key);
  return isLifted(key)
    ? { joins: storedBeside(alias), json: propertyJson(alias, key, keyParam) }
    : { joins: "", json: propertyJson("f", key, keyParam) };
}

/**
 * The number that a property is at a fact (alias f): joins to put behind `facts f`, which take the
 * alias v_number, and a numeric expression; null where the property is no JSON number.
 */
export function factNumber(params: SqlParams, key: string): ValueSql {
  const { joins, json } = factProperty(params, key, "v_number");
  return { joins, value: jsonNumber(json) };
}

/**
 * The value of a field at a fact (alias f): joins to put behind `facts f`, which take the aliases v
 * and v_session, and a text expression. Properties that are no text are told as JSON writes them.
 */
export function factValue(params: SqlParams, scope: Scope, field: Field): ValueSql {
  if (isSessionField(field)) {
    const { joins, value } = valueAtSession(field, "v_session");
    const session =
      "LEFT JOIN sessions v_session ON v_session.project_id = f.project_id AND v_session.session_id = f.session_id AND v_session.actor_id = f.actor_id";
    return { joins: `${session} ${joins}`, value };
  }
  const key = propertyOf(field);
  if (key !== null) {
    const { joins, json } = factProperty(params, key, "v");
    return { joins, value: jsonText(json) };
  }
  const stored = (value: string): ValueSql => ({ joins: storedBeside("v"), value });
  switch (field) {
    case "name":
      return joined("terms", "f", "v.term_id = f.name_id", "v.term");
    case "path":
      return joined("terms", "f", "v.term_id = f.path_id", "v.term");
    case "userId":
      return joined("identities", "f", "v.identity_id = f.actor_id AND v.kind = 'u'", "v.value");
    case "title":
      return stored("v.title");
    case "referrer":
      return stored(referrerHost("v", params.text(scope.siteHost)));
    case "device":
      return joined("contexts", "f", "v.context_id = f.context_id", deviceOf("v"));
    default:
      return joined("contexts", "f", "v.context_id = f.context_id", `v.${field}`);
  }
}

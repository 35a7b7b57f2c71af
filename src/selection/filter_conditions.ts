import { createHash } from "node:crypto";
import {
  deviceOf,
  isStored,
  jsonText,
  knownReferrerHost,
  propertyJson,
  referrerHost,
} from "./field_values.ts";
import {
  type Field,
  type Filter,
  type FilterOp,
  type FilterValue,
  isSeldomField,
  isSessionField,
  numberOf,
  propertyOf,
  type SeldomField,
  type SessionField,
} from "./filters.ts";
import { postgresPattern } from "./pattern.ts";
import type { SqlParams } from "./sql_params.ts";
import { CLICK, PAGE_VIEW, RESERVED_TERM_MAX, SCROLL } from "./terms.ts";

/** Where conditions are written: parameters of the statement, and what they stand for. */
export interface Place {
  readonly params: SqlParams;
  /** The project's number, as SQL. */
  readonly project: string;
  readonly siteHost: string | null;
}

const COMPARISONS = { gt: ">", gte: ">=", lt: "<", lte: "<=" } as const;
/** The op of which each negative one is the contrary. */
const NEGATED: Partial<Record<FilterOp, FilterOp>> = {
  is_not: "is",
  not_contains: "contains",
  not_exists: "exists",
  is_not_technical: "is_technical",
};
const RESERVED: ReadonlyMap<string, number> = new Map([
  ["page_view", PAGE_VIEW],
  ["click", CLICK],
  ["scroll", SCROLL],
]);

interface Positive {
  readonly field: Field;
  readonly op: FilterOp;
  readonly values: readonly FilterValue[];
  readonly negated: boolean;
}

function positive({ field, op, values }: Filter): Positive {
  const contrary = NEGATED[op];
  return { field, op: contrary ?? op, values, negated: contrary !== undefined };
}

/** A condition that a missing value does not fulfil, or its contrary, which it does. */
function signed(condition: string, negated: boolean): string {
  return negated ? `(${condition}) IS NOT TRUE` : condition;
}

function likePattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** Whether a text expression fulfils a positive op. Case-sensitive; null where the text is. */
function textCondition(
  params: SqlParams,
  text: string,
  { op, values }: Pick<Positive, "op" | "values">,
): string {
  const texts = values.map(String);
  switch (op) {
    case "is":
      return `${text} = ANY(${params.texts(texts)})`;
    case "contains":
      return `${text} LIKE ANY(${params.texts(texts.map((one) => `%${likePattern(one)}%`))})`;
    case "starts_with":
      return `${text} LIKE ANY(${params.texts(texts.map((one) => `${likePattern(one)}%`))})`;
    case "matches":
      return `${text} ~ ANY(${params.texts(texts.map(postgresPattern))})`;
    case "exists":
      return `${text} IS NOT NULL`;
    default:
      throw new Error(`${op} does not compare text`);
  }
}

/** Whether a JSON value fulfils a positive op: numbers compare as numbers, all else as its text. */
function jsonCondition(params: SqlParams, json: string, { op, values }: Positive): string {
  const numbers = () => params.numerics(values.map(numberOf).filter((number) => number !== null));
  const isNumber = `jsonb_typeof(${json}) = 'number'`;
  if (op === "gt" || op === "gte" || op === "lt" || op === "lte") {
    return `CASE WHEN ${isNumber} THEN (${json})::numeric ${COMPARISONS[op]} ANY(${numbers()}) END`;
  }
  const asText = textCondition(params, jsonText(json), { op, values });
  if (op !== "is") return asText;
  return `CASE WHEN ${isNumber} THEN (${json})::numeric = ANY(${numbers()}) ELSE ${asText} END`;
}

/** Digests of terms, as the unique index of `terms` holds them. */
function digests(terms: readonly string[]): string[] {
  return terms.map((term) => createHash("sha256").update(term).digest("hex").slice(0, 32));
}

/** A subquery for the ids of the terms that are meant; exact ones are looked up by their digest. */
function termIds(place: Place, wanted: Pick<Positive, "op" | "values">): string {
  const { params, project } = place;
  if (wanted.op === "is_technical") {
    return `SELECT n.term_id FROM technical_names n WHERE n.project_id = ${project}
      AND n.name <> ALL(${params.texts(wanted.values.map(String))})`;
  }
  const condition = wanted.op === "is"
    ? `t.digest = ANY(${params.uuids(digests(wanted.values.map(String)))})`
    : textCondition(place.params, "t.term", wanted);
  return `SELECT t.term_id FROM terms t WHERE t.project_id = ${project} AND ${condition}`;
}

/** A subquery for the identities of the users who are meant; an actor with a user has the user's. */
function userIds(place: Place, wanted: Positive): string {
  return `SELECT i.identity_id FROM identities i WHERE i.project_id = ${place.project} AND i.kind = 'u' AND ${
    textCondition(place.params, "i.value", wanted)
  }`;
}

/** A subquery for the contexts whose value of a field is meant. */
function contextIds(place: Place, wanted: Positive): string {
  const value = wanted.field === "device" ? deviceOf("c") : `c.${wanted.field}`;
  return `SELECT c.context_id FROM contexts c WHERE c.project_id = ${place.project} AND ${
    textCondition(place.params, value, wanted)
  }`;
}

/** A subquery for the traffic whose value of a session's field is meant. */
function trafficIds(place: Place, wanted: Positive): string {
  return `SELECT r.traffic_id FROM traffic r WHERE r.project_id = ${place.project} AND ${
    textCondition(place.params, `r.${wanted.field}`, wanted)
  }`;
}

/** Whether a column that holds term ids holds one of those meant. */
function termCondition(
  place: Place,
  column: string,
  wanted: Pick<Positive, "op" | "values">,
): string {
  if (wanted.op === "exists") return `${column} IS NOT NULL`;
  const ids = termIds(place, wanted);
  // Few ids are conditions of an index; many are better hashed.
  return wanted.op === "is" ? `${column} = ANY(ARRAY(${ids}))` : `${column} IN (${ids})`;
}

/** Names have partial indexes, which are found where the SQL says on which side the name is. */
function nameCondition(place: Place, wanted: Positive): string {
  if (wanted.op !== "is") return termCondition(place, "f.name_id", wanted);
  const texts = wanted.values.map(String);
  const reserved = texts.flatMap((text) => RESERVED.get(text) ?? []);
  const custom = texts.filter((text) => !RESERVED.has(text));
  const sides: string[] = [];
  if (reserved.length === 1) sides.push(`f.name_id = ${reserved[0]}`);
  if (reserved.length > 1) sides.push(`f.name_id IN (${reserved.join(", ")})`);
  if (custom.length > 0) {
    const ids = termIds(place, { op: "is", values: custom });
    const meant = custom.length === 1 ? `(${ids})` : `ANY(ARRAY(${ids}))`;
    sides.push(`f.name_id > ${RESERVED_TERM_MAX} AND f.name_id = ${meant}`);
  }
  return sides.length === 1 ? sides[0]! : `(${sides.join(" OR ")})`;
}

/** A value with a slash is compared with the whole address; any other, and every pattern, with the host. */
function referrerCondition(
  place: Place,
  wanted: Positive,
  address: string,
  hostOf: (siteHostParam: string) => string,
): string {
  // Only where it is compared: a parameter that no SQL names has no type.
  const host = () => hostOf(place.params.text(place.siteHost));
  if (wanted.op === "exists") return textCondition(place.params, host(), wanted);
  const parts: string[] = [];
  const isWhole = (value: FilterValue) => wanted.op !== "matches" && String(value).includes("/");
  const whole = wanted.values.filter(isWhole);
  const hosts = wanted.values.filter((value) => !isWhole(value));
  if (whole.length > 0) {
    parts.push(textCondition(place.params, address, { ...wanted, values: whole }));
  }
  if (hosts.length > 0) {
    parts.push(textCondition(place.params, host(), { ...wanted, values: hosts }));
  }
  return parts.map((part) => `(${part}) IS TRUE`).join(" OR ");
}

/** A subquery for the referrers that are meant. */
function referrerIds(place: Place, wanted: Positive): string {
  const condition = referrerCondition(
    place,
    wanted,
    "r.address",
    (siteHost) => knownReferrerHost("r", siteHost),
  );
  return `SELECT r.referrer_id FROM referrers r WHERE r.project_id = ${place.project} AND (${condition})`;
}

/** Whether an event passes a filter by not fulfilling its condition. */
export function isNegative({ op }: Filter): boolean {
  return NEGATED[op] !== undefined;
}

/** The condition of a filter on a property, on the value as JSON; a negative one lets all others through. */
export function propertyValueCondition(params: SqlParams, json: string, filter: Filter): string {
  return jsonCondition(params, json, positive(filter));
}

function propertyCondition(place: Place, alias: string, key: string, wanted: Positive): string {
  return jsonCondition(place.params, propertyJson(alias, key, place.params.text(key)), wanted);
}

/** A condition on the stored event (alias e), for fields that nothing else has. */
function storedCondition(place: Place, wanted: Positive): string {
  const key = propertyOf(wanted.field);
  if (key !== null) return propertyCondition(place, "e", key, wanted);
  return wanted.field === "title"
    ? textCondition(place.params, "e.title", wanted)
    : referrerCondition(place, wanted, "e.referrer", (siteHost) => referrerHost("e", siteHost));
}

/** A condition on the fact itself (alias f). */
function narrowCondition(place: Place, wanted: Positive): string {
  const key = propertyOf(wanted.field);
  if (key !== null) return propertyCondition(place, "f", key, wanted);
  switch (wanted.field) {
    case "name":
      return nameCondition(place, wanted);
    case "path":
      return termCondition(place, "f.path_id", wanted);
    case "userId":
      return `f.actor_id IN (${userIds(place, wanted)})`;
    default:
      return `f.context_id IN (${contextIds(place, wanted)})`;
  }
}

/** The id of a fact that tells the value of an event's own field which stands in the narrow tables. */
export type FieldId = "name" | "path" | "context" | "actor";

export function fieldId(field: Field): FieldId {
  if (field === "name" || field === "path") return field;
  return field === "userId" ? "actor" : "context";
}

/** The id of a session that tells the value of a session's field. */
export type SessionFieldId = "entryPath" | "exitPath" | "traffic";

export function sessionFieldId(field: SessionField): SessionFieldId {
  return field === "entryPath" || field === "exitPath" ? field : "traffic";
}

/** Ids that a filter names; negated, it lets through all others. */
export interface FilterIds {
  readonly of: FieldId | SessionFieldId | SeldomField;
  /** As a subquery. */
  readonly ids: string;
  readonly negated: boolean;
}

const IDS_OF: Readonly<Record<FilterIds["of"], (place: Place, wanted: Positive) => string>> = {
  name: termIds,
  path: termIds,
  title: termIds,
  referrer: referrerIds,
  context: contextIds,
  actor: userIds,
  entryPath: termIds,
  exitPath: termIds,
  traffic: trafficIds,
};

/** The ids that decide a filter on a session's field, or on an event's that is no property. */
export function filterIds(place: Place, filter: Filter): FilterIds {
  const wanted = positive(filter);
  const { field } = wanted;
  const of = isSessionField(field)
    ? sessionFieldId(field)
    : isSeldomField(field)
    ? field
    : fieldId(field);
  return { of, ids: IDS_OF[of](place, wanted), negated: wanted.negated };
}

/** A condition on the session (alias s). */
function sessionFieldCondition(place: Place, wanted: Positive): string {
  switch (sessionFieldId(wanted.field as SessionField)) {
    case "entryPath":
      return termCondition(place, "s.entry_path_id", wanted);
    case "exitPath":
      return termCondition(place, "s.exit_path_id", wanted);
    case "traffic":
      return `s.traffic_id IN (${trafficIds(place, wanted)})`;
  }
}

/** Conditions on the session (alias s) for the filters on a session's properties; others are left out. */
export function sessionFilters(place: Place, filters: readonly Filter[]): string[] {
  return filters.filter(({ field }) => isSessionField(field)).map(positive).map((wanted) =>
    signed(sessionFieldCondition(place, wanted), wanted.negated)
  );
}

/** The fact's session fulfils all that is wanted and nothing that is not; no session fulfils nothing. */
function sessionOfFact(place: Place, filters: readonly Positive[]): string[] {
  const session =
    "SELECT FROM sessions s WHERE s.project_id = f.project_id AND s.session_id = f.session_id AND s.actor_id = f.actor_id";
  const conditions = (negated: boolean) =>
    filters.filter((one) => one.negated === negated)
      .map((one) => `(${sessionFieldCondition(place, one)})`);
  const wanted = conditions(false);
  const unwanted = conditions(true);
  return [
    ...wanted.length === 0 ? [] : [`EXISTS (${session} AND ${wanted.join(" AND ")})`],
    ...unwanted.length === 0 ? [] : [`NOT EXISTS (${session} AND (${unwanted.join(" OR ")}))`],
  ];
}

/** Conditions on the fact (alias f) for the filters on an event's own fields; others are left out. */
export function eventFilters(place: Place, filters: readonly Filter[]): string[] {
  const narrow: string[] = [];
  const raw: string[] = [];
  for (const wanted of filters.filter(({ field }) => !isSessionField(field)).map(positive)) {
    if (isStored(wanted.field)) {
      raw.push(signed(`(${storedCondition(place, wanted)})`, wanted.negated));
    } else narrow.push(signed(narrowCondition(place, wanted), wanted.negated));
  }
  if (raw.length === 0) return narrow;
  // One look-up of the stored event, however many filters need it.
  const stored =
    "SELECT FROM events e WHERE e.project_id = f.project_id AND e.event_id = f.event_id";
  return [...narrow, `EXISTS (${stored} AND ${raw.join(" AND ")})`];
}

/** Conditions on the fact (alias f) for all filters. */
export function factFilters(place: Place, filters: readonly Filter[]): string[] {
  const ofSession = filters.filter(({ field }) => isSessionField(field)).map(positive);
  return [...eventFilters(place, filters), ...sessionOfFact(place, ofSession)];
}

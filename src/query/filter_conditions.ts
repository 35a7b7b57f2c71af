import { createHash } from "node:crypto";
import { jsonText, knownReferrerHost } from "./field_values.ts";
import {
  type Field,
  type Filter,
  type FilterOp,
  type FilterValue,
  isLazyField,
  isPersonField,
  isSessionField,
  type LazyField,
  numberOf,
  type SessionField,
} from "./filters.ts";
import { postgresPattern } from "./pattern.ts";
import { dictionaryOf, type SessionDimension } from "./selection.ts";
import type { SqlParams } from "./sql_params.ts";

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
    case "glob": {
      const patterns = texts.map((one) => likePattern(one).replace(/\*+/g, "%"));
      return `${text} LIKE ANY(${params.texts(patterns)})`;
    }
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
export function termDigests(terms: readonly string[]): string[] {
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
    ? `t.digest = ANY(${params.uuids(termDigests(wanted.values.map(String)))})`
    : textCondition(place.params, "t.term", wanted);
  return `SELECT t.term_id FROM terms t WHERE t.project_id = ${project} AND ${condition}`;
}

/** A subquery for the actors who are meant: by the user that one is, or by any anonymous id of theirs. */
function actorIds(place: Place, wanted: Positive): string {
  const kind = isPersonField(wanted.field) ? "a" : "u";
  return `SELECT i.actor_id FROM identities i WHERE i.project_id = ${place.project} AND i.kind = '${kind}' AND ${
    textCondition(place.params, "i.value", wanted)
  }`;
}

/** A subquery for the contexts, or the traffic, whose value of a field is meant. */
function dictionaryIds({ params, project }: Place, wanted: Positive): string {
  const { table, id, text } = dictionaryOf(wanted.field as SessionDimension);
  return `SELECT v.${id} FROM ${table} v WHERE v.project_id = ${project} AND ${
    textCondition(params, text, wanted)
  }`;
}

/** A value with a slash is compared with the whole address; any other, and every pattern, with the host. */
function referrerCondition({ params, siteHost }: Place, wanted: Positive): string {
  // Only where it is compared: a parameter that no SQL names has no type.
  const host = () => knownReferrerHost("r", params.text(siteHost));
  if (wanted.op === "exists") return textCondition(params, host(), wanted);
  const parts: string[] = [];
  const isWhole = (value: FilterValue) => wanted.op !== "matches" && String(value).includes("/");
  const whole = wanted.values.filter(isWhole);
  const hosts = wanted.values.filter((value) => !isWhole(value));
  if (whole.length > 0) {
    parts.push(textCondition(params, "r.address", { ...wanted, values: whole }));
  }
  if (hosts.length > 0) parts.push(textCondition(params, host(), { ...wanted, values: hosts }));
  return parts.map((part) => `(${part}) IS TRUE`).join(" OR ");
}

/** A subquery for the referrers that are meant. */
function referrerIds(place: Place, wanted: Positive): string {
  return `SELECT r.referrer_id FROM referrers r WHERE r.project_id = ${place.project} AND (${
    referrerCondition(place, wanted)
  })`;
}

/** Whether an event passes a filter by not fulfilling its condition. */
export function isNegative({ op }: Filter): boolean {
  return NEGATED[op] !== undefined;
}

/** The op that a value must fulfil, or must not where the filter's own is a negative one. */
export function positiveOp(filter: Filter): FilterOp {
  return positive(filter).op;
}

/** The condition of a filter on a property, on the value as JSON; a negative one lets all others through. */
export function propertyValueCondition(params: SqlParams, json: string, filter: Filter): string {
  return jsonCondition(params, json, positive(filter));
}

/** The number of an event that tells the value of a field of its own. */
export type FieldId = "name" | "path" | "context" | "actor";

export function fieldId(field: Field): FieldId {
  if (field === "name" || field === "path") return field;
  return field === "userId" || isPersonField(field) ? "actor" : "context";
}

/** The id of a session that tells the value of a session's field. */
export type SessionFieldId = "entryPath" | "exitPath" | "traffic";

export function sessionFieldId(field: SessionField): SessionFieldId {
  return field === "entryPath" || field === "exitPath" ? field : "traffic";
}

/** Ids that a filter names; negated, it lets through all others. */
export interface FilterIds {
  readonly of: FieldId | SessionFieldId | LazyField;
  /** As a subquery. */
  readonly ids: string;
  readonly negated: boolean;
}

const IDS_OF: Readonly<Record<FilterIds["of"], (place: Place, wanted: Positive) => string>> = {
  name: termIds,
  path: termIds,
  title: termIds,
  referrer: referrerIds,
  context: dictionaryIds,
  actor: actorIds,
  entryPath: termIds,
  exitPath: termIds,
  traffic: dictionaryIds,
};

/** The ids that decide a filter on a session's field, or on an event's that is no property. */
export function filterIds(place: Place, filter: Filter): FilterIds {
  const wanted = positive(filter);
  const { field } = wanted;
  const of = isSessionField(field)
    ? sessionFieldId(field)
    : isLazyField(field)
    ? field
    : fieldId(field);
  return { of, ids: IDS_OF[of](place, wanted), negated: wanted.negated };
}

import { createHash } from "node:crypto";
import { isOneOf } from "../db/sql.ts";
import { knownReferrerHost } from "./field_values.ts";
import {
  type Field,
  type Filter,
  type FilterOp,
  type FilterValue,
  isLazyField,
  isPersonField,
  isSessionField,
  type LazyField,
  type SessionField,
} from "./filters.ts";
import { keyedRows } from "../db/keyed_rows.ts";
import { postgresPattern } from "./pattern.ts";
import { dictionaryOf, type SessionDimension } from "./selection.ts";
import type { SqlParams } from "./sql_params.ts";

/** The statement that conditions are written for, and the project that it reads. */
interface ConditionContext {
  readonly params: SqlParams;
  /** The project's number, as SQL. */
  readonly project: string;
  readonly siteHost: string | null;
}

/** The positive op of each negative one. */
const NEGATED: Partial<Record<FilterOp, FilterOp>> = {
  is_not: "is",
  not_contains: "contains",
  not_exists: "exists",
  is_not_technical: "is_technical",
};
interface Positive extends Filter {
  readonly negated: boolean;
}

function positive(filter: Filter): Positive {
  const contrary = NEGATED[filter.op];
  return { ...filter, op: contrary ?? filter.op, negated: contrary !== undefined };
}

function likePattern(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}

/** Returns SQL: whether a text expression fulfils a positive op. Case-sensitive; null where the text is null. */
function textCondition(
  params: SqlParams,
  text: string,
  { op, values }: Pick<Positive, "op" | "values">,
): string {
  const texts = values.map(String);
  switch (op) {
    case "is":
      return isOneOf(text, params.texts(texts));
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

/** Returns the digests of terms, as in the unique index of `terms`. */
export function termDigests(terms: readonly string[]): string[] {
  return terms.map((term) => createHash("sha256").update(term).digest("hex").slice(0, 32));
}

/** Returns a subquery of the ids of terms that fulfil a condition; `is` looks them up by their digests. */
function termIds(
  { params, project }: ConditionContext,
  wanted: Pick<Positive, "op" | "values">,
): string {
  if (wanted.op === "is_technical") {
    return `SELECT n.term_id FROM technical_names n WHERE n.project_id = ${project}
      AND n.name <> ALL(${params.texts(wanted.values.map(String))})`;
  }
  if (wanted.op !== "is") {
    const condition = textCondition(params, "t.term", wanted);
    return `SELECT t.term_id FROM terms t WHERE t.project_id = ${project} AND ${condition}`;
  }
  const digests = params.uuids(termDigests(wanted.values.map(String)));
  return `SELECT v.term_id FROM ${keyedRows("terms v", "v.digest = wanted.key", project, digests)}`;
}

/** Returns a subquery of the actors whose user id, or any of whose anonymous ids, fulfils a condition. */
function actorIds({ params, project }: ConditionContext, wanted: Positive): string {
  const kind = isPersonField(wanted.field) ? "a" : "u";
  if (wanted.op === "is") {
    const values = params.texts(wanted.values.map(String));
    const key = `v.kind = '${kind}' AND v.value = wanted.key`;
    return `SELECT v.actor_id FROM ${keyedRows("identities v", key, project, values)}`;
  }
  return `SELECT i.actor_id FROM identities i WHERE i.project_id = ${project} AND i.kind = '${kind}' AND ${
    textCondition(params, "i.value", wanted)
  }`;
}

/** Returns a subquery of the ids in `contexts` or `traffic` whose field fulfils a condition. */
function dictionaryIds({ params, project }: ConditionContext, wanted: Positive): string {
  const { table, id, text } = dictionaryOf(wanted.field as SessionDimension);
  return `SELECT v.${id} FROM ${table} v WHERE v.project_id = ${project} AND ${
    textCondition(params, text, wanted)
  }`;
}

/**
 * Returns a subquery of the ids of referrers that fulfil a condition. Values that contain a slash are compared to
 * the whole address, other values and every pattern to the host.
 */
function referrerIds({ params, project, siteHost }: ConditionContext, wanted: Positive): string {
  const isWhole = (value: FilterValue) => wanted.op !== "matches" && String(value).includes("/");
  const { whole = [], hosts = [] } = Object.groupBy(
    wanted.values,
    (value) => isWhole(value) ? "whole" : "hosts",
  );
  const parts: string[] = [];
  if (whole.length > 0) {
    parts.push(textCondition(params, "r.address", { ...wanted, values: whole }));
  }
  if (hosts.length > 0 || wanted.op === "exists") {
    const host = knownReferrerHost("r", params.text(siteHost));
    parts.push(textCondition(params, host, { ...wanted, values: hosts }));
  }
  return `SELECT r.referrer_id FROM referrers r WHERE r.project_id = ${project} AND (${
    parts.map((part) => `(${part}) IS TRUE`).join(" OR ")
  })`;
}

/** Whether events that do not fulfil a filter's condition pass it. */
export function isNegative({ op }: Filter): boolean {
  return NEGATED[op] !== undefined;
}

/** Returns the filter's op, or the positive one that it negates. */
export function positiveOp(filter: Filter): FilterOp {
  return positive(filter).op;
}

/** Returns SQL for the condition, without its negation, of a filter that compares texts. */
export function filterCondition(params: SqlParams, text: string, filter: Filter): string {
  return textCondition(params, text, positive(filter));
}

/** The id of an event that stands for the value of a field. */
export type FieldId = "name" | "path" | "context" | "actor";

export function fieldId(field: Field): FieldId {
  if (field === "name" || field === "path") return field;
  return field === "userId" || isPersonField(field) ? "actor" : "context";
}

/** The id of a session that stands for the value of a session's field. */
export type SessionFieldId = "entryPath" | "exitPath" | "traffic";

export function sessionFieldId(field: SessionField): SessionFieldId {
  return field === "entryPath" || field === "exitPath" ? field : "traffic";
}

/** The ids that a filter names; a negated one lets all others through. */
export interface FilterIds {
  readonly of: FieldId | SessionFieldId | LazyField;
  /** As a subquery. */
  readonly ids: string;
  readonly negated: boolean;
}

type WriteIds = (context: ConditionContext, wanted: Positive) => string;

const IDS_OF: Readonly<Record<FilterIds["of"], WriteIds>> = {
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

/** Returns the ids that a filter names; its field must not be a property. */
export function filterIds(context: ConditionContext, filter: Filter): FilterIds {
  const wanted = positive(filter);
  const { field } = wanted;
  const of = isSessionField(field)
    ? sessionFieldId(field)
    : isLazyField(field)
    ? field
    : fieldId(field);
  return { of, ids: IDS_OF[of](context, wanted), negated: wanted.negated };
}

import { z } from "zod";
import { isDeeper, parseJson } from "../json_text.ts";
import {
  FILTER_TEXT_LENGTH_MAX,
  FILTER_VALUES_MAX,
  FILTERS_MAX,
  LABEL_LENGTH_MAX,
  NAME_LENGTH_MAX,
  PARAMETER_JSON_LENGTH_MAX,
  PARAMETER_JSON_LEVELS_MAX,
} from "../limits.ts";
import { issuesOf, WITH_ADVICE } from "../schema_mistakes.ts";
import { EventName, isStorable, StorableText } from "../text_schemas.ts";
import { givenText, invalidParameter } from "./parameters.ts";
import { PatternRefused, postgresPattern } from "./pattern.ts";

/** Fields of the event itself. */
export const EVENT_FIELDS = [
  "name",
  "path",
  "host",
  "title",
  "referrer",
  "country",
  "region",
  "city",
  "browser",
  "os",
  "device",
  "userId",
] as const;
const LAZY_FIELDS = ["title", "referrer"] as const;
/** Fields of an event's session; an event without a session has none of them. */
export const SESSION_FIELDS = [
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "channel",
  "entryPath",
  "exitPath",
] as const;
/** Fields of an event's person, who may have several values: filters take them, breakdowns do not. */
const PERSON_FIELDS = ["anonymousId"] as const;
export const FILTER_OPS = [
  "is",
  "is_not",
  "contains",
  "not_contains",
  "starts_with",
  "matches",
  "exists",
  "not_exists",
  "gt",
  "gte",
  "lt",
  "lte",
] as const;

type EventField = typeof EVENT_FIELDS[number];
export type LazyField = typeof LAZY_FIELDS[number];
export type SessionField = typeof SESSION_FIELDS[number];
type PersonField = typeof PERSON_FIELDS[number];
type PropertyField = `properties.${string}`;
export type Field = EventField | SessionField | PersonField | PropertyField;
/**
 * The API takes `FILTER_OPS`; reads make the other three. `glob`: in the values `*` is any text, slashes
 * included. `is_technical`: any technical name except the values.
 */
export type FilterOp = typeof FILTER_OPS[number] | "glob" | "is_technical" | "is_not_technical";
export type FilterValue = string | number | boolean;

/** A condition on one field. With several values: one of them must fulfil it, or with a negative op none. */
export interface Filter {
  readonly field: Field;
  readonly op: FilterOp;
  readonly values: readonly FilterValue[];
}

const PROPERTY = "properties.";
const COMPARING: readonly FilterOp[] = ["gt", "gte", "lt", "lte"];
const VALUELESS: readonly FilterOp[] = ["exists", "not_exists"];

export function isSessionField(field: Field): field is SessionField {
  return (SESSION_FIELDS as readonly string[]).includes(field);
}

/** Returns the filters that are not on sessions. */
export function onEvents(filters: readonly Filter[]): readonly Filter[] {
  return filters.filter(({ field }) => !isSessionField(field));
}

export function isLazyField(field: Field): field is LazyField {
  return (LAZY_FIELDS as readonly string[]).includes(field);
}

export function isPersonField(field: Field): field is PersonField {
  return (PERSON_FIELDS as readonly string[]).includes(field);
}

/** Returns the key of a `properties.<key>` field; null for every other field. */
export function propertyOf(field: string): string | null {
  return field.startsWith(PROPERTY) ? field.slice(PROPERTY.length) : null;
}

function isField(text: string): text is Field {
  const property = propertyOf(text);
  return property === null
    ? [...EVENT_FIELDS, ...SESSION_FIELDS, ...PERSON_FIELDS].some((field) => field === text)
    : property !== "" && property.length <= NAME_LENGTH_MAX && isStorable(property);
}

/** Whether a text is a field that breakdowns can group by. */
export function isGroupingField(text: string): text is Exclude<Field, PersonField> {
  return isField(text) && !isPersonField(text);
}

const usageOf = (fields: readonly string[]): string =>
  `Use one of ${
    fields.join(", ")
  }, or properties.<key>, the key of 1 to ${NAME_LENGTH_MAX} characters.`;
export const GROUPING_USAGE = usageOf([...EVENT_FIELDS, ...SESSION_FIELDS]);
const FIELD_USAGE = usageOf([...EVENT_FIELDS, ...SESSION_FIELDS, ...PERSON_FIELDS]);

const FieldSchema = z.string(FIELD_USAGE).refine(isField, FIELD_USAGE)
  .describe(FIELD_USAGE) as unknown as z.ZodType<Field>;

const TextValue = StorableText
  .max(FILTER_TEXT_LENGTH_MAX, `Use at most ${FILTER_TEXT_LENGTH_MAX} characters.`);

/** Returns the number that a value is or spells; null where there is none. */
export function numberOf(value: FilterValue): number | null {
  if (typeof value === "number") return value;
  const reads = typeof value === "string" && /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(value);
  return reads && Number.isFinite(Number(value)) ? Number(value) : null;
}

function patternFault(pattern: string): string | null {
  try {
    postgresPattern(pattern);
    return null;
  } catch (error) {
    if (error instanceof PatternRefused) return error.message;
    throw error;
  }
}

/** Returns what is wrong with the values of a filter, and its path; null: nothing. */
function valuesFault({ field, op, values }: Filter): [string, (string | number)[]] | null {
  if (COMPARING.includes(op) && propertyOf(field) === null) {
    return [`${op} compares numbers: use it with properties.<key>.`, ["op"]];
  }
  if (VALUELESS.includes(op)) {
    return values.length === 0 ? null : [`${op} takes no values.`, ["values"]];
  }
  if (values.length === 0) return ["Give at least one value.", ["values"]];
  for (const [i, value] of values.entries()) {
    if (COMPARING.includes(op) && numberOf(value) === null) {
      return [`${op} takes numbers.`, ["values", i]];
    }
    const fault = op === "matches" ? patternFault(String(value)) : null;
    if (fault !== null) return [fault, ["values", i]];
  }
  return null;
}

/** A filter as the API takes it. */
const FilterSchema: z.ZodType<Filter> = z.strictObject({
  field: FieldSchema,
  op: z.enum(FILTER_OPS, `Use one of ${FILTER_OPS.join(", ")}.`),
  values: z.array(
    z.union([TextValue, z.number(), z.boolean()], "Use text, numbers, true or false."),
    "Use a list of values.",
  ).max(FILTER_VALUES_MAX, `List at most ${FILTER_VALUES_MAX} values.`).default([]),
}).superRefine((filter, context) => {
  const fault = valuesFault(filter);
  if (fault === null) return;
  context.addIssue({ code: "custom", message: fault[0], path: fault[1] });
}).meta({ id: "Filter", description: "A condition on one field; all of a list must hold." });

export const FiltersSchema: z.ZodType<Filter[]> = z.array(FilterSchema, "Use a list of filters.")
  .max(FILTERS_MAX, `Use at most ${FILTERS_MAX} filters.`);

/** Whether a filter names a person by an id. */
export function namesPerson({ field, op }: Filter): boolean {
  return (field === "userId" || isPersonField(field)) && !VALUELESS.includes(op);
}

/** The events of one name (null: of any) that pass all filters. */
export interface EventMatch {
  readonly name: string | null;
  readonly filters: readonly Filter[];
  /** The name that users gave it. */
  readonly label?: string | undefined;
}

/** Any event, except those of technical names. */
export const ANY_EVENT: EventMatch = { name: null, filters: [] };

/** The members of a match as the API takes it. */
export const MATCH_MEMBERS = {
  name: EventName.nullable(),
  filters: FiltersSchema.default([]),
  label: StorableText.min(1).max(LABEL_LENGTH_MAX).optional(),
};

/** An event match as the API takes it: a name, or an object with filters. A null name means any. */
export const EventMatch: z.ZodType<EventMatch> = z.union([
  EventName.transform((name): EventMatch => ({ name, filters: [] })),
  z.strictObject(MATCH_MEMBERS),
], `Use an event's name of 1 to ${NAME_LENGTH_MAX} characters, or {name, filters}.`)
  .meta({ id: "EventMatch" });

/** A page by its path alone, as the API takes it: its views. */
export const PageMatch = z.strictObject({ path: TextValue.min(1, "Give a path.") })
  .transform(({ path }): EventMatch => ({
    name: "page_view",
    filters: [{ field: "path", op: "is", values: [path] }],
  }));

/** Makes the match of `{"path"}`, a page by its path alone; returns any other value unchanged. */
export function pageAsMatch(value: unknown, context: z.core.ParsePayload): unknown {
  const isPage = typeof value === "object" && value !== null && Object.hasOwn(value, "path");
  if (!isPage) return value;
  const page = PageMatch.safeParse(value, WITH_ADVICE);
  if (page.success) return page.data;
  for (const { message, path } of issuesOf(page.error)) {
    context.issues.push({ code: "custom", message, path: [...path], input: value });
  }
  return z.NEVER;
}

/** An event match, or a page by its path alone. */
export const MatchOrPage = z.preprocess(pageAsMatch, EventMatch);

/** Describes an error with its place; for a union, the error of the branch that got furthest. */
function describeIssue(issue: z.core.$ZodIssue, place: string): string {
  const path = issue.path.map((step) => typeof step === "number" ? `[${step}]` : `.${String(step)}`)
    .join("");
  if (issue.code === "invalid_union" && issue.errors.length > 0) {
    const branches = issue.errors.map((branch) => branch[0]!).filter(Boolean);
    const furthest = branches.toSorted((a, b) => b.path.length - a.path.length)
      .find((branch) => branch.path.length > 0 || branch.code === "unrecognized_keys");
    if (furthest !== undefined) return describeIssue(furthest, place + path);
  }
  const at = place + path;
  return `${at === "" ? "" : `${at.replace(/^\./, "")}: `}${issue.message}`;
}

/** The most mistakes in one parameter that a reply lists. */
const ISSUES_NAMED_MAX = 10;

/** Parses JSON text by a schema. Throws Problem `invalid_parameter` with `name` and the place of each error. */
function readDocument<T>(text: string, name: string, schema: z.ZodType<T>): T {
  if (text.length > PARAMETER_JSON_LENGTH_MAX) {
    throw invalidParameter(name, `Use at most ${PARAMETER_JSON_LENGTH_MAX} characters of JSON.`);
  }
  let value: unknown;
  try {
    value = parseJson(text);
  } catch {
    throw invalidParameter(name, "Use JSON, URL-encoded.");
  }
  if (isDeeper(value, PARAMETER_JSON_LEVELS_MAX)) {
    throw invalidParameter(name, `Nest at most ${PARAMETER_JSON_LEVELS_MAX} levels.`);
  }
  const parsed = schema.safeParse(value, WITH_ADVICE);
  if (parsed.success) return parsed.data;
  const issues = issuesOf(parsed.error).slice(0, ISSUES_NAMED_MAX);
  throw invalidParameter(name, ...issues.map((issue) => describeIssue(issue, "").slice(0, 500)));
}

/**
 * Reads a parameter that is JSON; null where it is not given. Throws Problem `invalid_parameter` that
 * names it and the place of the error.
 */
export function readJson<T>(query: URLSearchParams, name: string, schema: z.ZodType<T>): T | null {
  const text = givenText(query, name);
  return text === null ? null : readDocument(text, name, schema);
}

/** Reads `filters`, all of which must hold. */
export function readFilters(query: URLSearchParams): Filter[] {
  return readJson(query, "filters", FiltersSchema) ?? [];
}

/** Reads a parameter that names a field, such as `by`; null where it is not given. */
export function readField(query: URLSearchParams, name: string): Field | null {
  const text = givenText(query, name);
  if (text === null) return null;
  if (!isGroupingField(text)) throw invalidParameter(name, GROUPING_USAGE);
  return text;
}

/**
 * Whether a text that may be a bare name is meant as JSON, whole or broken: a text in quotes, or a list or an
 * object. `[GA4] purchase` is a name, `[buy, scroll]` and `{"name":` are not.
 */
export function isJsonLike(text: string): boolean {
  return /^\s*(?:"|[[{]\s*(?:["[{\]}]|$)|\[.*\]\s*$|\{.*\}\s*$)/s.test(text);
}

/**
 * Reads a parameter that is an event match: a bare name, or JSON; null where it is not given.
 * @param schema `MatchOrPage`: `{"path"}` is taken too
 */
export function readEventMatch(
  query: URLSearchParams,
  name: string,
  schema: z.ZodType<EventMatch> = EventMatch,
): EventMatch | null {
  const text = givenText(query, name);
  if (text === null) return null;
  const isJson = /^\s*[{"]/.test(text) && isJsonLike(text);
  return readDocument(isJson ? text : JSON.stringify(text), name, schema);
}

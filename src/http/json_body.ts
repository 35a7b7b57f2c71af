import { z } from "zod";
import { parseJson } from "../json_text.ts";
import {
  BODY_IDLE_MS_MAX,
  BODY_TOTAL_MS_MAX,
  JSON_BODIES_IN_FLIGHT_BYTES_MAX,
  PROBLEM_PARTS_MAX,
  REQUEST_JSON_BYTES_MAX,
  RETRY_AFTER_S,
} from "../limits.ts";
import { invalidBody, Problem, type ProblemPart } from "../problem.ts";
import { issuesOf, WITH_ADVICE } from "../schema_mistakes.ts";
import { withBodyText } from "./body.ts";
import { BodyBudget } from "./body_budget.ts";
import { isContentType } from "./content_type.ts";
import { ANYONE_JSON_BODIES_IN_FLIGHT_BYTES_MAX, ANYONE_JSON_BYTES_MAX } from "./json_limits.ts";
import { assertStillAllowed } from "./still_allowed.ts";

const limitsOf = (bytesMax: number) => ({
  wireBytesMax: bytesMax,
  inflatedBytesMax: bytesMax,
  idleMsMax: BODY_IDLE_MS_MAX,
  totalMsMax: BODY_TOTAL_MS_MAX,
});
// Separate from the budget of events, so that a flood of events cannot lock an operator out.
const BUDGET = new BodyBudget(JSON_BODIES_IN_FLIGHT_BYTES_MAX, RETRY_AFTER_S);
// Separate from the budget of known callers, so that unknown ones take no room from them.
const ANYONE_BUDGET = new BodyBudget(ANYONE_JSON_BODIES_IN_FLIGHT_BYTES_MAX, RETRY_AFTER_S);

const JSON_TYPES = new Set(["application/json"]);
const FIELD_LENGTH_MAX = 200;

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    at = (at as Record<PropertyKey, unknown>)[step];
  }
  return at;
}

function fieldOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".").slice(0, FIELD_LENGTH_MAX);
}

/** Returns the mistakes that an issue of the schema stands for: one, or one per unknown member. */
function partsOf(issue: z.core.$ZodIssue, value: unknown): ProblemPart[] {
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({
      field: fieldOf([...issue.path, key]),
      code: "unknown_member",
      message: "There is no such member here; remove it.",
    }));
  }
  const field = fieldOf(issue.path);
  if (issue.path.length > 0 && valueAt(value, issue.path) === undefined) {
    return [{ field, code: "required", message: "This member is required." }];
  }
  const code = issue.code === "invalid_type" ? "invalid_type" : "invalid_value";
  return [{ ...(field === "" ? {} : { field }), code, message: issue.message }];
}

/**
 * Parses `value` by the schema. Throws `invalid_body` (400) with all mistakes at once in
 * `errors`: `{ field: "a.b.0", code, message }`, where `code` is `required`, `unknown_member`,
 * `invalid_type` or `invalid_value`.
 */
export function parseBody<S extends z.ZodType>(schema: S, value: unknown): z.output<S> {
  const parsed = schema.safeParse(value, WITH_ADVICE);
  if (parsed.success) return parsed.data;
  const errors = issuesOf(parsed.error).flatMap((issue) => partsOf(issue, value));
  throw invalidBody(errors.slice(0, PROBLEM_PARTS_MAX));
}

/**
 * Reads a small JSON body (at most 64 KiB, or `bytesMax`) by its schema, for a caller who is known by a
 * token, a session or a key. A missing body counts as `{}`.
 * Throws `unsupported_media_type` (415), `invalid_json`, `invalid_body` (400), what `withBodyText` throws, and
 * the refusal of the access check, which is repeated if the body took long.
 */
export async function readJson<S extends z.ZodType>(
  request: Request,
  schema: S,
  bytesMax = REQUEST_JSON_BYTES_MAX,
): Promise<z.output<S>> {
  const body = await readWithin(request, schema, bytesMax, BUDGET);
  await assertStillAllowed(request);
  return body;
}

/**
 * Does the same as `readJson` for a route that is open to anyone: bodies are smaller (`ANYONE_JSON_BYTES_MAX`,
 * or `bytesMax`), and have a budget of their own.
 */
export function readJsonOfAnyone<S extends z.ZodType>(
  request: Request,
  schema: S,
  bytesMax = ANYONE_JSON_BYTES_MAX,
): Promise<z.output<S>> {
  return readWithin(request, schema, bytesMax, ANYONE_BUDGET);
}

function readWithin<S extends z.ZodType>(
  request: Request,
  schema: S,
  bytesMax: number,
  budget: BodyBudget,
): Promise<z.output<S>> {
  const type = request.headers.get("content-type");
  return withBodyText(request, limitsOf(bytesMax), budget, (text) => {
    if (type === null ? text !== "" : !isContentType(type, JSON_TYPES)) {
      throw new Problem("unsupported_media_type", "Send JSON with Content-Type application/json.", {
        headers: { "Accept": "application/json" },
      });
    }
    let value: unknown = {};
    try {
      if (text !== "") value = parseJson(text);
    } catch (cause) {
      throw new Problem("invalid_json", "The body is not valid JSON.", { cause });
    }
    return parseBody(schema, value);
  });
}

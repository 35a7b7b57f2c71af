/** Warnings beside an answer: what may be wrong with the question. */
import { z } from "zod";
import type { Sql } from "../db/sql.ts";
import { WARNINGS_MAX } from "../limits.ts";
import { countryCode, countryName } from "./country_names.ts";
import type { Filter } from "./filters.ts";
import { candidateValues, hasKnownValues, knownValues, valuesByField } from "./known_values.ts";
import { type Candidate, nearestOf } from "./nearest_values.ts";
import { counted } from "../number_words.ts";

/** An element of `query.warnings`. */
export const Warning = z.object({
  code: z.enum([
    ...["value_never_seen", "imported_left_out", "events_pending", "change_left_out"] as const,
    "without_effect",
  ]),
  parameter: z.string().describe("The parameter that it is about"),
  field: z.string().optional().describe(
    "Of value_never_seen: the field that the value is compared with",
  ),
  value: z.string().optional(),
  message: z.string(),
  suggestions: z.array(z.string()).optional().describe(
    "Values that may have been meant, the likeliest first",
  ),
}).meta({ id: "Warning", description: "The answer is exact, and perhaps not to what was meant." });

export type Warning = z.output<typeof Warning>;

/** Returns each warning once: a range and the one compared with may cause the same. */
export function distinctWarnings(warnings: readonly Warning[]): Warning[] {
  return [...new Map(warnings.map((warning) => [JSON.stringify(warning), warning])).values()];
}

/** Warns that a change in an answer may only be due to events that are not counted yet. */
export function pendingWarnings(pending: number): Warning[] {
  if (pending === 0) return [];
  const waiting = counted(pending, "event is", "events are");
  const message =
    `${waiting} not counted yet: what seems to have changed may be what is missing. ` +
    "Ask again in a moment.";
  return [{ code: "events_pending", parameter: "to", message }];
}

/** Filters of a read, and the parameter that they come from. */
export interface ParameterFilters {
  readonly parameter: string;
  readonly filters: readonly Filter[];
}

interface WantedValue {
  readonly parameter: string;
  readonly field: string;
  readonly value: string;
}

const SHOWN_LENGTH_MAX = 100;

/** Returns the values of `is` and `is_not`, each once per parameter. */
function wantedOf(parameterFilters: readonly ParameterFilters[]): WantedValue[] {
  const all = parameterFilters.flatMap(({ parameter, filters }) =>
    filters.filter(({ field, op }) => (op === "is" || op === "is_not") && hasKnownValues(field))
      .flatMap(({ field, values }) =>
        values.map((value) => ({ parameter, field, value: String(value) }))
      )
  );
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

function quoted(text: string): string {
  return `"${text.length > SHOWN_LENGTH_MAX ? `${text.slice(0, SHOWN_LENGTH_MAX)}…` : text}"`;
}

function suggestionsFor({ field, value }: WantedValue, known: readonly string[]): Candidate[] {
  if (field !== "country") return nearestOf(value, known.map((each) => ({ value: each })));
  const code = countryCode(value);
  const candidates = known.map((each) => ({ value: each, name: countryName(each) ?? each }));
  const named = candidates.filter((each) => each.value === code);
  if (named.length > 0) return named;
  const near = nearestOf(value, candidates);
  if (near.length > 0 || code === undefined) return near;
  return [{ value: code, name: countryName(code) ?? code }];
}

function warningOf(wanted: WantedValue, candidates: readonly string[]): Warning {
  const { parameter, field, value } = wanted;
  // Reserved names are candidates even if the project never had them.
  const near = suggestionsFor(wanted, candidates.filter((each) => each !== value));
  const shown = near.map(({ value, name }) =>
    name === undefined || name === value ? quoted(value) : `${value} (${name})`
  );
  const hint = shown.length === 0 ? "" : ` Did you mean ${shown.join(" or ")}?`;
  return {
    code: "value_never_seen",
    parameter,
    field,
    value,
    message: `Nothing in this project has the ${field} ${quoted(value)}.${hint}`,
    ...near.length === 0 ? {} : { suggestions: near.map((each) => each.value) },
  };
}

/**
 * Returns a warning for each value that filters name and the project has never had, up to WARNINGS_MAX.
 * If all are known, which is usual, this takes one statement.
 */
export async function valueWarnings(
  sql: Sql,
  projectId: number,
  parameterFilters: readonly ParameterFilters[],
): Promise<Warning[]> {
  const wanted = wantedOf(parameterFilters);
  if (wanted.length === 0) return [];
  const known = await knownValues(sql, projectId, valuesByField(wanted));
  const unknown = wanted.filter(({ field, value }) => !known.get(field)?.has(value))
    .slice(0, WARNINGS_MAX);
  const candidates = new Map<string, readonly string[]>();
  for (const field of new Set(unknown.map(({ field }) => field))) {
    candidates.set(field, await candidateValues(sql, projectId, field));
  }
  return unknown.map((one) => warningOf(one, candidates.get(one.field)!));
}

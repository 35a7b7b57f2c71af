import type { Row } from "../db/sql.ts";
import type { EventMatch } from "../selection/filters.ts";
import { type Scope, sessionValue, type Span } from "../selection/selection.ts";
import type { SqlParams } from "../selection/sql_params.ts";

/** What sessions can be split by. */
export const BY = [
  "channel",
  "source",
  "medium",
  "campaign",
  "term",
  "content",
  "referrer",
  "entryPath",
  "country",
  "region",
  "city",
  "browser",
  "os",
  "device",
] as const;

export type By = typeof BY[number];

/** What the figures are of: whom `by` splits, and what counts as a conversion (null: nothing). */
export interface Asked {
  readonly scope: Scope;
  readonly span: Span;
  readonly by: By;
  readonly goal: EventMatch | null;
}

/** What one value comes to. */
export interface Figures extends Row {
  /** The row is that of all values together. */
  readonly whole: boolean;
  readonly value: string | null;
  readonly visitors: number;
  readonly newVisitors: number;
  readonly sessions: number;
  readonly bounces: number;
  readonly pageviews: number;
  readonly conversions: number;
  readonly rule: string | null;
}

const COUNTS = ["visitors", '"newVisitors"', "sessions", "pageviews"];

/** What a page is sorted by. */
export function countsOf(withGoal: boolean): string[] {
  return withGoal ? [...COUNTS, "conversions"] : COUNTS;
}

/** The order of a page, in SQL. */
export function orderOf(withGoal: boolean): string {
  const counts = countsOf(withGoal).map((count) => `${count} DESC`);
  return [...counts, 'value COLLATE "C" ASC NULLS LAST'].join(", ");
}

/**
 * The number of a session by which its value is known, and the table that lists such numbers where
 * several may have the same value.
 */
export function numberedBy(
  by: By,
):
  | { readonly number: "entry_path_id"; readonly dictionary: null }
  | { readonly number: "context_id"; readonly dictionary: "contexts" }
  | { readonly number: "traffic_id"; readonly dictionary: "traffic" } {
  switch (by) {
    case "entryPath":
      return { number: "entry_path_id", dictionary: null };
    case "country":
    case "region":
    case "city":
    case "browser":
    case "os":
    case "device":
      return { number: "context_id", dictionary: "contexts" };
    default:
      return { number: "traffic_id", dictionary: "traffic" };
  }
}

/**
 * A statement that lists the numbers by which values are known, each with the least of those that
 * share its value; null where none do.
 */
export function alikeNumbers(
  params: SqlParams,
  { scope, by }: Pick<Asked, "scope" | "by">,
): string | null {
  const { number, dictionary } = numberedBy(by);
  if (dictionary === null) return null;
  const { joins, value } = sessionValue(by);
  return `SELECT s.${number} AS number,
      min(s.${number}) OVER (PARTITION BY (${value}) COLLATE "C") AS value_number
    FROM ${dictionary} s ${joins} WHERE s.project_id = ${params.int(scope.projectId)}`;
}

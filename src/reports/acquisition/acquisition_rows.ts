import type { AcquisitionDimension } from "../../attribution/dimensions.ts";
import type { Row, Sql } from "../../db/sql.ts";
import { afterCursor, type RowCursor } from "../../query/row_cursor.ts";
import { sessionValue } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { type AcquisitionTally, WHOLE } from "./acquisition_tally.ts";
import { rowCandidates } from "../ranked/row_candidates.ts";
import { idOfSession } from "../visitors/session_values.ts";
import { OTHER } from "../answer/small_groups.ts";

/** What one value, or the whole, comes to. */
export interface Figures {
  readonly value: string | null;
  /** Null: imported days alone, which do not tell it. */
  readonly visitors: number | null;
  readonly newVisitors: number | null;
  readonly sessions: number | null;
  readonly bounces: number;
  /** Sessions of which it is known whether they bounced. */
  readonly bounceSessions: number;
  readonly pageviews: number | null;
  readonly conversions: number;
  /** Events of the goal, and the sum of its property over them, where it has a value; else 0. */
  readonly totalConversions: number;
  readonly amount: number;
  /** Whether a share tells what they are worth. */
  readonly isWorthTold: boolean;
  readonly rule: string | null;
  /** Whether daily sums of another product are in it. */
  readonly isImported: boolean;
}

const SORTED_BY = ["visitors", "newVisitors", "sessions", "pageviews"] as const;
type SortedCount = typeof SORTED_BY[number] | "conversions";

/** The counts that rows are sorted by, each descending; among equals the value decides. */
export function sortedBy(withGoal: boolean): readonly SortedCount[] {
  return withGoal ? [...SORTED_BY, "conversions"] : SORTED_BY;
}

/** A place of the tally, the value that it stands for, and the rule of most of its sessions. */
interface NamedPlace extends Row {
  readonly place: number;
  readonly value: string | null;
  readonly rule: string;
}

/** What a page is of. */
interface Page {
  readonly projectId: number;
  readonly by: AcquisitionDimension;
  readonly withGoal: boolean;
  readonly cursor: RowCursor | null;
  readonly rows: number;
  /** The place of all values that are not told one by one; null: there are none. */
  readonly other: number | null;
  /** Places of which a share does not tell what conversions are worth. */
  readonly silent: ReadonlySet<number>;
}

/** The values that follow the cursor, as many as the page has rows at most. Of rules alike the first by name. */
async function valuesAfter(
  sql: Sql,
  tally: AcquisitionTally,
  { projectId, by, withGoal, cursor, rows, other }: Page,
): Promise<NamedPlace[]> {
  const { sums } = tally;
  const isListed = (place: number) => sums.sessions[place]! > 0 && place !== other;
  const places = rowCandidates([sums.visitors, sums.newVisitors], isListed, cursor, rows);
  if (places.length === 0) return [];
  const params = new SqlParams();
  const { joins, value } = sessionValue(by);
  const counts = sortedBy(withGoal);
  const names = counts.map((_, i) => `count_${i}`);
  const columns = [
    places,
    places.map((place) => tally.idOf[place - 1]!),
    ...counts.map((count) => places.map((place) => sums[count][place]!)),
  ];
  const project = params.int(projectId);
  const rules = places.map((place) => tally.rules.prevailing(place).join(" "));
  return await sql.query(
    `SELECT place, value, (
        SELECT min(t.rule COLLATE "C") FROM traffic t
        WHERE t.project_id = ${project} AND t.traffic_id = ANY (string_to_array(rules, ' ')::int[])
      ) AS rule
    FROM (
      SELECT s.*, ${value} AS value
      FROM (
        SELECT *, ${project} AS project_id
        FROM unnest(${columns.map((column) => params.ints(column)).join(", ")}, ${
      params.texts(rules)
    }) AS counted (place, ${idOfSession(by)}, ${names.join(", ")}, rules)
      ) AS s ${joins}
    ) AS named
    WHERE ${afterCursor(params, cursor, names, "value")}
    ORDER BY ${names.map((name) => `${name} DESC`).join(", ")}, value COLLATE "C" NULLS LAST
    LIMIT ${params.int(rows)}`,
    params.values,
  );
}

function figuresAt(
  tally: AcquisitionTally,
  place: number,
  value: string | null,
  rule: string | null,
  silent: ReadonlySet<number>,
): Figures {
  const { sums } = tally;
  return {
    value,
    visitors: sums.visitors[place]!,
    newVisitors: sums.newVisitors[place]!,
    sessions: sums.sessions[place]!,
    bounces: sums.bounces[place]!,
    bounceSessions: sums.sessions[place]!,
    pageviews: sums.pageviews[place]!,
    conversions: sums.conversions[place]!,
    totalConversions: sums.totalConversions[place]!,
    amount: tally.amountAt(place),
    isWorthTold: !silent.has(place),
    rule,
    isImported: false,
  };
}

/** The rows of a page, each named, that of all values that are not told, and the whole. */
export async function pageOf(sql: Sql, tally: AcquisitionTally, page: Page) {
  const named = await valuesAfter(sql, tally, page);
  const { other, silent } = page;
  return {
    rows: named.map(({ place, value, rule }) => figuresAt(tally, place, value, rule, silent)),
    other: other === null ? null : figuresAt(tally, other, OTHER, null, silent),
    total: figuresAt(tally, WHOLE, null, null, silent),
  };
}

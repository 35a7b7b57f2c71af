import type { AcquisitionDimension } from "../../attribution/dimensions.ts";
import type { Row } from "../../db/sql.ts";
import { afterCursor, type RowCursor } from "../../query/row_cursor.ts";
import { listedValue } from "../../query/selection.ts";
import { SqlParams } from "../../query/sql_params.ts";
import { PlaceAmounts } from "../../scans/place_amounts.ts";
import type { AcquisitionSource, ShownTally } from "./acquisition_scan.ts";
import { prevailingRules, SUMS, WHOLE } from "./acquisition_tally.ts";
import { rowCandidates } from "../ranked/row_candidates.ts";
import { idOfSession } from "../visitors/session_values.ts";
import { OTHER } from "../answer/small_groups.ts";

/** The figures of one value, or of the total. */
export interface RowFigures {
  readonly value: string | null;
  /** Null, here and below: only imported days, which do not have the figure. */
  readonly visitors: number | null;
  readonly newVisitors: number | null;
  readonly sessions: number | null;
  readonly bounces: number;
  /** Sessions that are known to have bounced or not. */
  readonly bounceSessions: number;
  readonly pageviews: number | null;
  readonly conversions: number;
  /** If the goal has a value: its events, and the sum of its property over them; else 0. */
  readonly totalConversions: number;
  readonly amount: number;
  /** Whether the goal's value may be shown to a share. */
  readonly isWorthShown: boolean;
  readonly rule: string | null;
  /** Whether the figures include imported daily sums. */
  readonly isImported: boolean;
}

const SORTED_BY = ["visitors", "newVisitors", "sessions", "pageviews"] as const;
type SortedCount = typeof SORTED_BY[number] | "conversions";

/** Returns the counts by which rows are sorted, each descending; the value breaks ties. */
export function sortedBy(withGoal: boolean): readonly SortedCount[] {
  return withGoal ? [...SORTED_BY, "conversions"] : SORTED_BY;
}

interface PageRequest {
  readonly by: AcquisitionDimension;
  readonly withGoal: boolean;
  readonly cursor: RowCursor | null;
  readonly rows: number;
}

/**
 * Returns the values after the cursor with their places in the tally, at most as many as the page has rows. If
 * several rules have the most sessions of a value, the first by name is taken.
 */
async function valuesAfter(
  { sql, scope: { projectId } }: AcquisitionSource,
  { tally, other }: ShownTally,
  { by, withGoal, cursor, rows }: PageRequest,
) {
  const { sums } = tally;
  const isListed = (place: number) => sums.sessions[place]! > 0 && place !== other;
  const places = rowCandidates([sums.visitors, sums.newVisitors], isListed, cursor, rows);
  if (places.length === 0) return [];
  const params = new SqlParams();
  const counts = sortedBy(withGoal);
  const names = counts.map((_, i) => `count_${i}`);
  const columns = [
    places,
    places.map((place) => tally.idOf[place - 1]!),
    ...counts.map((count) => places.map((place) => sums[count][place]!)),
  ];
  const project = params.int(projectId);
  const { joins, value } = listedValue(by, project);
  const rules = prevailingRules(tally, places).map((traffics) => traffics.join(" "));
  return await sql.query<Row & { place: number; value: string | null; rule: string }>(
    `SELECT place, value, (
        SELECT min(t.rule COLLATE "C") FROM traffic t
        WHERE t.project_id = (SELECT ${project})
          AND t.traffic_id = ANY (string_to_array(rules, ' ')::int[])
      ) AS rule
    FROM (
      SELECT s.*, ${value} AS value
      FROM (
        SELECT * FROM unnest(${columns.map((column) => params.ints(column)).join(", ")}, ${
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

/** Returns the rows of a page, the row `$other` and the total. */
export async function pageOf(read: AcquisitionSource, shown: ShownTally, page: PageRequest) {
  const named = await valuesAfter(read, shown, page);
  const { tally, other, hidden } = shown;
  const amounts = new PlaceAmounts();
  amounts.addAll(tally.amounts);
  const figuresAt = (place: number, value: string | null, rule: string | null): RowFigures => {
    const sums = Object.fromEntries(SUMS.map((name) => [name, tally.sums[name][place]!])) as Record<
      typeof SUMS[number],
      number
    >;
    return {
      value,
      ...sums,
      bounceSessions: sums.sessions,
      amount: place === WHOLE ? amounts.total() : amounts.at(place),
      isWorthShown: !hidden.has(place),
      rule,
      isImported: false,
    };
  };
  return {
    rows: named.map(({ place, value, rule }) => figuresAt(place, value, rule)),
    other: other === null ? null : figuresAt(other, OTHER, null),
    total: figuresAt(WHOLE, null, null),
  };
}
